"""The pages of a room's teacher: the teacher's view, what it does, the projector and the results. The policy
(:mod:`schedviz.access.policy`) lets only the teacher see them."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_POST, require_safe

from schedviz.rooms import sandboxes
from schedviz.rooms.access import teacher_cookie
from schedviz.rooms.bell import ring_learners, ring_teacher
from schedviz.rooms.learners import read_progress, room_lessons, set_step
from schedviz.rooms.results import results
from schedviz.rooms.room import HINT_AT_MOST, NOBODY, Room
from schedviz.rooms.room_store import LONGEST_SECONDS, Rooms, Seen
from schedviz.rooms.work import Busy, begin_work
from schedviz.store.default import default_store
from schedviz.web.access import refuse_room
from schedviz.web.room_sandboxes import start_sandbox
from schedviz.web.room_screens import Painter, members, read_room
from schedviz.web.views.rooms import KEPT_DAYS, find_room, join_address, write_cookie

EXTENSION_SECONDS: Final = 30 * 60
LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")


@require_safe
def teacher_link(request: HttpRequest, code: str, token: str) -> HttpResponse:
    """The teacher continues on this device."""
    room = find_room(code)
    if not Rooms(default_store()).is_teacher(room, token):
        return refuse_room(request)
    response = redirect("teach", room.code)
    write_cookie(request, response, teacher_cookie(room.code), token)
    return response


@require_safe
def teach(request: HttpRequest, code: str) -> HttpResponse:
    """The teacher's view."""
    room = find_room(code)
    sandboxes.sweep_rooms(default_store())
    now = read_room(default_store(), room.code)
    drawn = Painter().teacher(now)
    token = request.COOKIES.get(teacher_cookie(room.code), "")
    context = {
        "room": room,
        "parts": drawn.parts | {"members": members(drawn.rows)},
        "address": join_address(request, room),
        "link": request.build_absolute_uri(reverse("teach-link", args=[room.code, token])),
        "is_local": request.get_host().rpartition(":")[0] in LOCAL or request.get_host() in LOCAL,
        "said": request.GET.get("said", "")[:200],
        "wall": now.seen.now,
        "socket": _socket(room, "teach"),
        "hint_at_most": HINT_AT_MOST,
        "days": KEPT_DAYS,
        "is_scenario": room.settings.what.kind == "scenario",
    }
    return render(request, "rooms/teach.html", context)


@require_safe
def projector(request: HttpRequest, code: str) -> HttpResponse:
    """The page for the projector."""
    room = find_room(code)
    drawn = Painter().projector(read_room(default_store(), room.code))
    context = {
        "room": room,
        "parts": drawn.parts,
        "host": request.get_host(),
        "address": join_address(request, room),
        "socket": _socket(room, "projector"),
    }
    return render(request, "rooms/projector.html", context)


