"""The teacher's view and the projector of a room, as parts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from schedviz.lessons.lesson import Lesson
from schedviz.rooms.learners import read_progress, room_lessons
from schedviz.rooms.overview import RoomOverview, overview
from schedviz.rooms.rehearsal import LEARNERS
from schedviz.rooms.room import NOBODY, number_for, sandbox_name
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.rooms.sandboxes import end_if_over
from schedviz.rooms.states import sources_of
from schedviz.rooms.work import Work, find_work
from schedviz.store import Store
from schedviz.web.parts.parts import PartRenderer, Parts
from schedviz.web.parts.screens import Screens
from schedviz.web.rooms import present as view
from schedviz.web.rooms import rehearse
from schedviz.web.rooms.plan import plan_views

RoomPage = Literal["teacher", "projector"]
PARTS: Final = "rooms/parts"
"""The folder of the templates."""


class RoomNow(NamedTuple):
    """A room, its learners' progress and the work in it, as of one moment."""

    seen: Seen
    overview: RoomOverview
    work: Work | None
    lessons: Mapping[str, Lesson]
    sources: list[int]
    """The numbers of the sandboxes whose state can be put into all."""

    @property
    def is_over(self) -> bool:
        return self.seen.room.is_over(self.seen.now)

    @property
    def lesson(self) -> str:
        """The name of the lesson that the teacher's forms are for; "" = none."""
        question = self.overview.histogram
        return self.seen.room.lesson or (question.lesson if question else "")

    @property
    def has_notes(self) -> bool:
        """Whether that lesson has notes for teachers."""
        lesson = self.lessons.get(self.lesson)
        return lesson is not None and lesson.notes is not None


def read_room(store: Store, code: str) -> RoomNow:
    """Read the room with the progress of its members. Raises NoRoom."""
    seen = Rooms(store).read(code)
    lessons = room_lessons()
    found = overview(seen, read_progress(store, seen), lessons)
    return RoomNow(seen, found, find_work(store, code), lessons, sources_of(store, seen))


class RoomScreen:
    """The pages of a room, in the language that is active when they are drawn."""

    def __init__(self) -> None:
        self._pages: dict[RoomPage, PartRenderer] = {}

    def draw(self, now: RoomNow, pages: Iterable[RoomPage]) -> dict[RoomPage, Parts]:
        """Render and return the parts that changed since the last call, by page; all parts for a new page."""
        changed: dict[RoomPage, Parts] = {}
        for page in pages:
            drawing = self._pages.setdefault(page, PartRenderer(""))
            parts = _projector(now) if page == "projector" else _teacher(now)
            for name, values in parts.items():
                drawing.draw(name, f"{PARTS}/{name}.html", values)
            if page == "teacher":
                drawing.draw_list("members", "rows", f"{PARTS}/row.html", _rows(now))
            changed[page] = drawing.changes()
        return changed

    def whole(self, look: RoomPage) -> Parts:
        return self._pages[look].all()


class RoomScreens(Screens[RoomPage, RoomScreen]):
    """Draws the pages of one room."""

    def __init__(self, store: Store, code: str) -> None:
        super().__init__()
        self._store = store
        self._code = code

    def update(self) -> RoomNow:
        """Read the room. One whose time is over is ended. Raises NoRoom."""
        self._now = read_room(self._store, self._code)
        if self._now.is_over and not self._now.seen.room.ended:
            end_if_over(self._store, self._code)
        return self._now

    def _new_screen(self) -> RoomScreen:
        return RoomScreen()

    def _drawer(self) -> Callable[[RoomScreen, Iterable[RoomPage]], dict[RoomPage, Parts]]:
        return lambda screen, pages: screen.draw(self._now, pages)


def _teacher(now: RoomNow) -> dict[str, Any]:
    """Return the views of the parts of the teacher's view, by part."""
    room, found = now.seen.room, now.overview
    parts: dict[str, Any] = {
        "counts": {
            "learners": len(found.rows),
            "online": found.online,
            "finished": found.finished,
            "hands": found.hands,
            "done": found.done,
            "stuck": found.stuck,
        },
        "state": {
            "over": now.is_over,
            "paused": room.paused,
            "collecting": room.collecting,
            "locked": room.locked,
            "discussion": room.discussion,
            "has_steps": room.settings.what.kind != "scenario",
            "shown": _shown(now),
            "named": room.named,
            "left": view.duration(room.ends - now.seen.now),
            "rehearsing": room.rehearsing,
            "simulated": len(now.seen.simulated),
            "rehearsed_by": LEARNERS if rehearse.may_rehearse(now.seen) else 0,
        },
        "steps": {
            "is_course": room.settings.what.kind == "course",
            "lessons": view.step_choices(room, now.lessons, now.lesson),
            "noted": now.lesson if now.has_notes else "",
        },
        "recipients": now.seen.members,
        "person": now.seen.members,
        "into": now.seen.members,
        "sources": view.source_choices(now.seen, now.sources),
        "work": _work_text(now),
        "members": bool(found.rows),
    }
    if room.settings.what.kind != "scenario":
        choices = view.question_choices(room, now.lessons, now.lesson)
        parts["plan"] = {
            "sections": plan_views(room),
            "following": room.section + 1,
            "began": room.section_began,
            "over": now.is_over,
        }
        parts["question"] = {"asked": _question(now), "over": now.is_over, "choices": choices}
    return parts


def _work_text(now: RoomNow) -> str:
    """Return a text about the work on the sandboxes, or about the outcome of the last one."""
    outcome = now.seen.room.outcome
    if now.work:
        return view.work_text(now.work)
    return view.outcome_text(outcome, now.seen, now.lessons) if outcome and not now.is_over else ""


def _rows(now: RoomNow) -> dict[str, Any]:
    """Return the views of the learners' lines by the id of the line, in the order of the table."""
    room = now.seen.room
    return {
        f"m-{row.number}": {
            "row": row,
            "said": view.row_view(row, now.lessons),
            "sandbox": sandbox_name(room.code, number_for(room, row.number)),
            "shared": room.settings.mode == "shared",
            "is_course": room.settings.what.kind == "course",
        }
        for row in now.overview.rows
    }


def _projector(now: RoomNow) -> dict[str, Any]:
    """Return the views of the projector's parts, by part."""
    room, rows = now.seen.room, now.overview.rows
    shown = room.shown if room.shown != NOBODY and not now.is_over else None
    names = [row.name for row in sorted(rows, key=lambda row: row.number)]
    return {
        "joined": {"learners": len(rows), "names": names if room.named else []},
        "asked": {"question": _question(now), "over": now.is_over, "named": room.named},
        "shown_step": {"said": _shown_row(now), "name": _shown(now) if room.named else ""}
        if shown is not None
        else None,
        "shown": sandbox_name(room.code, shown) if shown is not None else "",
    }


def _question(now: RoomNow) -> view.RoomQuestion | None:
    found = now.overview.histogram
    return view.question_view(found, now.seen.room, now.lessons) if found else None


def _shown(now: RoomNow) -> str:
    """Return the name of the learner whose sandbox the projector shows."""
    number = now.seen.room.shown
    return next((each.name for each in now.seen.members if each.number == number), "")


def _shown_row(now: RoomNow) -> view.RowView | None:
    """Return the line of the learner whose sandbox the projector shows, with the guess of the present step
    only; None if there is no lesson."""
    number = now.seen.room.shown
    row = next((each for each in now.overview.rows if each.number == number and each.steps), None)
    if row and row.guess_step != row.step_id:
        row = replace(row, guess=())
    return view.row_view(row, now.lessons) if row else None
