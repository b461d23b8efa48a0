"""Reads the changes of sandboxes since a reader's last read.

Each write of a sandbox (a commit, or a change of its clock, leader or failure) has one number, its revision.
A reader keeps a :class:`Position`. One round trip (``read_changes.lua``) returns everything that was written
after it, as of one revision.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import NoScriptError

from schedviz.store import codec
from schedviz.store.archive import pairs
from schedviz.store.bounds import LOG_LENGTH, MOVES_LENGTH
from schedviz.store.errors import NoSandbox
from schedviz.store.keys import Keys, hold_key
from schedviz.store.model import Lease, LogEntry
from schedviz.store.scripts import Scripts
from schedviz.store.whole_objects import read_objects
from simulator.kernel.prepared_types import prepared

TRACE_READ: Final = 2_000
"""Maximum number of trace events that a reader reads at once, and keeps: about 400 attempts, more than a page
shows."""

BOUNDS: Final = {"log": LOG_LENGTH, "trace": TRACE_READ, "moves": MOVES_LENGTH // 2}
"""The largest number of entries that are read as changes. Beyond it a reader reads the sandbox again (log),
gets only the last events (trace), or gets all queue places (moves)."""

log = logging.getLogger(__name__)

COUNTERS: Final = ("revision", "version", "seq", "move", "cycle")
STORED_VALUES: Final = (
    "clock", "holder", "epoch", "acquired", "renewed", "under_way", "pipeline", "failure", "edits",
    "access",
)  # fmt: skip


class Position(msgspec.Struct, frozen=True):
    """The numbers of the last entries that a reader has read."""

    revision: int = 0
    version: int = 0
    seq: int = 0
    move: int = 0
    cycle: int = 0
    server: int = 0
    """The value of :meth:`schedviz.store.store.Store.starts` at the time of the read."""


class Values(msgspec.Struct, frozen=True):
    """The single values of a sandbox as they are stored: JSON, "" = there is none."""

    clock: str
    lease: Lease | None
    under_way: str
    pipeline: str
    failure: str
    edits: int
    """Number of objects that others than the leader created, changed or deleted."""
    access: str = ""
    """The access record (:mod:`schedviz.access.record`)."""


class Changes(msgspec.Struct, frozen=True):
    """The changes since a position. Only the outcome "changes" has more than the wall time and the
    position."""

    outcome: Literal["same", "gone", "anew", "changes"]
    wall: float
    """Seconds since the Unix epoch, by Redis."""
    position: Position
    """The position of the next read."""
    hold: bytes = b""
    """The hold of a presenter as it is stored (:class:`schedviz.store.hold.Hold`)."""
    log: list[LogEntry] = []
    trace: list[tuple[int, str]] = []
    """The numbers and the JSON of the events; at most the last TRACE_READ."""
    lanes: dict[str, str] | None = None
    """All queue places, if it is not known which of them changed."""
    moved: list[tuple[str, str]] = []
    """The pods whose queue places changed, and the new places; "" = the pod left the queue."""
    decision: str | None = None
    """The newest decision, if it is new."""
    meta: str | None = None
    """The description, if it was written."""
    values: Values | None = None


class Whole(msgspec.Struct, frozen=True):
    """The data that a reader keeps of a sandbox, as of one revision."""

    wall: float
    position: Position
    meta: bytes
    objects: dict[str, dict[str, bytes]]
    """Resource -> key -> ``<resourceVersion> <text>``."""
    lanes: dict[str, bytes]
    trace: list[codec.Entry]
    """The last TRACE_READ trace events, oldest first."""
    decision: bytes | None
    """The newest decision."""
    values: Values
    hold: bytes
    """As in :class:`Changes`."""


class _Reply(msgspec.Struct):
    outcome: Literal["same", "gone", "anew", "changes"]
    wall: str
    hold: str = ""
    position: Position = Position()
    log: list[tuple[str, list[str]]] = []
    trace: list[tuple[str, list[str]]] = []
    lanes: list[str] | None = None
    moved: list[tuple[str, str]] = []
    decision: str | None = None
    meta: str | None = None
    clock: str = ""
    holder: str = ""
    epoch: str = "0"
    acquired: str = "0"
    renewed: str = "0"
    under_way: str = ""
    pipeline: str = ""
    failure: str = ""
    edits: str = "0"
    access: str = ""


_reply_decoder = msgspec.msgpack.Decoder(prepared(_Reply))


def read_changes(redis: Redis, scripts: Scripts, positions: Sequence[tuple[str, Position]]) -> list[Changes]:
    """Return the changes of sandboxes since these positions, in one round trip."""
    script = scripts.read_changes
    while True:
        with redis.pipeline(transaction=False) as pipe:
            for name, position in positions:
                keys = Keys.of(name)
                known = msgspec.structs.asdict(position) | {"bounds": BOUNDS}
                places = (
                    keys.state,
                    keys.log,
                    keys.trace,
                    keys.decisions,
                    keys.lanes,
                    keys.moves,
                    hold_key(name),
                )
                pipe.evalsha(script.sha, len(places), *places, msgspec.msgpack.encode(known))
            replies = pipe.execute(raise_on_error=False)
        if not any(isinstance(reply, NoScriptError) for reply in replies):
            break
        redis.script_load(script.script)
    return [_changes(reply, known) for reply, (_, known) in zip(replies, positions, strict=True)]


def read_whole(redis: Redis, name: str, *, objects: bool = True) -> Whole:
    """Read a whole sandbox, with or without its objects. Raises NoSandbox."""
    keys = Keys.of(name)

    def read(pipe: Pipeline) -> None:
        pipe.time()
        pipe.hmget(keys.state, ["meta", *COUNTERS, *STORED_VALUES])
        pipe.hgetall(keys.lanes)
        pipe.xrevrange(keys.trace, count=TRACE_READ)
        pipe.xrevrange(keys.decisions, count=1)
        pipe.get(hold_key(name))

    _, replies, collections = read_objects(redis, name, "revision", read, None if objects else [])
    time, state, lanes, trace, decisions, hold = replies
    meta, *rest = state
    if meta is None:
        raise NoSandbox(name)
    counters, values = rest[: len(COUNTERS)], rest[len(COUNTERS) :]
    seconds, micros = time
    return Whole(
        wall=seconds + micros / 1_000_000,
        position=Position(*(int(number or 0) for number in counters)),
        meta=meta,
        objects={
            resource: {key.decode(): stored for key, stored in collection.items()}
            for resource, collection in sorted(collections.items())
            if collection
        },
        lanes={pod.decode(): place for pod, place in lanes.items()},
        trace=trace[::-1],
        decision=decisions[0][1][b"decision"] if decisions else None,
        values=_values(dict(zip(STORED_VALUES, ((value or b"").decode() for value in values), strict=True))),
        hold=hold or b"",
    )


def _values(stored: Mapping[str, str]) -> Values:
    lease = None
    if holder := stored["holder"]:
        acquired, renewed = float(stored["acquired"]), float(stored["renewed"])
        lease = Lease(holder, int(stored["epoch"]), acquired, renewed)
    return Values(
        stored["clock"],
        lease,
        stored["under_way"],
        stored["pipeline"],
        stored["failure"],
        int(stored["edits"] or 0),
        stored["access"],
    )


def _changes(data: bytes | Exception, position: Position) -> Changes:
    if isinstance(data, Exception):
        # The stored data is not as the script expects: reading the sandbox again shows the error.
        log.warning("the changes of a sandbox cannot be read: %s", data)
        return Changes("anew", 0.0, position)
    reply = _reply_decoder.decode(data)
    wall, hold = float(reply.wall), reply.hold.encode()
    if reply.outcome != "changes":
        return Changes(reply.outcome, wall, position, hold)
    try:
        written = [_log_entry(entry_id, fields) for entry_id, fields in reply.log]
    except ValueError as error:  # of this sandbox only, as above
        log.warning("the changes of a sandbox cannot be read: %s", error)
        return Changes("anew", wall, position, hold)
    return Changes(
        "changes",
        wall,
        msgspec.structs.replace(reply.position, server=position.server),
        hold,
        log=written,
        trace=[(_number(entry_id), fields[1]) for entry_id, fields in reply.trace],
        lanes=None if reply.lanes is None else dict(pairs(reply.lanes)),
        moved=reply.moved,
        decision=reply.decision,
        meta=reply.meta,
        values=_values({field: getattr(reply, field) for field in STORED_VALUES}),
    )


def _log_entry(entry_id: str, fields: list[str]) -> LogEntry:
    return codec.decode_log_entry(
        (entry_id.encode(), {name.encode(): data.encode() for name, data in pairs(fields)})
    )


def _number(entry_id: str) -> int:
    return int(entry_id.partition("-")[0])
