"""The live page of a sandbox, and the pages of its past moments."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect

from schedviz.rooms.access import find_participant
from schedviz.rooms.room import Member, room_of
from schedviz.rooms.room_store import Rooms
from schedviz.store.default import default_store
from schedviz.web.answers import is_htmx
from schedviz.web.page.live_page import live_page, moment_html
from schedviz.web.sources import find_past, find_present

PANELS_OF_NOW = ("download", "imported", "leader", "outside", "predict", "share")
"""The names of the panels that a past moment does not have, as in their paths."""


def sandbox_page(request: HttpRequest, name: str) -> HttpResponse:
    """Render the page. For a sandbox of a room that is deleted, its learner gets the own page of the room,
    which says why."""
    try:
        present = find_present(name)
    except Http404:
        place = room_of(name)
        member = place and find_participant(Rooms(default_store()), name, request.COOKIES)
        if place and isinstance(member, Member):
            return redirect("room-me", place[0])
        raise
    return live_page(request, present)


def moment_page(request: HttpRequest, name: str, seq: int) -> HttpResponse:
    """Render the whole page, or for htmx its parts, as in a frame of the socket."""
    past = find_past(name, seq)
    if not is_htmx(request):
        return live_page(request, past)
    return HttpResponse(moment_html(request, past))


def jump_to_moment(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to the moment ``seq``, for a page without scripts."""
    seq = request.GET.get("seq", "")
    if not (seq.isdecimal() and len(seq) < 16):
        return HttpResponseBadRequest("seq must be a number", content_type="text/plain")
    return redirect("moment", name, int(seq))


def panel_of_now(request: HttpRequest, name: str, seq: int, panel: str) -> HttpResponse:
    """Redirect to a panel that has no past: it is of the sandbox as it is now, or of how it is used."""
    if panel not in PANELS_OF_NOW:
        raise Http404
    return redirect(panel, name)
