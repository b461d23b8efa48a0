"""Undo: puts the sandbox of a lesson back to before the last edit, with its trace up to then."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec.structs import replace

from schedviz.api.branch import creations, with_options_at
from schedviz.loop import ring, wake
from schedviz.store import NoSandbox, Sandbox, Store
from schedviz.store.bounds import MAX_CHANGES
from schedviz.store.changes import TRACE_READ
from schedviz.store.history import History
from schedviz.store.store import CopiedPast
from simulator.api import SECOND
from simulator.apiserver.status import Conflict
from simulator.trace import SchedulerConfigured

DECISIONS_AT_MOST: Final = 200
"""Decisions that are copied: more than a lesson has cycles."""


class _Edit(NamedTuple):
    """One edit: one commit of another writer than the leader, or another scheduler configuration."""

    version: int
    """The last write before it."""
    entry: int
    """The last journal entry before it."""
    objects: int
    """Number of objects that it wrote."""


def undo(store: Store, sandbox: Sandbox) -> Sandbox | None:
    """Put a sandbox back to the moment before its last edit, and pause it. It is created anew with the same
    name and the same ``created``, so that the learner's progress stays. None = there is no edit, or it was
    made before the last undo. The next leader queues the pods again, as each new leader does. Raises
    StatusError, Gone."""
    history = sandbox.history()
    last = max(_edits(history), default=None)
    if last is None:
        return None
    moment = history.at_entry(last.entry, last.version)
    mark, meta = moment.mark, sandbox.meta()
    wall = store.wall()
    began = int(meta.created) * SECOND
    trace = [event for number, event in sandbox.trace_tail(TRACE_READ) if number <= mark.seq]
    past = CopiedPast(
        trace=trace,
        decisions=[
            decision
            for cycle in range(max(1, mark.cycle - DECISIONS_AT_MOST + 1), mark.cycle + 1)
            if (decision := sandbox.decision(cycle))
        ],
        edits=sandbox.edits() - last.objects,
    )
    now = max(mark.now, began, trace[-1].t if trace else 0)
    clock = sandbox.clock().stopped(now, wall)
    restored = with_options_at(meta, history, mark.entry)
    changes = creations(moment.objects)
    if len(changes) > MAX_CHANGES:
        raise Conflict("sandboxes", sandbox.name, f"it has more than {MAX_CHANGES:,} objects")
    with suppress(NoSandbox):
        store.delete(sandbox.name)
    made = store.create(restored, changes, clock, lanes=moment.lanes, after=replace(mark, now=now), past=past)
    wake(made.name)
    ring(made.name)
    return made


def _edits(history: History) -> Iterator[_Edit]:
    """The edits that the history has, in no order. Raises Gone."""
    written: dict[int, int] = {}
    for _, fields in history.entries("log", 0, history.head.version):
        if b"edit" in fields:
            edit = int(fields[b"edit"])
            written[edit] = written.get(edit, 0) + 1
    entry = history.chapters[0].began.entry
    version = history.chapters[0].began.version
    waiting = sorted(written)
    for each in history.journal(0):
        while waiting and waiting[0] <= each.version:
            first = waiting.pop(0)
            yield _Edit(first - 1, entry, written[first])
        if isinstance(each.ended, SchedulerConfigured):
            yield _Edit(version, entry, 0)
        entry += 1
        version = each.version
    for first in waiting:
        yield _Edit(first - 1, entry, written[first])
