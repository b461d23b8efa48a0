"""Creating objects: forms and pasted YAML, both on the way of every other write."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.forms import FORMS, ManifestForm
from schedviz.web.kubectl import lines
from schedviz.web.view import hint
from schedviz.web.view.load import load
from schedviz.web.view.yaml import to_yaml
from schedviz.web.views.page import done, find, form_page
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, manifests
from simulator.apiserver.status import StatusError

PREVIEWED_AT_MOST = 3
"""Copies of the YAML beside the form; the others differ in nothing but the name."""


def form_of(kind: str) -> type[ManifestForm]:
    try:
        return FORMS[kind]
    except KeyError:
        raise Http404 from None


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    sandbox = find(name)
    asked = {field: request.GET[field] for field in request.GET}
    form = form_of(kind)(sandbox, request.POST if request.method == "POST" else None, initial=asked)
    if request.method == "POST" and form.is_valid():
        try:
            manifests = form.manifests()
            write.create(sandbox, manifests)
        except StatusError as error:
            form.take_causes(error.causes, error.message)
        else:
            return done(request, sandbox, kubectl=lines.create(manifests))
    status = 422 if form.errors else 200
    context = {"form": form, "kind": kind, **meant_by(form)}
    return form_page(request, sandbox, "forms/form.html", context, status)


@require_safe
def urgent(request: HttpRequest, name: str) -> HttpResponse:
    """The form of a pod that has to push others out, as things stand."""
    sandbox = find(name)
    fields = hint.urgent(load(sandbox))
    return redirect(reverse("new", args=[sandbox.name, "pod"]) + "?" + urlencode(fields))


@require_POST
def preview(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """The YAML that the form stands for as it is now."""
    form = form_of(kind)(find(name), request.POST)
    return render(request, "forms/yaml.html", meant_by(form))


def meant_by(form: ManifestForm) -> dict[str, str]:
    """``yaml`` and ``shell``, the kubectl line that does the same: of what is filled in, or of the proposals
    while nothing is; empty while a field is wrong."""
    if not form.is_bound:
        values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
        form = type(form)(form.sandbox, values)
    if not form.is_valid():
        return {"yaml": "", "shell": ""}
    made = form.manifests()
    text = to_yaml(made[:PREVIEWED_AT_MOST])
    more = len(made) - PREVIEWED_AT_MOST
    if more > 0:
        text += "# " + gettext("and %(n)s more") % {"n": more} + "\n"
    return {"yaml": text, "shell": lines.create(made)}


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
