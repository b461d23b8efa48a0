"""Undo: puts the sandbox of a lesson back to before the last edit, with its trace up to then."""

from collections.abc import Iterator
from typing import Final, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from schedviz.api.branch import with_options_at
from schedviz.lessons.start import KEPT_SECONDS
from schedviz.lessons.state import State, create_with_state, decisions_to_copy
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.archive import Mark
from schedviz.store.changes import TRACE_READ
from schedviz.store.history import History
from schedviz.store.keys import PREFIX
from simulator.api import SECOND, Manifest
from simulator.trace import LaneEntry, SchedulerConfigured

UNDOS_AT_MOST: Final = 20
"""Maximum number of edits that can be undone one after the other."""


class _Edit(NamedTuple):
    """One edit: one commit of another writer than the leader, or another scheduler configuration."""

    version: int
    """The last write before it."""
    entry: int
    """The last journal entry before it."""
    objects: int
    """Number of objects that it wrote."""


class _Before(msgspec.Struct, frozen=True):
    """The sandbox before an edit."""

    objects: dict[str, dict[str, Manifest]]
    lanes: dict[str, LaneEntry]
    mark: Mark
    meta: Meta
    edits: int
    """The number of edits before it."""
    events: int
    """The number of trace events before it, among those that the sandbox has."""


_decoder: msgspec.msgpack.Decoder[_Before] = msgspec.msgpack.Decoder(_Before)


def undo(store: Store, sandbox: Sandbox) -> Sandbox | None:
    """Put a sandbox back to the moment before its last edit, and pause it; further calls undo the edits
    before that, up to UNDOS_AT_MOST. The sandbox is recreated with the same name and the same ``created``,
    so that the learner's progress stays. None = there is no edit to undo. The next leader queues the pods
    again, as each new leader does. Raises StatusError, Gone."""
    states = [*_states(sandbox)]
    key = f"{PREFIX}:{{{sandbox.name}}}:undo:{sandbox.meta().created}"
    if not states:
        earlier = cast("bytes | None", store.redis.rpop(key))
        return _restore(store, sandbox, _decoder.decode(earlier)) if earlier else None
    restored = _restore(store, sandbox, states.pop())
    if states:
        with store.redis.pipeline() as pipe:
            pipe.rpush(key, *(msgspec.msgpack.encode(state) for state in states))
            pipe.ltrim(key, -UNDOS_AT_MOST, -1)
            pipe.expire(key, KEPT_SECONDS)
            pipe.execute()
    return restored


def _states(sandbox: Sandbox) -> Iterator[_Before]:
    """Yield the states before the last edits that the history has, the oldest first."""
    history, meta, edits = sandbox.history(), sandbox.meta(), sandbox.edits()
    trace = sandbox.trace_tail(TRACE_READ)
    found = sorted(_edits(history))
    before = edits - sum(edit.objects for edit in found)
    for edit in found:
        if edit in found[-UNDOS_AT_MOST:]:
            moment = history.at_entry(edit.entry, edit.version)
            events = sum(number <= moment.mark.seq for number, _ in trace)
            # Most edits cause an event at once. The time of the last entry can be before the edit, and, after
            # a run at the speed without pace, ahead of it.
            now = trace[events][1].t if events < len(trace) else moment.mark.now
            yield _Before(
                moment.objects,
                moment.lanes,
                replace(moment.mark, now=now),
                with_options_at(meta, history, moment.mark.entry),
                before,
                events,
            )
        before += edit.objects


def _restore(store: Store, sandbox: Sandbox, before: _Before) -> Sandbox:
    trace = [event for _, event in sandbox.trace_tail(TRACE_READ)][: before.events]
    began = int(before.meta.created) * SECOND
    state = State(
        meta=before.meta,
        now=max(before.mark.now, began, trace[-1].t if trace else 0),
        cycle=before.mark.cycle,
        objects=before.objects,
        lanes=before.lanes,
        trace=trace,
        decisions=decisions_to_copy(sandbox, before.mark.cycle),
        edits=before.edits,
    )
    return create_with_state(store, sandbox.name, state, sandbox.clock())


def _edits(history: History) -> Iterator[_Edit]:
    """Yield the edits that the history has, in no order. Raises Gone."""
    written: dict[int, int] = {}
    changed: set[tuple[int, bytes, bytes]] = set()
    for _, fields in history.entries("log", 0, history.head.version):
        if b"edit" in fields:
            edit = int(fields[b"edit"])
            place = edit, fields[b"resource"], fields[b"key"]
            # A further change of an object belongs to the one before, as commit.lua counts.
            if place not in changed:
                written[edit] = written.get(edit, 0) + 1
            if fields[b"type"] == b"DELETED":
                changed.discard(place)
            else:
                changed.add(place)
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
