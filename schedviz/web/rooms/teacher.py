"""The pages of a room's teacher: the teacher's view, the projector and the results. The policy
(:mod:`schedviz.access.asker`) lets only the teacher see them."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language, gettext

from schedviz.local_names import is_local
from schedviz.rooms import sandboxes
from schedviz.rooms.access import teacher_cookie
from schedviz.rooms.create_sandboxes import open_own
from schedviz.rooms.learners import read_progress, room_lessons
from schedviz.rooms.overview import ByLesson, answered_questions, overview
from schedviz.rooms.results import question_results, results
from schedviz.rooms.room import HINT_AT_MOST, Room
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.store.default import default_store
from schedviz.store.hold import overruling_holds
from schedviz.web.access import refuse_room
from schedviz.web.parts.parts import Parts, digests
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.rooms.find import find_room, join_address, write_cookie
from schedviz.web.rooms.learner import KEPT_DAYS
from schedviz.web.rooms.plan import write_plan
from schedviz.web.rooms.present import question_view, row_view
from schedviz.web.rooms.screens import RoomNow, RoomPage, RoomScreens, read_room
from simulator.apiserver.status import StatusError


def teacher_link(request: HttpRequest, code: str, token: str) -> HttpResponse:
    """Let the teacher continue on this device."""
    room = find_room(code)
    if not Rooms(default_store()).is_teacher(room, token):
        return refuse_room(request)
    response = redirect("teach", room.code)
    write_cookie(request, response, teacher_cookie(room.code), token)
    return response


def teach(request: HttpRequest, code: str) -> HttpResponse:
    """Render the teacher's view."""
    room = find_room(code)
    sandboxes.sweep_rooms(default_store())
    now, parts = draw_page(room, "teacher")
    token = request.COOKIES.get(teacher_cookie(room.code), "")
    context = {
        "room": room,
        "parts": parts,
        "address": join_address(request, room),
        "link": request.build_absolute_uri(reverse("teach-link", args=[room.code, token])),
        "is_local": is_local(request.get_host()),
        "said": request.GET.get("said", "")[:200],
        "wall": now.seen.now,
        "held": digests(parts),
        "socket": _socket(room, "teach"),
        "hint_at_most": HINT_AT_MOST,
        "days": KEPT_DAYS,
        "plan": write_plan(room),
        "class_list": "\n".join(room.class_list),
        "is_scenario": room.settings.what.kind == "scenario",
    }
    return render(request, "rooms/teach.html", context)


def projector(request: HttpRequest, code: str) -> HttpResponse:
    """Render the page for the projector."""
    room = find_room(code)
    _, parts = draw_page(room, "projector")
    context = {
        "room": room,
        "parts": parts,
        "host": request.get_host(),
        "address": join_address(request, room),
        "held": digests(parts),
        "socket": _socket(room, "projector"),
    }
    return render(request, "rooms/projector.html", context)


def draw_page(room: Room, page: RoomPage) -> tuple[RoomNow, Parts]:
    language, screens = get_language() or "en", RoomScreens(default_store(), room.code)
    now = screens.update()
    screens.draw({language: {page}})
    return now, screens.whole(language, page)


def results_page(request: HttpRequest, code: str) -> HttpResponse:
    """Render the results of a room for printing: the guesses at each question, and each learner's line."""
    seen, progress = _read_progress(code)
    lessons = room_lessons()
    rows = sorted(overview(seen, progress, lessons).rows, key=lambda row: row.number)
    asked = answered_questions(seen, progress, lessons)
    context = {
        "room": seen.room,
        "paper": {"language": get_language() or "en", "title": seen.room.settings.title},
        "questions": [question_view(each, seen.room, lessons) for each in asked],
        "rows": [row_view(row, lessons) for row in rows],
    }
    return render(request, "rooms/results.html", context)


def download_results(request: HttpRequest, code: str) -> HttpResponse:
    seen, progress = _read_progress(code)
    return _csv(f"room-{seen.room.code}", results(seen, progress, room_lessons()))


def download_questions(request: HttpRequest, code: str) -> HttpResponse:
    seen, progress = _read_progress(code)
    text = question_results(answered_questions(seen, progress, room_lessons()))
    return _csv(f"room-{seen.room.code}-questions", text)


def _read_progress(code: str) -> tuple[Seen, dict[str, ByLesson]]:
    seen = Rooms(default_store()).read(find_room(code).code)
    return seen, read_progress(default_store(), seen)


def _csv(name: str, text: str) -> HttpResponse:
    """Return a CSV file, with a byte order mark, so that spreadsheets read it as UTF-8."""
    response = HttpResponse("\ufeff" + text, "text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def open_own_sandbox(request: HttpRequest, code: str) -> HttpResponse:
    """Redirect to the teacher's own sandbox. It is created if there is none of the room's present lesson."""
    room = find_room(code)
    store = default_store()
    lesson = read_room(store, room.code).lesson
    try:
        with overruling_holds():
            name = None if room.is_over(store.wall()) else open_own(store, room, lesson)
        said = gettext("Choose a lesson.")
    except StatusError as refused:
        name, said = None, explain_refusal(refused)
    if name:
        return redirect("sandbox", name)
    return redirect(f"{reverse('teach', args=[room.code])}?{urlencode({'said': said})}")


def _socket(room: Room, page: str) -> str:
    query = urlencode({"lang": get_language() or "en", "page": page})
    return f"{reverse('room', args=[room.code])}live/?{query}"
