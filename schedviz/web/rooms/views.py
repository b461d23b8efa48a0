"""The pages of rooms for all visitors: open a room, and join it."""

import io
from http import HTTPStatus
from typing import Any, Final

import segno
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from schedviz import bundled_scenarios
from schedviz.access.record import digest_of
from schedviz.limits.requester import requester_of
from schedviz.rooms.access import (
    is_teacher,
    member_cookie,
    personal_token,
    teacher_cookie,
)
from schedviz.rooms.learners import room_lessons
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.room import (
    TITLE_AT_MOST,
    Mode,
    Room,
    What,
    clean_name,
    read_code,
)
from schedviz.rooms.room_store import (
    NoRoom,
    RoomFull,
    Rooms,
    TooManyJoins,
)
from schedviz.rooms.sandboxes import sweep_rooms
from schedviz.routes import shares_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web import scenarios
from schedviz.web.limits import text_of, with_time
from schedviz.web.rooms.find import find_own_member, find_room, join_address, say_wrong_code, write_cookie
from schedviz.web.rooms.learner import KEPT_DAYS, begin, end_page
from schedviz.web.rooms.present import Choice, duration, lesson_choices

MINUTES: Final = (60, 90, 120, 180, 240, 480, 720)
"""The lengths of a room that the form offers, in minutes."""
USUAL_MINUTES: Final = 120
COURSE: Final = "course:"


def new_room(request: HttpRequest) -> HttpResponse:
    """Open a room. Fields: ``what``: ``course:``, ``lesson:NAME`` or ``scenario:NAME``; ``mode``; ``title``,
    "" = that of what it is for; ``minutes``."""
    sweep_rooms(default_store())
    if request.method != "POST":
        return _new_room_form(request)
    what = _parse_what(request.POST.get("what", ""))
    mode: Mode = "shared" if request.POST.get("mode") == "shared" else "own"
    minutes = request.POST.get("minutes", "")
    if what is None or not (minutes.isdecimal() and len(minutes) < 6):
        raise Http404
    title = clean_name(request.POST.get("title", ""), TITLE_AT_MOST) or _title_of(what)
    try:
        room, token = Rooms(default_store()).create(title, what, mode, int(minutes) * 60, shares_of(request))
    except LimitExceeded as full:
        error = text_of(full.limit, full.retry_after_seconds)
        return with_time(_new_room_form(request, error, HTTPStatus.TOO_MANY_REQUESTS), full)
    response = redirect("teach", room.code)
    write_cookie(request, response, teacher_cookie(room.code), token)
    return response


def find_by_code(request: HttpRequest) -> HttpResponse:
    """Render the page on which a learner types the code of a room. With the query parameter ``code``, go
    there."""
    typed = request.GET.get("code", "")
    code, error = read_code(typed), ""
    if code:
        try:
            Rooms(default_store()).find(code)
            return redirect("room", code)
        except NoRoom:
            error = gettext("There is no room with this code. Look at the code again.")
    elif typed:
        error = say_wrong_code(typed)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    context = {"error": error, "typed": typed[:30], "autofocus": True}
    return render(request, "rooms/code.html", context, status=status)


def join_room(request: HttpRequest, code: str) -> HttpResponse:
    """Join a room. Field: ``name``."""
    if code != read_code(code) and read_code(code):
        return redirect("room", read_code(code))
    room, rooms = find_room(code), Rooms(default_store())
    if find_own_member(request, room):
        return redirect("room-me", code)
    if room.is_over(rooms.store.wall()):
        return end_page(request, room, None)
    context: dict[str, Any] = {"room": room, "teacher": is_teacher(room, request.COOKIES), "error": ""}
    context["class_list"] = _free_names(rooms, room)
    context["removed"] = member_cookie(room.code) in request.COOKIES
    if request.method != "POST":
        return render(request, "rooms/join.html", context)
    name = clean_name(request.POST.get("name", "")) or clean_name(request.POST.get("chosen", ""))
    if not name:
        context["error"] = gettext("Enter a name.")
    else:
        try:
            source = requester_of(request).source
            member, token = rooms.join(room, name, source and digest_of(source))
        except RoomFull:
            context["error"] = gettext("The room is full.")
        except TooManyJoins:
            context["error"] = gettext("Too many have joined this room from your network address.")
        else:
            notify_teacher(code)
            response = begin(request, room, member)
            write_cookie(request, response, member_cookie(code), personal_token(member, token))
            return response
    return render(request, "rooms/join.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _free_names(rooms: Rooms, room: Room) -> list[str]:
    """Return the names of the class list that no member has."""
    taken = {each.name.casefold() for each in rooms.read(room.code).members} if room.class_list else ()
    return [name for name in room.class_list if name.casefold() not in taken]


def qr_code(request: HttpRequest, code: str) -> HttpResponse:
    """Return the QR code of the address at which learners join."""
    room = find_room(code)
    picture = io.BytesIO()
    segno.make(join_address(request, room), error="m").save(
        picture, kind="svg", scale=8, border=3, light="#fff", svgclass=None, lineclass=None, xmldecl=False
    )
    return HttpResponse(picture.getvalue(), "image/svg+xml")


def _new_room_form(request: HttpRequest, error: str = "", status: int = HTTPStatus.OK) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    chosen = given.get("what", COURSE if room_lessons() else f"scenario:{bundled_scenarios.FIRST}")
    context = {
        "error": error,
        "what": chosen,
        "lessons": [
            Choice(f"lesson:{each.value}", each.label, chosen == f"lesson:{each.value}")
            for each in lesson_choices(room_lessons(), chosen.removeprefix("lesson:"))
        ],
        "scenarios": [
            Choice(f"scenario:{each.name}", each.title, chosen == f"scenario:{each.name}")
            for each in scenarios.offered()
        ],
        "mode": given.get("mode", "own"),
        "title": given.get("title", "")[:TITLE_AT_MOST],
        "minutes": [Choice(str(each), duration(each * 60), each == USUAL_MINUTES) for each in MINUTES],
        "days": KEPT_DAYS,
    }
    return render(request, "rooms/new.html", context, status=status)


def _parse_what(text: str) -> What | None:
    """Return the lesson or scenario that a text names; None if there is none."""
    kind, _, name = text.partition(":")
    if kind == "course" and not name and room_lessons():
        return What("course")
    if kind == "lesson" and name in room_lessons():
        return What("lesson", name)
    if kind == "scenario" and name in bundled_scenarios.scenarios():
        return What("scenario", name)
    return None


def _title_of(what: What) -> str:
    if what.kind == "course":
        return gettext("The course")
    if what.kind == "scenario":
        return gettext(bundled_scenarios.scenarios()[what.name].title)
    choices = lesson_choices(room_lessons(), what.name)
    return next(each.label for each in choices if each.chosen)[:TITLE_AT_MOST]
