"""Draws the parts of the teacher's view and of the projector. A websocket sends those that changed."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from django.template.loader import render_to_string

from schedviz.lessons.lesson import Lesson
from schedviz.rooms.learners import read_progress, room_lessons
from schedviz.rooms.overview import Overview, Row, overview
from schedviz.rooms.room import NOBODY, number_for, sandbox_name
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.rooms.states import sources_of
from schedviz.rooms.work import Work, find_work
from schedviz.store import Store
from schedviz.web.presenters import room_view as view

Parts = dict[str, str]
"""Id -> HTML of the element."""


class RoomNow(NamedTuple):
    """A room, its learners' progress and the work in it, as of one moment."""

    seen: Seen
    overview: Overview
    work: Work | None
    lessons: Mapping[str, Lesson]
    sources: list[view.Choice]
    """The sandboxes whose state can be put into all."""

    @property
    def is_over(self) -> bool:
        return self.seen.room.is_over(self.seen.now)

    @property
    def lesson(self) -> str:
        """The name of the lesson that the teacher's forms are for; "" = none."""
        question = self.overview.histogram
        return self.seen.room.lesson or (question.lesson if question else "")


class Drawn(msgspec.Struct, frozen=True):
    parts: Parts
    rows: Parts = {}
    """The lines of the table, in order."""

    def changes(self, before: "Drawn | None") -> str:
        """Return the parts that a page that shows ``before`` must swap."""
        old = before or Drawn({})
        changed = [html for name, html in self.parts.items() if old.parts.get(name) != html]
        if [*old.rows] != [*self.rows]:
            changed.append(members(self.rows))
        else:
            # Rows of a table are parsed only within a template (static/js/room.js).
            changed += [
                f'<template id="{name}" hx-swap-oob="true">{html}</template>'
                for name, html in self.rows.items()
                if old.rows[name] != html
            ]
        return "".join(changed)


def read_room(store: Store, code: str) -> RoomNow:
    """Read the room with the progress of its members. Raises NoRoom."""
    seen = Rooms(store).read(code)
    lessons = room_lessons()
    found = overview(seen, read_progress(store, seen), lessons)
    sources = view.source_choices(seen, sources_of(store, seen))
    return RoomNow(seen, found, find_work(store, code), lessons, sources)


class Painter:
    """Draws a room for one language. It keeps the rows that it has drawn."""

    def __init__(self) -> None:
        self._rows: dict[Row, str] = {}

    def teacher(self, now: RoomNow) -> Drawn:
        room = now.seen.room
        context = {
            "room": room,
            "code": room.code,
            "overview": now.overview,
            "learners": len(now.overview.rows),
            "over": now.is_over,
            "left": view.duration(room.ends - now.seen.now),
            "question": _question(now),
            "questions": view.question_choices(room, now.lessons, now.lesson),
            "lesson_choices": view.lesson_choices(now.lessons, now.lesson),
            "step_choices": view.step_choices(room, now.lessons, now.lesson),
            "is_course": room.settings.what.kind == "course",
            "work": view.work_text(now.work) if now.work else "",
            "shown": _shown(now),
            "recipients": now.seen.members,
            "sources": now.sources,
        }
        names = ["counts", "state", "steps", "recipients", "sources", "work"]
        if room.settings.what.kind != "scenario":
            names.append("question")
        parts: Parts = {name: render_to_string(f"rooms/parts/{name}.html", context) for name in names}
        drawn: dict[Row, str] = {}
        rows: Parts = {}
        for row in now.overview.rows:
            html = self._rows.get(row) or render_to_string(
                "rooms/parts/row.html",
                {
                    "view": view.row_view(row, now.lessons),
                    "row": row,
                    "sandbox": sandbox_name(room.code, number_for(room, row.number)),
                    "shared": room.settings.mode == "shared",
                    "is_course": room.settings.what.kind == "course",
                },
            )
            drawn[row] = rows[f"m-{row.number}"] = html
        self._rows = drawn
        return Drawn(parts, rows)

    def projector(self, now: RoomNow) -> Drawn:
        room = now.seen.room
        shown = room.shown if room.shown != NOBODY else None
        context = {
            "room": room,
            "code": room.code,
            "learners": len(now.overview.rows),
            "names": [row.name for row in sorted(now.overview.rows, key=lambda row: row.number)],
            "question": _question(now),
            "shown_sandbox": sandbox_name(room.code, shown) if shown is not None else "",
            "shown_name": _shown(now) if room.named else "",
            "shown_row": _shown_row(now),
            "over": now.is_over,
        }
        names = ("joined", "shown_step", "shown", "asked")
        parts: Parts = {name: render_to_string(f"rooms/parts/{name}.html", context) for name in names}
        return Drawn(parts)


def members(rows: Parts) -> str:
    return render_to_string("rooms/parts/members.html", {"rows": [*rows.values()]})


def _question(now: RoomNow) -> view.QuestionView | None:
    found = now.overview.histogram
    return view.question_view(found, now.seen.room, now.lessons) if found else None


def _shown(now: RoomNow) -> str:
    """Return the name of the learner whose sandbox the projector shows."""
    number = now.seen.room.shown
    return next((each.name for each in now.seen.members if each.number == number), "")


def _shown_row(now: RoomNow) -> view.RowView | None:
    """Return the row of the learner whose sandbox the projector shows; None if there is no lesson."""
    number = now.seen.room.shown
    row = next((each for each in now.overview.rows if each.number == number and each.steps), None)
    return view.row_view(row, now.lessons) if row else None
