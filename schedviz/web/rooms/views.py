"""The pages of rooms for all visitors: open a room, join it, and a learner's own page."""

import io
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import segno
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from schedviz import bundled_scenarios
from schedviz.access.record import digest_of
from schedviz.lessons.lesson import Lesson
from schedviz.limits.rates import count_creation
from schedviz.limits.requester import address_record, requester_of
from schedviz.rooms.access import (
    find_member,
    is_teacher,
    member_cookie,
    personal_token,
    teacher_cookie,
)
from schedviz.rooms.create_sandboxes import DeletedByTeacher, open_sandbox
from schedviz.rooms.learners import progress_of, room_lessons
from schedviz.rooms.notice import room_notice
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.room import (
    ALPHABET,
    CODE_LENGTH,
    SHARED,
    TITLE_AT_MOST,
    Member,
    Mode,
    Room,
    What,
    clean_name,
    learner_id,
    number_for,
    read_code,
    sandbox_name,
    wrong_letters,
)
from schedviz.rooms.room_store import (
    KEPT_SECONDS,
    LONGEST_SECONDS,
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
from schedviz.web.access import refuse_room
from schedviz.web.answers import is_htmx
from schedviz.web.limits import text_of, with_time
from schedviz.web.rooms.present import Choice, duration, lesson_choices
from simulator.apiserver.status import StatusError

MINUTES: Final = (60, 90, 120, 180, 240, 480, 720)
"""The lengths of a room that the form offers, in minutes."""
USUAL_MINUTES: Final = 120
KEPT_DAYS: Final = KEPT_SECONDS // 86_400
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


def say_wrong_code(typed: str) -> str:
    """Return why a typed text is no code, in one line."""
    if wrong := wrong_letters(typed):
        return gettext("No code has %(letters)s: its letters and digits are %(alphabet)s.") % {
            "letters": ", ".join(wrong[:CODE_LENGTH]),
            "alphabet": " ".join(ALPHABET),
        }
    return gettext("A code has six letters and digits.")


def join_room(request: HttpRequest, code: str) -> HttpResponse:
    """Join a room. Field: ``name``."""
    if code != read_code(code) and read_code(code):
        return redirect("room", read_code(code))
    room, rooms = find_room(code), Rooms(default_store())
    if find_own_member(request, room):
        return redirect("room-me", code)
    if room.is_over(rooms.store.wall()):
        return render(request, "rooms/over.html", {"room": room, "days": KEPT_DAYS}, status=HTTPStatus.GONE)
    context: dict[str, Any] = {"room": room, "teacher": is_teacher(room, request.COOKIES), "error": ""}
    if request.method != "POST":
        return render(request, "rooms/join.html", context)
    name = clean_name(request.POST.get("name", ""))
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
            response = _begin(request, room, member)
            write_cookie(request, response, member_cookie(code), personal_token(member, token))
            return response
    return render(request, "rooms/join.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def personal_link(request: HttpRequest, code: str, token: str) -> HttpResponse:
    """Let a learner continue on this device."""
    room = find_room(code)
    if find_member(Rooms(default_store()), code, token) is None:
        return refuse_room(request)
    response = redirect("room-me", room.code)
    write_cookie(request, response, member_cookie(code), token)
    return response


def own_page(request: HttpRequest, code: str) -> HttpResponse:
    """Render a learner's page in a room. POST opens the sandbox; field ``lesson``, where the room offers the
    choice: with this lesson. It is recreated unless the learner is in it already, or others share it."""
    room, store = find_room(code), default_store()
    member = find_own_member(request, room)
    if member is None:
        return redirect("room", code)
    if room.is_over(store.wall()):
        return render(request, "rooms/over.html", {"room": room, "days": KEPT_DAYS}, status=HTTPStatus.GONE)
    lesson = request.POST.get("lesson", "")
    if request.method == "POST" and (not lesson or lesson in room_lessons()):
        return _begin(request, room, member, lesson if lesson in _offered_lessons(room) else "")
    return _own_page(request, room, member)


def close_hint(request: HttpRequest, code: str) -> HttpResponse:
    """Note that the learner has read the hint of the time ``at``."""
    room, rooms = find_room(code), Rooms(default_store())
    member = find_own_member(request, room)
    if member is None:
        return refuse_room(request)
    try:
        rooms.note_read(code, member.number, float(request.POST.get("at", "")))
    except ValueError:
        return HttpResponse("at must be a number", "text/plain", status=HTTPStatus.BAD_REQUEST)
    sandbox = sandbox_name(code, number_for(room, member.number))
    if is_htmx(request):
        return render(request, "rooms/notice.html", {"notice": room_notice(rooms, sandbox, member)})
    return redirect("sandbox", sandbox)


def qr_code(request: HttpRequest, code: str) -> HttpResponse:
    """Return the QR code of the address at which learners join."""
    room = find_room(code)
    picture = io.BytesIO()
    segno.make(join_address(request, room), error="m").save(
        picture, kind="svg", scale=8, border=3, light="#fff", svgclass=None, lineclass=None, xmldecl=False
    )
    return HttpResponse(picture.getvalue(), "image/svg+xml")


def join_address(request: HttpRequest, room: Room) -> str:
    return request.build_absolute_uri(reverse("room", args=[room.code]))


def find_room(code: str) -> Room:
    """Return the room with this code. Raises Http404."""
    try:
        return Rooms(default_store()).find(read_code(code))
    except NoRoom:
        said = gettext("There is no room “%(code)s”, or no longer.") % {"code": code}
        raise Http404(said if read_code(code) else f"{said} {say_wrong_code(code)}") from None


def find_own_member(request: HttpRequest, room: Room) -> Member | None:
    """Return the learner whose browser this is."""
    token = request.COOKIES.get(member_cookie(room.code), "")
    return find_member(Rooms(default_store()), room.code, token) if token else None


def write_cookie(request: HttpRequest, response: HttpResponse, name: str, token: str) -> None:
    """Set the cookie of a room. It lasts as long as a room can, with its results."""
    response.set_cookie(
        name,
        token,
        max_age=LONGEST_SECONDS + KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def _begin(request: HttpRequest, room: Room, member: Member, lesson: str = "") -> HttpResponse:
    """Redirect to the learner's sandbox, which is created if that is needed."""
    store = default_store()
    try:
        place = sandbox_name(room.code, number_for(room, member.number))
        is_new = not store.exists(place)
        if is_new:
            count_creation(requester_of(request))
        name = open_sandbox(store, room, member.number, lesson)
        if is_new and name and (record := address_record(request)):
            store.handle(name).set_access(record, "")
    except StatusError as refused:
        return _own_page(request, room, member, refused.message, refused.code)
    except DeletedByTeacher:
        text = gettext(
            "The teacher has deleted the sandbox of this room. Only the teacher can start it again."
        )
        return _own_page(request, room, member, text, HTTPStatus.CONFLICT)
    return redirect("sandbox", name) if name else redirect("room-me", room.code)


def _offered_lessons(room: Room) -> Mapping[str, Lesson]:
    """Return the lessons from which a learner may choose. In a sandbox that all share, it is the first of
    them who chooses, if the teacher has not."""
    if room.settings.what.kind != "course":
        return {}
    is_shared = room.settings.mode == "shared"
    is_there = is_shared and default_store().exists(sandbox_name(room.code, SHARED))
    return {} if is_there or (is_shared and (room.lesson or room.opened)) else room_lessons()


def _own_page(
    request: HttpRequest, room: Room, member: Member, error: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    token = request.COOKIES.get(member_cookie(room.code), "")
    learner = learner_id(room.code, member.number)
    progress = progress_of(default_store(), [learner])[learner]
    lessons = lesson_choices(_offered_lessons(room), room.lesson)
    context = {
        "room": room,
        "member": member,
        "lessons": [(each, progress.get(each.value)) for each in lessons],
        "link": request.build_absolute_uri(reverse("room-personal", args=[room.code, token]))
        if token
        else "",
        "left": duration(room.ends - default_store().wall()),
        "days": KEPT_DAYS,
        "error": error,
    }
    return render(request, "rooms/me.html", context, status=status)


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
