"""One simulated cluster in Redis: versioned objects, a watch log, a trace, and the lease of who runs it."""

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType
from redis import Redis
from redis.client import Pipeline as RedisPipeline

from schedviz.store import codec
from schedviz.store.archive import Archive, Mark, Stream, entries_of
from schedviz.store.bounds import (
    DECISIONS_LENGTH,
    JOURNAL_LENGTH,
    LOG_LENGTH,
    MAX_CHANGES,
    MAX_OBJECTS,
    MAX_RESOURCES,
    MOVES_LENGTH,
    TRACE_LENGTH,
)
from schedviz.store.changes import TRACE_READ
from schedviz.store.codec import Entries
from schedviz.store.errors import CollectionChanged, Gone, LimitReached, NoSandbox, SandboxExists, StaleLease
from schedviz.store.history import History
from schedviz.store.keys import FAILING, Keys, objects_key
from schedviz.store.mentions import mentions
from schedviz.store.model import Clock, Failure, Lease, Listing, LogEntry, Meta, Renewal
from schedviz.store.scripts import Scripts
from schedviz.store.snapshot import Read, snapshot
from schedviz.store.wall import Wall, seconds_of, wall_time
from simulator.api import ApiError, Change, Manifest, Micros, WatchEvent
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.recording import Entry as JournalEntry
from simulator.trace import Event, LaneEntry

LIMITS = {
    "objects": MAX_OBJECTS,
    "resources": MAX_RESOURCES,
    "log": LOG_LENGTH,
    "trace": TRACE_LENGTH,
    "decisions": DECISIONS_LENGTH,
    "journal": JOURNAL_LENGTH,
    "moves": MOVES_LENGTH,
}

SCANNED = 1000
"""Objects that Redis looks through in one go, in less than a millisecond."""

MAX_NUMBER = 2**63 - 1
"""In a stream: Redis takes no number above 2**64, and a page's path may name any."""


