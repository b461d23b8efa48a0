"""Restores past moments of a sandbox from the chapters of its archive and, after the last one, the
streams."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from schedviz.store import codec
from schedviz.store.archive import Mark
from schedviz.store.chapters import Chapters, Numbered
from schedviz.store.errors import Gone
from simulator import trace
from simulator.api import Manifest
from simulator.decision import Decision
from simulator.framework.cluster_event import QUEUE_RESTORED
from simulator.recording import Entry
from simulator.trace import QueuePlace

TAIL = 200
"""Number of trace events of a moment by default: as many as the log of a page shows."""


class Moment(NamedTuple):
    """The state of a sandbox at a past moment."""

    mark: Mark
    """The numbers of the last write, trace event, journal entry and decision (0 = none yet), and the
    simulated time."""
    objects: dict[str, dict[str, Manifest]]
    """Resource -> key -> manifest, without empty resources."""
    queue_places: dict[str, QueuePlace]
    """Pod -> its place in the queue."""
    trace: list[Numbered]
    """The last events, oldest first."""
    decision: Decision | None
    """The last decision; None = there was none, or it is not stored any more."""


class Reach(NamedTuple):
    """The first and the last moment that can be restored. Moments in between are missing if the watch log was
    trimmed before it was archived."""

    first: Mark
    last: Mark


class History(Chapters):
    """The moments that the chapters and streams have. To be used for one request, as these."""

    def reach(self) -> Reach | None:
        """Return the first and the last moment that can be restored; None = there is none."""
        first = next((chapter.began for chapter in self.chapters if chapter.snapshot), None)
        return Reach(first, self.head) if first else None

    # Moments

    def at_seq(self, seq: int, tail: int = TAIL) -> Moment:
        """Return the moment of the trace event ``seq``. If it is the last event of its commit, the moment is
        after the commit's writes; otherwise before them. Raises Gone."""
        if not self.chapters[0].began.seq <= seq <= self.head.seq:
            raise Gone(seq)
        place = self._place("trace", max(seq - 1, self.chapters[0].began.seq))
        mark, begun = self.chapters[place].began, None
        for entry in self.journal(place):
            if mark.seq >= seq:
                break
            if entry.seq > seq:
                begun = mark.seq, entry
                mark = replace(mark, version=max(mark.version, entry.version - entry.changes), seq=seq)
            else:
                mark = _mark(entry, mark)
        moment = self._moment(place, mark, tail)
        if begun is not None:
            moves = self.trace(begun[0], seq - begun[0])
            moment = moment._replace(
                queue_places=move_queue_places(moment.queue_places, moves, begun[1].lanes)
            )
        return moment._replace(mark=replace(mark, now=moment.trace[-1][1].t)) if moment.trace else moment

    def at_entry(self, entry: int, version: int) -> Moment:
        """Return the moment after journal entry ``entry`` and the write ``version``, which is not before the
        entry's. Raises Gone."""
        place = self._place("journal", entry)
        mark = self.chapters[place].began
        for each in self.journal(place):
            if mark.entry == entry:
                break
            mark = _mark(each, mark)
        return self._moment(place, replace(mark, version=version), TAIL)

    def collection(self, resource: str, version: int) -> list[Manifest]:
        """Return the objects of one resource at the moment at which ``version`` was the last write, sorted by
        key. Raises Gone if it is too old, or was never reached."""
        if version > self.head.version:
            raise Gone(version)
        base = self._base(self._place("log", version), version)
        stored = self._stored(base, version, resource).get(resource, {})
        return [codec.with_version(body, written) for _, (written, body) in sorted(stored.items())]

    def _base(self, place: int, version: int) -> int:
        """Return the index of the last chapter, up to ``place``, that has a snapshot. Raises Gone."""
        for each in range(place, -1, -1):
            if self.chapters[each].snapshot:
                return each
        raise Gone(version)

    def _moment(self, place: int, mark: Mark, tail: int) -> Moment:
        base = self._base(place, mark.version)
        return Moment(
            mark,
            self._objects(base, mark.version),
            self._queue_places(base, mark.entry),
            self.tail(mark.seq, tail),
            self.decision(mark.cycle),
        )

    def _objects(self, base: int, version: int) -> dict[str, dict[str, Manifest]]:
        return {
            resource: {
                key: codec.with_version(body, written) for key, (written, body) in sorted(objects.items())
            }
            for resource, objects in sorted(self._stored(base, version).items())
            if objects
        }

    def _stored(
        self, base: int, version: int, only: str | None = None
    ) -> dict[str, dict[str, tuple[int, bytes]]]:
        """Return a mapping: resource -> key -> (version of the last write, JSON), from the snapshot of
        chapter ``base`` and the log after it. only: a resource; None = all."""
        stored: dict[str, dict[str, tuple[int, bytes]]] = {}
        for (resource, key), data in self.snapshot(base, "objects").items():
            if only in (None, resource):
                written, _, body = data.partition(b" ")
                stored.setdefault(resource, {})[key] = int(written), body
        for number, fields in self.entries("log", base, version):
            resource, key = fields[b"resource"].decode(), fields[b"key"].decode()
            if only not in (None, resource):
                continue
            objects = stored.setdefault(resource, {})
            if fields[b"type"] == b"DELETED":
                objects.pop(key, None)
            else:
                objects[key] = number, fields[b"object"]
        return stored

    def _queue_places(self, base: int, entry: int) -> dict[str, QueuePlace]:
        if entry == 0:
            return self._first_queue_places(base)
        lanes = {
            pod: codec.decode_queue_place(data) for (_, pod), data in self.snapshot(base, "lanes").items()
        }
        for number, fields in self.entries("journal", base, entry):
            commit = codec.decode_journal((b"%d-0" % number, fields))
            if commit.began:
                lanes = {}
            for pod, lane in commit.lanes.items():
                if lane:
                    lanes[pod] = lane
                else:
                    lanes.pop(pod, None)
        return dict(sorted(lanes.items()))

    def _first_queue_places(self, base: int) -> dict[str, QueuePlace]:
        """Return the places before the first leader, which it continues."""
        first = next(self.journal(base), None)
        if first is None:
            return self._sandbox.queue_places()
        return {place.pod: place for place in (first.began and first.began.queue) or ()}


def move_queue_places(
    lanes: Mapping[str, QueuePlace], events: Iterable[Numbered], after: Mapping[str, QueuePlace | None]
) -> dict[str, QueuePlace]:
    """Return the places in the queue after the first events of a commit.

    lanes: the places before the commit. after: those that it changed, which have what the events do not say
    of pods that enter the queue. A pod that enters and leaves it within the commit has no place in between.
    """
    found = dict(lanes)
    for _, event in events:
        match event:
            case trace.LeaderElected():
                found = {}  # its queue is empty until it has listed the pods
            case trace.QueueMoved(target=""):
                found.pop(event.pod, None)
            case trace.QueueMoved(target=target, t=time):
                own = found.get(event.pod) if event.source else None
                last = after.get(event.pod)
                kept = event.event == QUEUE_RESTORED
                if last is not None and last.lane == target and (kept or last.since == time):
                    found[event.pod] = last
                elif place := own or last:
                    until = event.backoff_until
                    found[event.pod] = replace(
                        place, lane=target, since=time, backoff_until=until, wait_until=None
                    )
            case trace.CycleStarted() if event.pod in found:
                found[event.pod] = replace(found[event.pod], attempts=event.attempt)
            case _:
                pass
    return dict(sorted(found.items()))


def _mark(entry: Entry, before: Mark) -> Mark:
    return Mark(entry.version, entry.seq, before.entry + 1, entry.cycle, entry.now)