@require_safe
def download_results(request: HttpRequest, code: str) -> HttpResponse:
    """The results as CSV, with a byte order mark, so that spreadsheets read it as UTF-8."""
    room = find_room(code)
    seen = Rooms(default_store()).read(room.code)
    text = results(seen, read_progress(default_store(), seen), room_lessons())
    response = HttpResponse("\ufeff" + text, "text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="room-{room.code}.csv"'
    return response


@require_POST
def act(request: HttpRequest, code: str) -> HttpResponse:
    """Do what a button says. Field ``do``: the act, and its argument after a space."""
    room = find_room(code)
    name, _, argument = request.POST.get("do", "").partition(" ")
    handler = ACTS.get(name)
    if handler is None:
        return HttpResponse("unknown act", "text/plain", status=HTTPStatus.BAD_REQUEST)
    store = default_store()
    seen = Rooms(store).read(room.code)
    if room.is_over(seen.now) and name != "end":
        said = gettext("The room has ended.")
    else:
        try:
            said = handler(request, seen, argument)
        except Busy:
            said = gettext("Wait until the work on the sandboxes is finished.")
        except Wrong as wrong:
            said = str(wrong)
    ring_teacher(room.code)
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(escape(said))
    return redirect(f"{reverse('teach', args=[room.code])}?{urlencode({'said': said})}")


class Wrong(Exception):
    """A field of the form is wrong; the message is for the page."""


def _pause(request: HttpRequest, seen: Seen, argument: str) -> str:
    sandboxes.pause_all(default_store(), seen)
    ring_learners(seen.room.code)
    return gettext("All sandboxes are being paused.")


def _resume(request: HttpRequest, seen: Seen, argument: str) -> str:
    sandboxes.resume_all(default_store(), seen)
    ring_learners(seen.room.code)
    return gettext("All sandboxes are being resumed.")


def _start(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Start the lesson or the scenario anew for all. Field ``lesson``."""
    store, room = default_store(), seen.room
    lesson = request.POST.get("lesson", "") or room.lesson
    if room.settings.what.kind != "scenario":
        if lesson not in room_lessons():
            raise Wrong(gettext("Choose a lesson."))
        Rooms(store).change(room.code, lesson=lesson, step=0, question="", revealed="")
    room = Rooms(store).find(room.code)

    numbers = [each.number for each in seen.members]
    is_shared = room.settings.mode == "shared"
    if is_shared and room.settings.what.kind == "scenario":
        numbers = numbers[:1]

    def start(number: int) -> None:
        # One sandbox of all is created once; then all others begin in it.
        start_sandbox(store, room, number, lesson, anew=not is_shared or number == numbers[0])

    begin_work(store, room.code, "start", numbers, start)
    return gettext("All sandboxes are being started anew.")


def _set_step(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Field ``place``: ``LESSON/STEP``, the step counted from 0."""
    store, room = default_store(), seen.room
    name, _, place = request.POST.get("place", "").rpartition("/")
    lesson = room_lessons().get(name)
    if lesson is None or not place.isdecimal() or int(place[:3]) >= len(lesson.steps):
        raise Wrong(gettext("Choose a step."))
    step = int(place)
    Rooms(store).change(room.code, lesson=name, step=step)
    begin_work(
        store,
        room.code,
        "step",
        [each.number for each in seen.members],
        lambda number: set_step(store, room, number, lesson, step),
    )
    text = lesson.text(get_language() or "en")
    return gettext("All learners are at step %(step)s: %(title)s") % {
        "step": step + 1,
        "title": text.steps[lesson.steps[step].id].title,
    }


def _hint(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Fields: ``to``: a learner's number, 0 = all; ``text``."""
    text = " ".join(request.POST.get("text", "").split())
    if not text:
        raise Wrong(gettext("Write a hint first."))
    if len(text) > HINT_AT_MOST:
        raise Wrong(gettext("A hint has at most %(n)s characters.") % {"n": HINT_AT_MOST})
    to = request.POST.get("to", "0")
    name = next((each.name for each in seen.members if str(each.number) == to), "")
    if to != "0" and not name:
        raise Wrong(gettext("There is no such learner."))
    Rooms(default_store()).send_hint(seen.room.code, int(to), text)
    ring_learners(seen.room.code)
    if not name:
        return gettext("The hint was sent to all.")
    return gettext("The hint was sent to %(name)s.") % {"name": name}


def _reveal(request: HttpRequest, seen: Seen, argument: str) -> str:
    Rooms(default_store()).change(seen.room.code, revealed=argument[:200])
    return gettext("The projector shows the answer.")


def _hide(request: HttpRequest, seen: Seen, argument: str) -> str:
    Rooms(default_store()).change(seen.room.code, revealed="")
    return gettext("The projector shows the question without the answer.")


def _question(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Field ``question``: ``LESSON/STEP``; "" = the one that most learners have reached."""
    Rooms(default_store()).change(seen.room.code, question=request.POST.get("question", "")[:200])
    return gettext("The question was chosen.")


def _show(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Show a sandbox on the projector; its number is the argument."""
    if not argument.isdecimal() or int(argument[:3]) not in sandboxes.numbers_of(seen):
        raise Wrong(gettext("There is no such learner."))
    Rooms(default_store()).change(seen.room.code, shown=int(argument))
    return gettext("The projector shows the sandbox.")


def _show_no_sandbox(request: HttpRequest, seen: Seen, argument: str) -> str:
    Rooms(default_store()).change(seen.room.code, shown=NOBODY)
    return gettext("The projector shows no sandbox.")


def _names(request: HttpRequest, seen: Seen, argument: str) -> str:
    Rooms(default_store()).change(seen.room.code, named=argument == "on")
    if argument == "on":
        return gettext("The projector shows the names of the learners.")
    return gettext("The projector shows no names.")


def _extend(request: HttpRequest, seen: Seen, argument: str) -> str:
    room = seen.room
    Rooms(default_store()).extend(
        room.code, min(room.ends + EXTENSION_SECONDS, room.settings.created + LONGEST_SECONDS)
    )
    return gettext("The room ends later.")


def _end(request: HttpRequest, seen: Seen, argument: str) -> str:
    sandboxes.end_room(default_store(), seen.room.code)
    ring_learners(seen.room.code)
    return gettext("The room has ended.")


ACTS: Final[dict[str, Callable[[HttpRequest, Seen, str], str]]] = {
    "pause": _pause,
    "resume": _resume,
    "start": _start,
    "step": _set_step,
    "hint": _hint,
    "reveal": _reveal,
    "hide": _hide,
    "question": _question,
    "show": _show,
    "show-none": _show_no_sandbox,
    "names": _names,
    "extend": _extend,
    "end": _end,
}


def _socket(room: Room, page: str) -> str:
    query = urlencode({"lang": get_language() or "en", "page": page})
    return f"{reverse('room', args=[room.code])}live/?{query}"
