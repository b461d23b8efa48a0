"""The Django views of the buttons of the teacher's view."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.lessons.offline import NotReached
from schedviz.rooms import sandboxes
from schedviz.rooms.create_sandboxes import start_sandbox
from schedviz.rooms.learners import room_lessons, set_step, set_step_together
from schedviz.rooms.notify import notify_learners, notify_teacher
from schedviz.rooms.room import (
    HINT_AT_MOST,
    NOBODY,
    sandbox_name,
)
from schedviz.rooms.room_store import LONGEST_SECONDS, Rooms, Seen
from schedviz.rooms.states import put_sandbox, put_step, sources_of
from schedviz.rooms.work import Place, RoomBusy, begin_work
from schedviz.routes import route_of
from schedviz.store import NoSandbox
from schedviz.store.default import default_store
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.rooms import people, plan, rehearse
from schedviz.web.rooms.find import find_room
from schedviz.web.rooms.people import WrongAct, member_of
from simulator.apiserver.status import StatusError

EXTENSION_SECONDS: Final = 30 * 60
DIGITS_AT_MOST: Final = 3
"""Maximum number of digits of the number of a step or of a sandbox."""


def act(request: HttpRequest, code: str) -> HttpResponse:
    """Do the act of a button. Field ``do``: the act, and its argument after a space."""
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
        if (route := route_of(request)) and route.is_change(request):
            store.end_holds(sandbox_name(room.code, number) for number in sandboxes.numbers_of(seen))
        try:
            said = handler(request, seen, argument)
        except RoomBusy:
            said = gettext("Wait until the work on the sandboxes is finished.")
        except (WrongAct, NotReached) as wrong:
            said = str(wrong)
        except StatusError as refused:
            said = explain_refusal(refused)
        except NoSandbox:
            said = gettext("This sandbox no longer exists.")
    notify_teacher(room.code)
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(escape(said))
    return redirect(f"{reverse('teach', args=[room.code])}?{urlencode({'said': said})}")


def _number(text: str) -> int | None:
    """Return the number of a step or of a sandbox; None if the text is none."""
    return int(text) if text.isdecimal() and len(text) <= DIGITS_AT_MOST else None


def _pause(request: HttpRequest, seen: Seen, argument: str) -> str:
    sandboxes.pause_all(default_store(), seen)
    notify_learners(seen.room.code)
    return gettext("All sandboxes are being paused.")


def _resume(request: HttpRequest, seen: Seen, argument: str) -> str:
    sandboxes.resume_all(default_store(), seen)
    notify_learners(seen.room.code)
    return gettext("All sandboxes are being resumed.")


def _start(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Start the lesson or the scenario over for all. Field ``place``: as for a step, of which only the lesson
    counts; "" = the room's present lesson."""
    store, room = default_store(), seen.room
    lesson = request.POST.get("place", "").rpartition("/")[0] or room.lesson
    changes: dict[str, Any] = {}
    if room.settings.what.kind != "scenario":
        if lesson not in room_lessons():
            raise WrongAct(gettext("Choose a lesson."))
        changes = {"lesson": lesson, "step": 0, "question": "", "revealed": "", "answers": ()}
        room = replace(room, **changes)

    numbers = [each.number for each in seen.members]
    is_shared = room.settings.mode == "shared"
    if is_shared and room.settings.what.kind == "scenario":
        numbers = numbers[:1]

    def start(number: int) -> None:
        # One sandbox of all is created once; then all others begin in it.
        start_sandbox(store, room, number, lesson, anew=not is_shared or number == numbers[0])

    def change() -> None:
        if changes:
            Rooms(store).change(room.code, **changes)

    place = Place(lesson, 0) if changes else None
    begin_work(store, room.code, "start", numbers, start, change=change, place=place)
    return gettext("All sandboxes are being started over.")


