"""Responds with a form and its YAML: as a dialog, as a page, or only the parts that changed."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from schedviz.cache import Current
from schedviz.web.answers import form_page
from schedviz.web.forms.conflict import Difference, differences, merged
from schedviz.web.forms.form_and_yaml import FormAndYaml
from schedviz.web.forms.gates import GatesView
from schedviz.web.manifests.yaml import to_yaml
from simulator.api import Manifest


class Switch(msgspec.Struct, frozen=True):
    """A button above the form that submits nothing of it. ``do``: what it posts; "" = there is no button."""

    name: str
    text: str
    label: str = ""
    do: str = ""


class Editor(msgspec.Struct):
    """The context of the form's template.

    word: the label of the submit button. original: the YAML of the stored object with which the form began.
    changes: changes of other clients since then. add: the label of the button that adds a profile. shell: the
    kubectl command that does the same."""

    both: FormAndYaml
    title: Any
    word: str
    action: str
    hint: str = ""
    original: str = ""
    changes: list[Difference] = []
    add: str = ""
    shell: str = ""
    switches: list[Switch] = []
    gates: GatesView | None = None

    def respond(self, request: HttpRequest, sandbox: Current) -> HttpResponse:
        if is_step(request):
            return render(request, "forms/step.html", {"editor": self, "both": self.both})
        self.both.form.focus_first_error()
        status = 422 if request.method == "POST" else 200
        return form_page(request, sandbox, "forms/form.html", {"editor": self, "both": self.both}, status)


def rebased(
    request: HttpRequest, sandbox: Current, editor: Editor, start: Manifest, theirs: Manifest
) -> HttpResponse:
    """Show the form again after a conflict, with the changes of the user and of the other client merged."""
    own = editor.both.manifest
    assert own is not None
    form = editor.both.form
    text = to_yaml([merged(start, own, theirs)])
    editor.both = FormAndYaml(type(form), sandbox, theirs, {"yaml": text}, exists=form.exists)
    editor.changes = [*differences(start, own, theirs)]
    editor.original = to_yaml([theirs])
    return editor.respond(request, sandbox)


def posted_by(request: HttpRequest) -> Mapping[str, str] | None:
    return {name: str(request.POST[name]) for name in request.POST} if request.method == "POST" else None


def is_step(request: HttpRequest) -> bool:
    return request.POST.get("do") == "step"
