"""Undo: puts a sandbox back to before the last edit, with its trace up to then."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from schedviz.lessons.start import KEPT_SECONDS
from schedviz.lessons.state import State, create_with_state, decisions_to_copy
from schedviz.store import Gone, Meta, Sandbox, Store
from schedviz.store.archive import Mark
from schedviz.store.changes import TRACE_READ
from schedviz.store.history import History
from schedviz.store.keys import PREFIX
from schedviz.store.options_at import with_options_at
from simulator.api import SECOND, Manifest
from simulator.kernel.prepared_types import prepared
from simulator.trace import QueuePlace, SchedulerConfigured

UNDOS_AT_MOST: Final = 20
"""Maximum number of edits that can be undone one after the other."""


READ_AT_MOST: Final = 50_000
"""Number of writes among which edits are looked for, so that a long history is not read whole. Its last
chapter is always read."""
OBJECTS_AT_MOST: Final = 5_000
"""Maximum number of objects of all states together that are stored for further undos: about 10 MiB."""
OF_PROGRAMS: Final = ("leases.coordination.k8s.io", "events", "events.events.k8s.io")
"""Resources that programs write all the time. To write nothing else is no edit that a person would undo."""


How = Literal["ADDED", "MODIFIED", "DELETED"]


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Object(msgspec.Struct):
    """The part of an object that says whether it is to be deleted."""

    metadata: _Metadata


class Wrote(msgspec.Struct, frozen=True):
    """One write of an edit."""

    type: How
    resource: str
    key: str


class _Edit(NamedTuple):
    """One edit: one commit of another writer than the leader, or another scheduler configuration."""

    version: int
    """The last write before it."""
    entry: int
    """The last journal entry before it."""
    objects: int
    """Number of objects that it wrote."""
    writes: tuple[Wrote, ...] = ()
    """What it wrote; empty = another configuration."""

    @property
    def is_undone_alone(self) -> bool:
        """Whether it is an edit that :func:`undo` stops before; others are undone with that before them."""
        return not self.writes or any(each.resource not in OF_PROGRAMS for each in self.writes)


class LastEdit(NamedTuple):
    """The edit that :func:`undo` would undo."""

    token: str
    """Identifies it, so that no other edit is undone that came meanwhile."""
    writes: tuple[Wrote, ...]
    """What it wrote; empty = another configuration of the scheduler."""


class EditedMeanwhile(Exception):
    """Another edit than the expected one is the last one."""


class _Before(msgspec.Struct, frozen=True):
    """The sandbox before an edit."""

    objects: dict[str, dict[str, Manifest]]
    queue_places: dict[str, QueuePlace]
    mark: Mark
    meta: Meta
    edits: int
    """The number of edits before it."""
    events: int
    """The number of trace events before it, among those that the sandbox has."""
    writes: tuple[Wrote, ...] = ()
    """What the edit wrote."""


_decoder: msgspec.msgpack.Decoder[_Before] = msgspec.msgpack.Decoder(prepared(_Before))


def find_last_edit(store: Store, sandbox: Sandbox) -> LastEdit | None:
    """Return the edit that :func:`undo` would undo; None = there is none. Raises Gone."""
    found = [edit for edit in _edits(sandbox.history()) if edit.is_undone_alone]
    if found:
        last = max(found)
        return LastEdit(f"{last.version}-{last.entry}", last.writes)
    key = _key(sandbox)
    with store.redis.pipeline() as pipe:
        pipe.lindex(key, -1)
        pipe.llen(key)
        stored, count = cast("tuple[bytes | None, int]", tuple(pipe.execute()))
    return LastEdit(f"stored-{count}", _decoder.decode(stored).writes) if stored else None


def undo(store: Store, sandbox: Sandbox, expected: str | None = None) -> Sandbox | None:
    """Put a sandbox back to the moment before its last edit, and pause it; further calls undo the edits
    before that, up to UNDOS_AT_MOST. The sandbox is recreated with the same name and the same ``created``,
    so that the learner's progress stays. expected: the token of the edit; None = the last one, whichever it
    is. None = there is no edit to undo. Raises StatusError, Gone, EditedMeanwhile."""
    if expected is not None:
        last = find_last_edit(store, sandbox)
        if last is None or last.token != expected:
            raise EditedMeanwhile
    states = [*_states(sandbox)]
    key = _key(sandbox)
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


def _key(sandbox: Sandbox) -> str:
    """Return the key of the list of earlier states. It begins as the sandbox's, so that it is on its server,
    and ends with the sandbox's ``created``: a later sandbox of this name has none of them."""
    return f"{PREFIX}:{{{sandbox.name}}}:undo:{sandbox.meta().created}"