class Sandbox:
    """A handle: it holds no state but the name; any number may exist, in any number of processes."""

    def __init__(self, redis: "Redis", scripts: Scripts, name: str) -> None:
        self.name = name
        self._redis = redis
        self._scripts = scripts
        self._keys = Keys.of(name)
        self.archive = Archive(redis, scripts, name)

    @property
    def sandbox(self) -> "Sandbox":
        """The handle to write to, which a Present and a Past have under the same name."""
        return self

    # Description and time

    def meta(self) -> Meta:
        """Raises Unreadable, as everything does that reads the description or the clock."""
        return codec.decode_meta(self.name, self._state("meta")[0])

    def clock(self) -> Clock:
        return codec.decode_clock(self.name, self._state("clock")[0])

    def wall(self) -> float:
        """Wall seconds since the Unix epoch, by Redis."""
        return wall_time(self._redis)

    def read_clock(self) -> tuple[Clock, float]:
        """The clock, and the wall time at which it was read."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hget(self._keys.state, "clock")
            pipe.time()
            clock, wall = pipe.execute()
        if clock is None:
            raise NoSandbox(self.name)
        return codec.decode_clock(self.name, clock), seconds_of(wall)

    def now(self) -> Micros:
        """Simulated time now. Raises NoSandbox."""
        clock, wall = self.read_clock()
        return clock.now(wall)

    def set_clock(self, clock: Clock, was: Clock | None = None) -> bool:
        """Set the clock; with ``was``, only if it still is that: False when somebody else was there first."""
        known = codec.encode(was) if was else ""
        done = self._scripts.set_clock([self._keys.state], [known, codec.encode(clock)], client=self._redis)
        if done == -1:
            raise NoSandbox(self.name)
        return bool(done)

    # Objects

    def get(self, resource: str, key: str) -> Manifest | None:
        stored = cast("bytes | None", self._redis.hget(objects_key(self.name, resource), key))
        return None if stored is None else codec.decode_object(stored)

    def list(self, resource: str) -> Listing:
        """All objects of a resource at one version: a watch from there misses nothing."""
        version, [stored] = self._snapshot(
            "version", lambda pipe: pipe.hgetall(objects_key(self.name, resource))
        )
        return Listing(items=[codec.decode_object(stored[key]) for key in sorted(stored)], version=version)

    def list_at(self, resource: str, version: int) -> Listing:
        """All objects of a resource as they were at a version: from the watch log and the archive, as far as
        these go back. Raises Gone for a version that is too old, or was never reached."""
        listing = self.list(resource)
        written = int(cast("bytes | None", self._redis.hget(self._keys.versions, resource)) or 0)
        if max(written, self.origin().version) <= version <= listing.version:
            return Listing(listing.items, version)
        return Listing(self.history().collection(resource, version), version)

    def starting_with(self, resource: str, prefix: str) -> builtins.list[Manifest]:
        """The objects whose keys begin so, without reading the others; in no order, at no one version. The
        prefix is of a key's letters: nothing in it is a pattern."""
        found = self._redis.hscan_iter(objects_key(self.name, resource), match=f"{prefix}*", count=SCANNED)
        return [codec.decode_object(stored) for _, stored in cast("Iterable[tuple[bytes, bytes]]", found)]

    def keys_starting_with(self, resource: str, prefix: str) -> Iterator[str]:
        """The keys that begin so, read as they are asked for: the objects may be deleted meanwhile. A key may
        come twice. The prefix is of a key's letters, as above."""
        found = self._redis.hscan_iter(objects_key(self.name, resource), match=f"{prefix}*", count=SCANNED)
        return (key.decode() for key, _ in cast("Iterable[tuple[bytes, bytes]]", found))

    def names(self, resource: str) -> builtins.list[str]:
        """The keys of a resource's objects, without reading these; in no order."""
        keys = self._redis.hkeys(objects_key(self.name, resource))
        return [key.decode() for key in cast("list[bytes]", keys)]

    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]:
        """The objects in whose JSON the text stands as a whole string, at no one version: of 50,000 pods
        the few on a node, without parsing the others."""
        quoted = msgspec.json.encode(text)
        found = self._redis.hscan_iter(objects_key(self.name, resource), count=SCANNED)
        return [
            codec.decode_object(stored)
            for _, stored in cast("Iterable[tuple[bytes, bytes]]", found)
            if quoted in stored
        ]

    def list_all(self) -> tuple[dict[str, dict[str, Manifest]], int]:
        """Every object as resource -> key -> manifest, at one version: what an informer starts from."""
        while True:
            resources = self.resources()

            def read(pipe: RedisPipeline, resources: Sequence[str] = resources) -> None:
                pipe.hkeys(self._keys.versions)
                for resource in resources:
                    pipe.hgetall(objects_key(self.name, resource))

            version, [known, *collections] = self._snapshot("version", read)
            # A resource that was written for the first time in between is seen at the next turn.
            if len(known) == len(resources):
                break
        return {
            resource: {key.decode(): codec.decode_object(stored[key]) for key in sorted(stored)}
            for resource, stored in zip(resources, collections, strict=True)
        }, version

    def count(self, resource: str) -> int:
        """How many objects of a resource there are, without reading them."""
        return self._redis.hlen(objects_key(self.name, resource))

    def size(self) -> int:
        """How many objects there are, of all resources."""
        return int(self._state("objects")[0])

    def resources(self) -> builtins.list[str]:
        """The resources that were ever written here."""
        return sorted(
            resource.decode() for resource in cast("set[bytes]", self._redis.hkeys(self._keys.versions))
        )

    def version(self) -> int:
        """The resourceVersion of the last write."""
        return int(self._state("version")[0])

    def commit(
        self,
        changes: Sequence[Change],
        *,
        token: Lease | None = None,
        unchanged: Mapping[str, int] = {},
        trace: Iterable[Event] = (),
        decisions: Iterable[Decision] = (),
        lanes: Mapping[str, LaneEntry | None] = {},
        reset_lanes: bool = False,
        journal: JournalEntry | None = None,
        under_way: UnderWay | UnsetType | None = UNSET,
        pipeline: Pipeline | None = None,
        now: Micros | None = None,
        seen: int | None = None,
        create: tuple[Meta, Clock] | None = None,
        cycle: int | None = None,
        meta: Meta | None = None,
    ) -> builtins.list[int]:
        """Store everything given, or nothing; the resourceVersions of the changes, in order.

        token: the lease under which the loop writes. unchanged: resource -> version at which the caller read
        that collection. reset_lanes: ``lanes`` are all there are. journal: what led to this commit of the
        loop's. under_way: the cycle that stands between two points, None = there is none any more. now, seen:
        how far the loop has come, in simulated time and in the watch log (these changes included, where
        nothing came between). create: make the sandbox with this (:meth:`Store.create` does).
        cycle: the number of the last scheduling cycle, of a sandbox that goes on where another was.
        meta: its description from now on; whoever leads it loses the lease, and the next leader begins with
        this.

        Raises :class:`ApiError` (NotFound, AlreadyExists, Conflict) for an object's precondition,
        CollectionChanged, StaleLease, NoSandbox, SandboxExists, LimitReached. An object may be in it once, or
        be deleted and then created anew.
        """
        if len(changes) > MAX_CHANGES:
            raise LimitReached(f"one commit may change {MAX_CHANGES:,} objects, not {len(changes):,}")
        last: dict[tuple[str, str], Change] = {}
        for change in changes:
            before = last.get((change.resource, change.key))
            if before and (before.object is not None or change.expected != 0):
                raise ValueError("an object may be in a commit only once, or be deleted and then created")
            last[change.resource, change.key] = change
        keys = [*self._keys]
        positions: dict[str, int] = {}
        for change in changes:
            if change.resource not in positions:
                keys.append(objects_key(self.name, change.resource))
                positions[change.resource] = len(keys)
        reads = [*unchanged.items()]
        request: dict[str, Any] = {
            "unchanged": reads,
            "changes": [_wire_change(change, positions[change.resource]) for change in changes],
            "trace": [codec.encode(event) for event in trace],
            "decisions": [(decision.cycle, codec.encode(decision)) for decision in decisions],
            "lanes": [(pod, codec.encode(lane) if lane else False) for pod, lane in lanes.items()],
            "limits": LIMITS,
        }
        if cycle is not None:
            request["cycle"] = cycle
        if now is not None:
            request["now"] = str(now)  # more digits than a Lua number is printed with
        if seen is not None:
            request["seen"] = seen
        if under_way is not UNSET:
            request["under_way"] = codec.encode(under_way) if under_way else ""
        if journal:
            request["journal"] = codec.encode(journal)
        if pipeline:
            request["pipeline"] = codec.encode(pipeline)
        if reset_lanes:
            request["reset_lanes"] = True
        if token:
            request["token"] = token.epoch
        if meta:
            request["meta"] = codec.encode(meta)
        if create:
            request["create"] = [codec.encode(part) for part in create]
        outcome, *details = self._scripts.commit(keys, [msgspec.msgpack.encode(request)], client=self._redis)
        match outcome:
            case b"OK":
                version: int = details[0]
                return [*range(version - len(changes) + 1, version + 1)]
            case b"NotFound" | b"AlreadyExists" | b"Conflict":
                change = changes[details[0] - 1]
                raise ApiError(outcome.decode(), change.resource, change.key)
            case b"CollectionChanged":
                raise CollectionChanged(reads[details[0] - 1][0])
            case b"StaleLease":
                raise StaleLease(f"sandbox {self.name!r}: the lease of epoch {token and token.epoch} is over")
            case b"NoSandbox":
                raise NoSandbox(self.name)
            case b"SandboxExists":
                raise SandboxExists(self.name)
            case b"TooManyObjects":
                raise LimitReached(f"a sandbox may hold {LIMITS['objects']:,} objects")
            case b"TooManyResources":
                raise LimitReached(f"a sandbox may hold {LIMITS['resources']:,} kinds of objects")
        raise AssertionError(f"commit: {outcome!r} {details!r}")

    # The watch log, the trace, the decisions, the queue

    def events(self, after: int, count: int = 1000) -> builtins.list[WatchEvent]:
        """The watch events after a version, oldest first, at most ``count``. Raises Gone."""
        entries, head = self._read(self._keys.log, "version", after, count)
        check_continuity(entries, after, head)
        return [codec.decode_watch_event(entry) for entry in entries]

    def log(self, after: int, count: int) -> builtins.list[LogEntry]:
        """The same, with the objects as JSON."""
        entries, head = self._read(self._keys.log, "version", after, count)
        check_continuity(entries, after, head)
        return [codec.decode_log_entry(entry) for entry in entries]

    def trace(self, after: int, count: int = 1000) -> builtins.list[tuple[int, Event]]:
        """The trace after a number, oldest first, as (number, event), at most ``count``: from the archive
        where it was trimmed. Raises Gone."""
        entries, head = self._read(self._keys.trace, "seq", after, count)
        try:
            check_continuity(entries, after, head)
        except Gone:
            if after > head:
                raise
            return [*self.history().trace(after, count)]
        return [codec.decode_trace(entry) for entry in entries]

    def trace_tail(self, count: int) -> builtins.list[tuple[int, Event]]:
        """The last ``count`` events, oldest first."""
        entries = cast("Entries", self._redis.xrevrange(self._keys.trace, count=count))
        return [codec.decode_trace(entry) for entry in reversed(entries)]

    def about_pod(self, key: str, count: int = TRACE_READ) -> builtins.list[tuple[int, Event]]:
        """Those of the last ``count`` events that name the pod, oldest first."""
        return [told for told in self._trace_with(key, count) if key in mentions(told[1]).pods]

    def about_node(self, name: str, count: int = TRACE_READ) -> builtins.list[tuple[int, Event]]:
        return [told for told in self._trace_with(name, count) if name in mentions(told[1]).nodes]

    def _trace_with(self, text: str, count: int) -> Iterator[tuple[int, Event]]:
        """Those in whose JSON the text stands as a whole string; the others are not decoded."""
        quoted = msgspec.json.encode(text)
        entries = cast("Entries", self._redis.xrevrange(self._keys.trace, count=count))
        return (codec.decode_trace(entry) for entry in reversed(entries) if quoted in entry[1][b"event"])

    def trace_head(self) -> int:
        """The number of the last trace event."""
        return int(self._state("seq")[0])

    def decision(self, cycle: int) -> Decision | None:
        """What a scheduling cycle decided; None when there was no such cycle, or it is not even in the
        archive any more."""
        entries = self.live("decisions", cycle - 1, cycle)
        return codec.decode_decision(entries[0]) if entries else self.history().decision(cycle)

    def last_decision(self) -> Decision | None:
        entries = cast("Entries", self._redis.xrevrange(self._keys.decisions, count=1))
        return codec.decode_decision(entries[0]) if entries else None

    def under_way(self) -> UnderWay | None:
        """The cycle that steps have left between two of its extension points."""
        (stored,) = self._state("under_way")
        return None if stored == b"0" else codec.decode_under_way(stored)

    def pipeline(self) -> Pipeline | None:
        """What came in by the leader's informer; None before there was a leader."""
        (stored,) = self._state("pipeline")
        return None if stored == b"0" else codec.decode_pipeline(stored)

    def packed(self, stream: Stream, after: int, last: int) -> bytes:
        """What a stream holds from after one number up to another; what was trimmed is not there. As
        MessagePack of XRANGE's reply, to be archived as it is."""
        first, end = (min(max(number, 0), MAX_NUMBER) for number in (after, max(last, after)))
        arguments = ["XRANGE", f"({first}-0", f"{end}-0"]
        return cast(
            "bytes", self._scripts.packed([getattr(self._keys, stream)], arguments, client=self._redis)
        )

    def live(self, stream: Stream, after: int, last: int) -> Entries:
        """The same, unpacked."""
        return entries_of(self.packed(stream, after, last))

    def history(self) -> History:
        """What can be known of the past, as of now."""
        return History(self)

    def mark(self) -> Mark:
        """How far everything has come."""
        return Mark(*(int(value) for value in self._state("version", "seq", "entry", "cycle", "now")))

    def origin(self) -> Mark:
        """How far it had when it was made, empty."""
        version, seq = self._state("origin", "origin_seq")
        return Mark(int(version), int(seq), 0, 0, 0)

    def scan(self, resource: str, cursor: str) -> tuple[bytes, str]:
        """Some of a resource's objects, as MessagePack of HSCAN's reply, and the cursor to go on with; "0"
        begins and ends. What is there all the time comes once at least. No resource: the queue's places."""
        key = objects_key(self.name, resource) if resource else self._keys.lanes
        arguments = ["HSCAN", cursor, "COUNT", str(SCANNED)]
        reply = cast("bytes", self._scripts.packed([key], arguments, client=self._redis))
        following, _ = msgspec.msgpack.decode(reply, type=tuple[str, msgspec.Raw])
        return reply, following

    def lanes(self) -> dict[str, LaneEntry]:
        """Every pod in the scheduling queue, by ``namespace/name``."""
        return self.queue()[0]

    def queue(self) -> tuple[dict[str, LaneEntry], int]:
        """Every pod in the scheduling queue, and the number of the last move."""
        move, [stored] = self._snapshot("move", lambda pipe: pipe.hgetall(self._keys.lanes))
        return {pod.decode(): codec.decode_lane(stored[pod]) for pod in sorted(stored)}, move

    def lane(self, pod: str) -> LaneEntry | None:
        """One pod's place in the scheduling queue."""
        stored = cast("bytes | None", self._redis.hget(self._keys.lanes, pod))
        return codec.decode_lane(stored) if stored else None

    def pending(self) -> int:
        """How many pods are in the scheduling queue, without reading them."""
        return self._redis.hlen(self._keys.lanes)

    # The loop: who leads, how far it has come, whether it failed

    def failure(self) -> Failure | None:
        """How the loop failed; None where it runs, or nobody has tried."""
        (stored,) = self._state("failure")
        return None if stored == b"0" else codec.decode_failure(stored)

    def set_failure(self, failure: Failure | None) -> None:
        """Raises NoSandbox."""
        encoded = codec.encode(failure) if failure else ""
        outcome = self._scripts.set_failure([self._keys.state], [encoded], client=self._redis)
        if outcome == -1:
            raise NoSandbox(self.name)
        # The registry of those that fail is in another slot of a Redis Cluster: it only names them.
        if failure:
            self._redis.sadd(FAILING, self.name)
        elif outcome == 1:
            self._redis.srem(FAILING, self.name)

    def progress(self) -> tuple[int, Micros, int]:
        """How far the loop has come: (version seen, simulated time, last scheduling cycle)."""
        seen, now, cycle = self._state("seen", "now", "cycle")
        return int(seen), int(now), int(cycle)

    def last_cycle(self) -> int:
        """The number of the last scheduling cycle."""
        return int(self._state("cycle")[0])

    def lease(self) -> Lease | None:
        holder, epoch, acquired, renewed = self._state("holder", "epoch", "acquired", "renewed")
        if not holder:
            return None
        return Lease(holder.decode(), int(epoch), float(acquired), float(renewed))

    def take_lease(self, holder: str, over: Lease | None) -> Lease | None:
        """Become the leader after ``over``, the lease last read; None when somebody else was faster."""
        taken = self._lease("take", holder, over)
        return Lease(holder, taken[0], float(taken[1]), float(taken[1])) if taken else None

    def renew_lease(self, lease: Lease) -> Renewal | None:
        """The lease renewed, with what its holder goes on from; None when it is somebody else's now."""
        held = self._lease("renew", lease.holder, lease)
        if not held:
            return None
        _, wall, _, clock, version, breaks = held
        renewed = Lease(lease.holder, lease.epoch, lease.acquired, float(wall))
        known = codec.decode_clock(self.name, clock)
        return Renewal(renewed, known, int(version or 0), int(breaks or 0), Wall(float(wall)))

    def release_lease(self, lease: Lease) -> None:
        self._lease("release", lease.holder, lease)

    def break_watch(self, lease: Lease) -> None:
        """Have the holder list everything anew; nothing happens where the lease is over."""
        self._lease("break", lease.holder, lease)

    def _lease(self, what: str, holder: str, known: Lease | None) -> Sequence[Any]:
        args = [what, known.epoch if known else "", holder]
        return cast("Sequence[Any]", self._scripts.lease([self._keys.state], args, client=self._redis))

    def _snapshot(self, counter: str, read: Read) -> tuple[int, builtins.list[Any]]:
        return snapshot(self._redis, self._keys.state, counter, read)

    def _state(self, *fields: str) -> builtins.list[bytes]:
        """Fields of the state hash (b"0" for a counter not yet set, b"" for no holder). Raises NoSandbox."""
        meta, *values = cast(
            "builtins.list[bytes | None]", self._redis.hmget(self._keys.state, ["meta", *fields])
        )
        if meta is None:
            raise NoSandbox(self.name)
        return [
            value if value is not None else b"" if field == "holder" else b"0"
            for field, value in zip(fields, values, strict=True)
        ]

    def _read(self, stream: str, counter: str, after: int, count: int) -> tuple[Entries, int]:
        if after < 0:
            raise Gone(after)
        entries = cast("Entries", self._redis.xrange(stream, min=f"({after}-0", count=count))
        # Where there is nothing, the number that was asked for may never have been reached.
        head = codec.number(entries[-1][0]) if entries else int(self._state(counter)[0])
        return entries, head


def check_continuity(entries: Sequence[codec.Entry], after: int, head: int) -> None:
    """Raise Gone unless ``entries`` follow ``after`` without a gap (a stream's numbers have none)."""
    if after > head:
        raise Gone(after)
    if entries and (first := codec.number(entries[0][0])) != after + 1:
        raise Gone(after, first - 1)


def _wire_change(change: Change, position: int) -> dict[str, Any]:
    """A change as the commit script reads it; absent fields are nil there."""
    wire: dict[str, Any] = {"objects": position, "resource": change.resource, "key": change.key}
    if change.expected is not None:
        wire["expected"] = change.expected
    if change.object is not None:
        wire["json"] = codec.encode_object(change.object)
    return wire
