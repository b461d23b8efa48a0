"""A learner's own page in a room, and what the learner tells the teacher."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Final, cast, get_args

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext, ngettext

from schedviz.lessons.lesson import Lesson
from schedviz.limits.rates import count_creation
from schedviz.limits.requester import address_record, requester_of
from schedviz.rooms.access import find_member, is_in_room, member_cookie
from schedviz.rooms.create_sandboxes import DeletedByTeacher, open_sandbox
from schedviz.rooms.learners import progress_of, read_progress, room_lessons
from schedviz.rooms.notice import room_notice
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.overview import overview
from schedviz.rooms.room import (
    SHARED,
    Member,
    Room,
    learner_id,
    number_for,
    sandbox_name,
)
from schedviz.rooms.room_store import (
    KEPT_SECONDS,
    Rooms,
    Signal,
)
from schedviz.rooms.work import find_work
from schedviz.store.default import default_store
from schedviz.web.access import refuse_room
from schedviz.web.answers import is_htmx
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.rooms.find import find_own_member, find_room, write_cookie
from schedviz.web.rooms.own_results import present_own_results
from schedviz.web.rooms.present import duration, lesson_choices
from simulator.apiserver.status import StatusError

KEPT_DAYS: Final = KEPT_SECONDS // 86_400


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
        return end_page(request, room, member)
    lesson = request.POST.get("lesson", "")
    if request.method == "POST" and (not lesson or lesson in room_lessons()):
        return begin(request, room, member, lesson if lesson in _offered_lessons(room) else "")
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
    return _notice(request, room, member)


def send_signal(request: HttpRequest, code: str) -> HttpResponse:
    """Note what a learner tells the teacher. Field ``do``: ``hand`` or ``done``, then ``on`` or ``off``."""
    room = find_room(code)
    member = find_own_member(request, room)
    if member is None:
        return refuse_room(request)
    signal, _, state = request.POST.get("do", "").partition(" ")
    if signal not in get_args(Signal) or state not in ("on", "off"):
        return HttpResponse("unknown signal", "text/plain", status=HTTPStatus.BAD_REQUEST)
    Rooms(default_store()).signal(room.code, member.number, cast("Signal", signal), on=state == "on")
    notify_teacher(room.code)
    return _notice(request, room, member)


def warn_of_outcome(request: HttpRequest, code: str) -> HttpResponse:
    """Return what to ask before an act in a sandbox that the room shares shows all what follows, while some
    have not answered the question. 204 = nothing."""
    room, store = find_room(code), default_store()
    if not is_in_room(Rooms(store), room.code, request.COOKIES):
        return refuse_room(request)
    seen = Rooms(store).read(room.code)
    asked = overview(seen, read_progress(store, seen), room_lessons()).histogram
    if asked is None or asked.answered >= asked.learners or asked.key == room.revealed:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    missing = asked.learners - asked.answered
    text = ngettext(
        "%(n)s learner has not answered the question yet. All see here what follows. Do it now?",
        "%(n)s learners have not answered the question yet. All see here what follows. Do it now?",
        missing,
    ) % {"n": missing}  # fmt: skip
    return HttpResponse(text, "text/plain; charset=utf-8")


def _notice(request: HttpRequest, room: Room, member: Member) -> HttpResponse:
    sandbox = sandbox_name(room.code, number_for(room, member.number))
    if not is_htmx(request):
        return redirect("sandbox", sandbox)
    notice = room_notice(Rooms(default_store()), sandbox, member)
    return render(request, "rooms/notice.html", {"notice": notice})


def own_place(request: HttpRequest, code: str) -> HttpResponse:
    """Say where the learner's page in the room goes: to the sandbox, after the teacher has put all at a step
    since the time ``placed``; to what is new of the room. It is asked for regularly, so the learner is
    online. 204 = it stays."""
    room, store = find_room(code), default_store()
    member = find_own_member(request, room)
    if member is None or room.is_over(store.wall()):
        return HttpResponse(headers={"HX-Refresh": "true"})
    Rooms(store).note_connected(room.code, member.number)
    sandbox = sandbox_name(room.code, number_for(room, member.number))
    is_moved = repr(room.placed) != request.GET.get("placed", "")
    if is_moved and find_work(store, room.code) is None and store.exists(sandbox):
        return HttpResponse(headers={"HX-Redirect": reverse("sandbox", args=[sandbox])})
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def begin(request: HttpRequest, room: Room, member: Member, lesson: str = "") -> HttpResponse:
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
        return _own_page(request, room, member, explain_refusal(refused), refused.code)
    except DeletedByTeacher:
        text = gettext(
            "The teacher has deleted the sandbox of this room. Only the teacher can start it again."
        )
        return _own_page(request, room, member, text, HTTPStatus.CONFLICT)
    return redirect("sandbox", name) if name else redirect("room-me", room.code)


def _offered_lessons(room: Room) -> Mapping[str, Lesson]:
    """Return the lessons from which a learner may choose. In a sandbox that all share, it is the first of
    them who chooses, if the teacher has not."""
    if room.settings.what.kind != "course" or room.locked:
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
    results = present_own_results(room, progress, room_lessons(), over=False)
    context = {
        "room": room,
        "member": member,
        "results": results,
        "lessons": [(each, progress.get(each.value)) for each in lessons],
        "link": request.build_absolute_uri(reverse("room-personal", args=[room.code, token]))
        if token
        else "",
        "left": duration(room.ends - default_store().wall()),
        "days": KEPT_DAYS,
        "error": error,
        "placed": repr(room.placed),
    }
    return render(request, "rooms/me.html", context, status=status)


def end_page(request: HttpRequest, room: Room, member: Member | None) -> HttpResponse:
    """Render the page of a room that is over, with the results of its visitor: for a learner it is there as
    long as the data of the room; to others the room is gone."""
    results, lessons = [], room_lessons()
    if member:
        learner = learner_id(room.code, member.number)
        results = present_own_results(
            room, progress_of(default_store(), [learner])[learner], lessons, over=True
        )
    ended = room.ended or room.ends
    context = {
        "room": room,
        "member": member,
        "results": results,
        "by_teacher": ended < room.ends,
        "until": date_format(
            datetime.fromtimestamp(ended + KEPT_SECONDS, get_current_timezone()), "DATE_FORMAT"
        ),
    }
    return render(request, "rooms/over.html", context, status=HTTPStatus.OK if member else HTTPStatus.GONE)
