"""A form with its YAML beside it, as a dialog, as a page, or as the parts of it that changed."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from schedviz.store import Sandbox
from schedviz.web.forms.conflict import Difference, differences, merged
from schedviz.web.forms.in_step import InStep
from schedviz.web.view.yaml import to_yaml
from schedviz.web.views.page import form_page
from simulator.api import Manifest


class Editor(msgspec.Struct):
    """``word``: on its button. ``original``, ``version``: of an object that exists, as the form began with
    it. ``changes``: what others did to it meanwhile. ``add``: on a button that adds a profile.
    ``shell``: the kubectl line that does the same."""

    both: InStep
    title: Any
    word: str
    action: str
    hint: str = ""
    original: str = ""
    changes: list[Difference] = []
    add: str = ""
    shell: str = ""

    def respond(self, request: HttpRequest, sandbox: Sandbox) -> HttpResponse:
        if is_step(request):
            return render(request, "forms/step.html", {"editor": self, "both": self.both})
        status = 422 if request.method == "POST" else 200
        return form_page(request, sandbox, "forms/form.html", {"editor": self, "both": self.both}, status)


def rebased(
    request: HttpRequest, sandbox: Sandbox, editor: Editor, start: Manifest, theirs: Manifest
) -> HttpResponse:
    """The same form on the object as it is now, with both changes in it."""
    mine = editor.both.manifest
    assert mine is not None
    form = editor.both.form
    text = to_yaml([merged(start, mine, theirs)])
    editor.both = InStep(type(form), sandbox, theirs, {"yaml": text}, exists=form.exists)
    editor.changes = [*differences(start, mine, theirs)]
    editor.original = to_yaml([theirs])
    return editor.respond(request, sandbox)


def posted_by(request: HttpRequest) -> Mapping[str, str] | None:
    return {name: str(request.POST[name]) for name in request.POST} if request.method == "POST" else None


def is_step(request: HttpRequest) -> bool:
    return request.POST.get("do") == "step"