def _states(sandbox: Sandbox) -> list[_Before]:
    """Return the states before the last edits that the history has, the oldest first."""
    history, meta, edits = sandbox.history(), sandbox.meta(), sandbox.edits()
    trace = sandbox.trace_tail(TRACE_READ)
    found: list[_Before] = []
    before, objects = edits, 0
    for edit in sorted(_edits(history), reverse=True):
        before -= edit.objects
        if not edit.is_undone_alone:
            continue
        try:
            moment = history.at_entry(edit.entry, edit.version)
        except Gone:
            if found:
                break
            raise
        objects += sum(map(len, moment.objects.values()))
        if found and objects > OBJECTS_AT_MOST:
            break
        events = sum(number <= moment.mark.seq for number, _ in trace)
        # Most edits cause an event at once. The time of the last entry can be before the edit, and, after
        # a run at the speed without pace, ahead of it.
        now = trace[events][1].t if events < len(trace) else moment.mark.now
        found.append(
            _Before(
                moment.objects,
                moment.queue_places,
                replace(moment.mark, now=now),
                with_options_at(meta, history, moment.mark.entry),
                before,
                events,
                edit.writes,
            )
        )
        if len(found) == UNDOS_AT_MOST:
            break
    return found[::-1]


def _restore(store: Store, sandbox: Sandbox, before: _Before) -> Sandbox:
    trace = [event for _, event in sandbox.trace_tail(TRACE_READ)][: before.events]
    began = int(before.meta.created) * SECOND
    state = State(
        meta=before.meta,
        now=max(before.mark.now, began, trace[-1].t if trace else 0),
        cycle=before.mark.cycle,
        objects=before.objects,
        queue_places=before.queue_places,
        trace=trace,
        decisions=decisions_to_copy(sandbox, before.mark.cycle),
        edits=before.edits,
    )
    return create_with_state(store, sandbox.name, state, sandbox.clock())


def _edits(history: History) -> Iterator[_Edit]:
    """Yield the edits among the last writes that the history has, in no order. Raises Gone."""
    chapters = history.chapters
    first_read = history.head.version - READ_AT_MOST
    place = next((at for at, each in enumerate(chapters) if each.began.version >= first_read), -1)
    place %= len(chapters)
    written: dict[int, list[Wrote]] = {}
    changed: dict[tuple[int, str, str], int] = {}
    terminating: set[tuple[str, str]] = set()
    for _, fields in history.entries("log", place, history.head.version):
        resource, key = fields[b"resource"].decode(), fields[b"key"].decode()
        how = _how_written(fields, (resource, key) in terminating)
        if how == "DELETED":
            terminating.add((resource, key))
        if fields[b"type"] == b"DELETED":
            terminating.discard((resource, key))
        if b"edit" not in fields:
            continue
        edit = int(fields[b"edit"])
        writes, at = written.setdefault(edit, []), (edit, resource, key)
        # A further change of an object belongs to the one before, as commit.lua counts.
        if at not in changed:
            changed[at] = len(writes)
            writes.append(Wrote(how, resource, key))
        elif how == "DELETED":
            writes[changed[at]] = Wrote(how, resource, key)
        if fields[b"type"] == b"DELETED":
            del changed[at]
    entry = chapters[place].began.entry
    version = chapters[place].began.version
    waiting = sorted(written)
    for each in history.journal(place):
        while waiting and waiting[0] <= each.version:
            first = waiting.pop(0)
            yield _Edit(first - 1, entry, len(written[first]), tuple(written[first]))
        if isinstance(each.ended, SchedulerConfigured):
            yield _Edit(version, entry, 0)
        entry += 1
        version = each.version
    for first in waiting:
        yield _Edit(first - 1, entry, len(written[first]), tuple(written[first]))


def _how_written(fields: Mapping[bytes, bytes], was_terminating: bool) -> How:
    """Return what a write did. An object that waits for its grace period or finalizers is deleted, too."""
    body = fields[b"object"]
    if fields[b"type"] == b"MODIFIED" and not was_terminating and b'"deletionTimestamp"' in body:
        written = msgspec.json.decode(body, type=prepared(_Object))
        return "DELETED" if written.metadata.deletion_timestamp else "MODIFIED"
    how: How = msgspec.convert(fields[b"type"].decode(), prepared(How))
    return how
