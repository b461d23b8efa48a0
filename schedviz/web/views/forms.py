"""Creating objects: forms and pasted YAML, both on the way of every other write."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.forms import FORMS, ManifestForm
from schedviz.web.forms.in_step import InStep
from schedviz.web.kubectl import lines
from schedviz.web.view import hint
from schedviz.web.view.load import load
from schedviz.web.views.editor import Editor, is_step, posted_by
from schedviz.web.views.page import done, find, form_page
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, manifests
from simulator.apiserver.status import StatusError


def form_of(kind: str) -> type[ManifestForm]:
    try:
        return FORMS[kind]
    except KeyError:
        raise Http404 from None


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """``do`` "step" only brings form and YAML in step, and says what the API server would say. A link may
    fill in fields."""
    sandbox, form = find(name), form_of(kind)
    posted, step = posted_by(request), is_step(request)
    asked = {field: str(request.GET[field]) for field in request.GET}
    both = InStep(form, sandbox, form.start(sandbox), asked if posted is None else posted)
    editor = Editor(both, form.title, gettext("Create"), reverse("new", args=[name, kind]))
    if both.manifest is not None:
        made = both.form.manifests(both.manifest)
        editor.shell = lines.create(made)
        create_it = posted is not None and both.fine and not step
        try:
            if step or create_it:
                write.create(sandbox, made[:1] if step else made, dry_run=step)
        except StatusError as error:
            both.take(error.causes, error.message)
        else:
            if create_it:
                return done(request, sandbox, kubectl=editor.shell)
    return editor.respond(request, sandbox)


@require_safe
def urgent(request: HttpRequest, name: str) -> HttpResponse:
    """The form of a pod that has to push others out, as things stand."""
    sandbox = find(name)
    fields = hint.urgent(load(sandbox))
    return redirect(reverse("new", args=[sandbox.name, "pod"]) + "?" + urlencode(fields))


@require_http_methods(["GET", "HEAD", "POST"])
def paste(request: HttpRequest, name: str) -> HttpResponse:
    """Manifests of one or many documents, as kubectl apply -f - would be given; all are stored, or none."""
    sandbox = find(name)
    text, errors, status = request.POST.get("yaml", ""), list[str](), 200
    if request.method == "POST":
        try:
            return done(request, sandbox, kubectl=lines.create(create(sandbox, text)))
        except ManifestError as error:
            errors, status = [str(error)], 422
        except StatusError as error:
            errors, status = [str(cause) for cause in error.causes] or [error.message], 422
    return form_page(request, sandbox, "forms/paste.html", {"text": text, "errors": errors}, status)


def create(sandbox: Sandbox, text: str) -> list[Manifest]:
    """The manifests of the text, which are stored now. Raises ManifestError, StatusError."""
    found = manifests(text)
    if not found:
        raise ManifestError(gettext("There is no document in the text."))
    write.create(sandbox, found)
    return found
