"""The dialog that says what the last edit of a sandbox was, and undoes it."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from schedviz.cache import Current
from schedviz.lessons.situation import situation_of
from schedviz.lessons.undo import EditedMeanwhile, LastEdit, find_last_edit, undo
from schedviz.store import Gone
from schedviz.store.default import default_store
from schedviz.web.answers import form_page
from schedviz.web.lessons.visit import find_visit, may_undo
from schedviz.web.past.undo import edit_sentences
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import find_present
from simulator.apiserver.status import StatusError


def undo_last_edit(request: HttpRequest, name: str) -> HttpResponse:
    """Undo the last edit; GET asks whether to. Field ``edit``: the token of the edit that was shown. In a
    lesson, only the learner's own edits at the present step can be undone."""
    source = find_present(name)
    refusal = find_refusal(request, source)
    if refusal or request.method != "POST":
        return undo_page(request, source, refusal)
    try:
        undone = undo(default_store(), source.sandbox, request.POST.get("edit", ""))
    except EditedMeanwhile:
        return undo_page(request, source, error=gettext("Meanwhile something else was changed."))
    except Gone:
        return undo_page(request, source, gettext("The history does not reach back to it any more."))
    except StatusError as refused:
        return undo_page(request, source, explain_refusal(refused))
    return redirect("sandbox", name) if undone else undo_page(request, source)


def find_refusal(request: HttpRequest, source: Current) -> str:
    """Return why this visitor can undo nothing here; "" = they can, if there is an edit."""
    visit = find_visit(request, source)
    if visit is None or may_undo(visit, situation_of(source, visit.progress)):
        return ""
    if not visit.owns_sandbox:
        return gettext("All learners share this sandbox.")
    return gettext("In a lesson, only your own changes at the present step can be undone.")


def undo_page(request: HttpRequest, source: Current, refusal: str = "", error: str = "") -> HttpResponse:
    edit: LastEdit | None = None
    try:
        edit = None if refusal else find_last_edit(default_store(), source.sandbox)
    except Gone:
        refusal = gettext("The history does not reach back to it any more.")
    context = {
        "edit": edit,
        "sentences": edit_sentences(source, edit.writes) if edit else [],
        "refusal": refusal,
        "error": error,
    }
    failed = request.method == "POST"
    status = HTTPStatus.UNPROCESSABLE_ENTITY if failed else HTTPStatus.OK
    return form_page(request, source, "forms/undo.html", context, status)
