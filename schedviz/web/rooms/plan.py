"""The plan of a room: its sections in order, which the teacher writes as lines and begins one by one."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from django.http import HttpRequest
from django.utils.translation import get_language, gettext

from schedviz.rooms import sandboxes
from schedviz.rooms.learners import room_lessons
from schedviz.rooms.notify import notify_learners
from schedviz.rooms.room import Room, Section, SectionKind
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.store.default import default_store
from schedviz.web.rooms.people import WrongAct

SECTIONS_AT_MOST: Final = 30
MINUTES_AT_MOST: Final = 720
LINE: Final = re.compile(r"(\d{1,3})\s+(?:(discussion|break)|lesson\s+(\S+)(?:\s+(\d{1,2}))?)", re.IGNORECASE)
BEGINNERS: Final = """\
15 lesson filters
5 discussion
20 lesson taints
5 break
20 lesson priority-and-order
20 lesson preemption
5 discussion
"""
"""The template for 90 minutes with beginners, in a room for the course."""

PutAll = Callable[[Seen, str, int, Mapping[str, Any]], None]
"""Puts all learners at a step of a lesson, and changes fields of the room."""


class SectionView(NamedTuple):
    section: Section
    title: str
    """The title of the lesson; "" = it is none."""
    is_present: bool


def read_plan(text: str) -> tuple[Section, ...]:
    """Return the sections of a text, one a line: the minutes, and ``discussion``, ``break`` or ``lesson NAME
    STEP``, the step counted from 1 and 1 if it is left out. Raises WrongAct."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > SECTIONS_AT_MOST:
        raise WrongAct(gettext("A plan has at most %(n)s sections.") % {"n": SECTIONS_AT_MOST})
    return tuple(_read_line(number, line) for number, line in lines)


def _read_line(number: int, line: str) -> Section:
    found = LINE.fullmatch(line)
    if found is None or not 0 < int(found[1]) <= MINUTES_AT_MOST:
        said = gettext("Line %(line)s: write minutes, then “lesson NAME STEP”, “discussion” or “break”.")
        raise WrongAct(said % {"line": number})
    if found[2]:
        kind: SectionKind = "discussion" if found[2].lower() == "discussion" else "break"
        return Section(kind, int(found[1]))
    lesson, step = room_lessons().get(found[3]), int(found[4] or 1) - 1
    if lesson is None:
        raise WrongAct(
            gettext("Line %(line)s: there is no lesson “%(name)s”.") % {"line": number, "name": found[3][:60]}
        )
    if not 0 <= step < len(lesson.steps):
        raise WrongAct(
            gettext("Line %(line)s: the lesson has %(n)s steps.") % {"line": number, "n": len(lesson.steps)}
        )
    return Section("lesson", int(found[1]), lesson.name, step)


def write_plan(room: Room) -> str:
    """Return the lines of the room's plan; without one, those of a template."""
    if not room.plan:
        name = room.settings.what.name
        return BEGINNERS if room.settings.what.kind == "course" else f"20 lesson {name}\n5 discussion\n"
    return "".join(
        f"{each.minutes} lesson {each.lesson} {each.step + 1}\n"
        if each.kind == "lesson"
        else f"{each.minutes} {each.kind}\n"
        for each in room.plan
    )


def save_plan(request: HttpRequest, seen: Seen, argument: str) -> str:
    """Set the plan. Field ``plan``: its lines; "" = there is none. The class is in none of its sections."""
    plan = read_plan(request.POST.get("plan", "")[: SECTIONS_AT_MOST * 200])
    Rooms(default_store()).change(seen.room.code, plan=plan, section=-1)
    notify_learners(seen.room.code)
    return gettext("The plan was saved.")


def begin_section(seen: Seen, argument: str, put_all: PutAll) -> str:
    """Take the class to a section of the plan, whose number from 0 is the argument. Raises WrongAct,
    RoomBusy."""
    store, room = default_store(), seen.room
    if not (argument.isdecimal() and len(argument) < 4 and int(argument) < len(room.plan)):
        raise WrongAct(gettext("There is no such section."))
    number = int(argument)
    section = room.plan[number]
    if section.kind == "break":
        sandboxes.pause_all(store, seen)
    elif room.paused:
        sandboxes.resume_all(store, seen)
    now = store.wall()
    changes = {
        "section": number,
        "section_began": now,
        "discussion": section.kind == "discussion",
        "went_on": now,
    }
    if section.kind == "lesson":
        put_all(seen, section.lesson, section.step, changes)
    else:
        Rooms(store).change(room.code, **changes)
        notify_learners(room.code)
    return ""


def plan_views(room: Room) -> list[SectionView]:
    """Return the sections, in the active language."""
    lessons, language = room_lessons(), get_language() or "en"
    return [
        SectionView(
            each,
            lessons[each.lesson].text(language).title if each.lesson in lessons else each.lesson,
            number == room.section,
        )
        for number, each in enumerate(room.plan)
    ]
