"""The state of a sandbox that another one is created with: objects, queue, time, trace and decisions."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Final

import msgspec
from msgspec.structs import replace

from schedviz.api.branch import BranchedObjects, creations
from schedviz.cache.caches import default_caches
from schedviz.lessons.beginnings import StepCounter
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.offline import OfflineSandbox
from schedviz.lessons.situation import Source
from schedviz.loop import ring, wake
from schedviz.store import Clock, LimitReached, Meta, Sandbox, SandboxExists, Store
from schedviz.store.archive import Mark
from schedviz.store.changes import TRACE_READ
from schedviz.store.commit_script import check_creation
from schedviz.store.store import CopiedPast
from simulator.api import Micros
from simulator.apiserver.status import AlreadyExists, Conflict, TooManyRequests
from simulator.decision import Decision
from simulator.trace import Event, QueuePlace

DECISIONS_AT_MOST: Final = 200
"""Maximum number of decisions that are copied: more than a lesson has cycles."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    meta: Meta
    """The record of the sandbox. It has the name of the sandbox from which the state comes."""
    now: Micros
    cycle: int
    """The number of the last scheduling cycle."""
    objects: BranchedObjects
    queue_places: Mapping[str, QueuePlace]
    trace: Sequence[Event]
    decisions: Sequence[Decision]
    edits: int


def state_at_step(lesson: Lesson, step: int, created: float, seed: int) -> State:
    """Return the state of a lesson's sandbox in which the solutions of the steps before ``step`` (counted
    from 0) were played, by the simulator. created: ``Meta.created``. Raises StatusError, NotReached."""
    text = lesson.text("en")
    played, count = OfflineSandbox(lesson, created, seed), StepCounter()
    for each in lesson.steps[:step]:
        for action in each.solution:
            played.play(action, count)
    return State(
        meta=replace(played.meta(), title=text.title, summary=text.summary),
        now=played.now(),
        cycle=played.last_cycle(),
        objects=played.list_all(),
        queue_places=played.queue()[0],
        trace=[event for _, event in played.trace_tail(TRACE_READ)],
        decisions=decisions_to_copy(played, played.last_cycle()),
        edits=played.edits(),
    )


def state_of(name: str) -> State:
    """Return the state of a sandbox as it is now. Raises NoSandbox."""
    present = default_caches().read(name)
    return State(
        meta=present.meta(),
        now=present.now(),
        cycle=present.last_cycle(),
        objects=present.list_all()[0],
        queue_places=present.queue()[0],
        trace=[event for _, event in present.trace_tail(TRACE_READ)],
        decisions=decisions_to_copy(present, present.last_cycle()),
        edits=present.edits(),
    )


def create_with_state(
    store: Store, name: str, state: State, speed: Clock, *, replace_old: bool = True
) -> Sandbox:
    """Create a paused sandbox, in one commit: a larger state is refused. replace_old: an existing one of this
    name is deleted, unless the state is refused; if not, it raises StatusError. speed: a clock with its
    speed. The first leader continues the queue. Raises StatusError."""
    changes = creations(state.objects)
    try:
        check_creation(changes)
    except LimitReached as error:
        raise Conflict("sandboxes", name, f"its state is too large to be restored: {error}") from None
    past = CopiedPast(state.trace, state.decisions, state.edits)
    after = Mark(version=0, seq=0, entry=0, cycle=state.cycle, now=state.now)
    clock = speed.stopped(state.now, store.wall())
    try:
        with store.replacing(name) if replace_old else nullcontext("") as access:
            sandbox = store.create(
                replace(state.meta, name=name),
                changes,
                clock,
                queue_places=state.queue_places,
                after=after,
                past=past,
                access=access,
            )
    except LimitReached as error:
        raise TooManyRequests(str(error)) from None
    except SandboxExists:
        raise AlreadyExists("sandboxes", name) from None
    wake(name)
    ring(name)
    return sandbox


def decisions_to_copy(source: Source, last: int) -> list[Decision]:
    """Return the last decisions up to the cycle ``last``."""
    found = (source.decision(cycle) for cycle in range(max(1, last - DECISIONS_AT_MOST + 1), last + 1))
    return [decision for decision in found if decision]
