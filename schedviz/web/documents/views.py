"""The pages of the documents. They are in English only, and their pages say so."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from schedviz.web.documents.render import Document, examples, paths, render_document, render_index


def document_index(request: HttpRequest) -> HttpResponse:
    return _page(request, render_index())


def document_page(request: HttpRequest, name: str) -> HttpResponse:
    if name not in paths():
        raise Http404
    return _page(request, render_document(name))


def document_example(request: HttpRequest, name: str) -> HttpResponse:
    """Return a file to which documents lead, as text."""
    if name not in examples():
        raise Http404
    return HttpResponse(examples()[name], content_type="text/plain; charset=utf-8")


def _page(request: HttpRequest, document: Document) -> HttpResponse:
    contents = [each for each in document.headings if each.level == 2]
    return render(request, "documents/page.html", {"document": document, "contents": contents})