def _set_step(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Put all learners at a step of a lesson. The field ``place`` is ``LESSON/STEP``, counted from 0;
    with ``sandboxes`` = ``prepared`` all sandboxes are created again, with the state of the step. The room's
    Outcome says who was moved. Raises WrongAct."""
    name, _, place = request.POST.get("place", "").rpartition("/")
    lesson, step = room_lessons().get(name), _number(place)
    if lesson is None or step is None or step >= len(lesson.steps):
        raise WrongAct(gettext("Choose a step."))
    if request.POST.get("sandboxes") == "prepared":
        put_step(default_store(), seen, lesson, step)
    else:
        _put_all(seen, name, step, {})
    return ""


def _put_all(seen: Seen, name: str, step: int, changes: Mapping[str, Any]) -> None:
    """Put all learners at a step of a lesson, whose sandboxes stay as they are. changes: the fields of the
    room that change, too. Raises RoomBusy."""
    store, lesson = default_store(), room_lessons()[name]
    # Where those begin who are in another lesson.
    room = replace(seen.room, lesson=name, step=step)
    members = [each.number for each in seen.members]
    begin_work(
        store,
        room.code,
        "step",
        members,
        lambda number: set_step(store, room, number, lesson, step),
        change=lambda: Rooms(store).change(room.code, lesson=name, step=step, **changes),
        together=lambda: set_step_together(store, room, members, lesson, step),
        place=Place(name, step),
    )


def _begin_section(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Take the class to a section of the plan; its number from 0 is the argument."""
    return plan.begin_section(seen, argument, _put_all)


def _put_state(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Put the state of a sandbox into all others. Field ``source``: the number of the sandbox."""
    source = _number(request.POST.get("source", ""))
    if source is None or source not in sources_of(default_store(), seen):
        raise WrongAct(gettext("Choose a sandbox."))
    place = put_sandbox(default_store(), seen, source)
    return "" if place else gettext("All learners get a copy of the sandbox.")


def _hint(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Send a hint. Fields: ``to``: a learner's number, 0 = all; ``text``."""
    text = " ".join(request.POST.get("text", "").split())
    if not text:
        raise WrongAct(gettext("Write a hint first."))
    if len(text) > HINT_AT_MOST:
        raise WrongAct(gettext("A hint has at most %(n)s characters.") % {"n": HINT_AT_MOST})
    to = request.POST.get("to", "0")
    name = next((each.name for each in seen.members if str(each.number) == to), "")
    if to != "0" and not name:
        raise WrongAct(gettext("There is no such learner."))
    Rooms(default_store()).send_hint(seen.room.code, int(to), text)
    notify_learners(seen.room.code)
    if not name:
        return gettext("The hint was sent to all.")
    return gettext("The hint was sent to %(name)s.") % {"name": name}


def _question_key(key: str) -> str:
    """Return the name of a question, ``LESSON/STEP``. Raises WrongAct if there is no such question."""
    lesson, _, step = key.partition("/")
    steps = room_lessons()[lesson].steps if lesson in room_lessons() else []
    if not any(each.id == step and each.question for each in steps):
        raise WrongAct(gettext("Choose a question."))
    return key


def _reveal(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Reveal the answer to a question, ``LESSON/STEP``, on the projector; where the answers are collected,
    also on the learners' pages."""
    store, room, key = default_store(), seen.room, _question_key(argument)
    answers = tuple(dict.fromkeys((*room.answers, key))) if room.collecting else ()
    Rooms(store).change(room.code, revealed=key, answers=answers, went_on=store.wall())
    notify_learners(room.code)
    if room.collecting:
        return gettext("The projector and all pages show the answer.")
    return gettext("The projector shows the answer.")


def _hide(request: HttpRequest, seen: Seen, argument: str) -> str:
    Rooms(default_store()).change(seen.room.code, revealed="")
    return gettext("The projector shows the question without the answer.")


def _collect(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Begin or end to collect answers: learners see what is right when the teacher reveals it."""
    store, on = default_store(), argument == "on"
    Rooms(store).change(seen.room.code, collecting=on, answers=(), went_on=store.wall())
    notify_learners(seen.room.code)
    if on:
        return gettext("Answers are collected: learners see what is right when you reveal it.")
    return gettext("Learners see at once whether an answer is right.")


def _lock(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Lock the step that was set, or unlock it."""
    store, on = default_store(), argument == "on"
    Rooms(store).change(seen.room.code, locked=on, went_on=store.wall())
    notify_learners(seen.room.code)
    return gettext("The step is locked.") if on else gettext("The step is unlocked.")


def _discuss(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Begin or end a discussion, in which nobody counts as stuck."""
    store, on = default_store(), argument == "on"
    Rooms(store).change(seen.room.code, discussion=on, went_on=store.wall())
    notify_learners(seen.room.code)
    return gettext("The discussion begins.") if on else gettext("The discussion has ended.")


def _lower_hand(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Lower the hand of a learner, whose number is the argument."""
    member = member_of(seen, argument)
    Rooms(default_store()).signal(seen.room.code, member.number, "hand", on=False)
    notify_learners(seen.room.code)
    return gettext("The hand of %(name)s is lowered.") % {"name": member.name}


def _question(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Ask a question. Field ``question``: ``LESSON/STEP``; "" = the one that most learners have reached."""
    key = request.POST.get("question", "")
    Rooms(default_store()).change(seen.room.code, question=_question_key(key) if key else "")
    return gettext("The question was chosen.")


def _show(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Show a sandbox on the projector; its number is the argument."""
    number = _number(argument)
    if number is None or number not in sandboxes.numbers_of(seen):
        raise WrongAct(gettext("There is no such learner."))
    Rooms(default_store()).change(seen.room.code, shown=number)
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
    notify_learners(seen.room.code)
    return gettext("The room has ended.")


ACTS: Final[dict[str, Callable[[HttpRequest, Seen, str], str]]] = {
    "pause": _pause,
    "resume": _resume,
    "start": _start,
    "step": _set_step,
    "state": _put_state,
    "hint": _hint,
    "reveal": _reveal,
    "hide": _hide,
    "collect": _collect,
    "lock": _lock,
    "discuss": _discuss,
    "lower": _lower_hand,
    "question": _question,
    "show": _show,
    "show-none": _show_no_sandbox,
    "names": _names,
    "plan": plan.save_plan,
    "section": _begin_section,
    "rename": people.rename,
    "merge": people.merge,
    "class": people.class_list,
    "remove": people.remove,
    "rehearse": rehearse.rehearse,
    "extend": _extend,
    "end": _end,
}
