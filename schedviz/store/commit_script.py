"""Calls commit.lua: encodes a :class:`Commit` as the script's request, and reads its reply."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from redis import Redis

from schedviz.limit_settings import LIMITS as SETTINGS
from schedviz.metrics.server import COMMIT_SECONDS, COMMITS_REFUSED
from schedviz.store import codec
from schedviz.store.bounds import (
    COMMIT_BYTES,
    DECISIONS_LENGTH,
    JOURNAL_LENGTH,
    LOG_BYTES,
    LOG_LENGTH,
    MAX_CHANGES,
    MAX_OBJECTS,
    MAX_RESOURCES,
    MOVES_LENGTH,
    TRACE_LENGTH,
)
from schedviz.store.commit import Commit
from schedviz.store.errors import (
    CollectionChanged,
    LimitReached,
    NoSandbox,
    Overtaken,
    SandboxExists,
    StaleLease,
)
from schedviz.store.keys import Keys, objects_key
from schedviz.store.scripts import Scripts
from schedviz.store.wall import MICROSECONDS
from schedviz.tracing import trace_part
from simulator.api import ApiError, Change, Reason

LIMITS = {
    "objects": MAX_OBJECTS,
    "nodes": SETTINGS["MAX_NODES_PER_SANDBOX"],
    "pods": SETTINGS["MAX_PODS_PER_SANDBOX"],
    "bytes": SETTINGS["MAX_MEGABYTES_PER_SANDBOX"] * 1_000_000,
    "resources": MAX_RESOURCES,
    "commit_bytes": COMMIT_BYTES,
    "log": LOG_LENGTH,
    "log_bytes": LOG_BYTES,
    "trace": TRACE_LENGTH,
    "decisions": DECISIONS_LENGTH,
    "journal": JOURNAL_LENGTH,
    "moves": MOVES_LENGTH,
}

REASONS: dict[bytes, Reason] = {
    b"NotFound": "NotFound",
    b"AlreadyExists": "AlreadyExists",
    b"Conflict": "Conflict",
}
"""The replies about the precondition of a change."""


WAIT_SECONDS = 0.001
"""The time after which a writer asks again that was told to wait, as the leader alone may write."""


class Committed(NamedTuple):
    """``versions``: the new resourceVersions of the changes, in their order. ``version``: that of the last
    write, by any client. ``holder``: of the lease, "" = no worker. ``reserved``: whether nobody else may
    write now, see :func:`run_commits`."""

    versions: list[int]
    version: int
    holder: str
    reserved: bool = False


class EncodedCommit(NamedTuple):
    commit: Commit
    request: bytes
    """The request as commit.lua reads it."""


def encode_commit(commit: Commit) -> EncodedCommit:
    """Raises LimitReached."""
    _check_changes(commit.changes)
    return EncodedCommit(commit, msgspec.msgpack.encode(_request(commit)))


def run_commit(redis: Redis, scripts: Scripts, name: str, commit: Commit) -> Committed:
    """Store a commit in the sandbox of that name; see :meth:`Sandbox.commit`."""
    return run_commits(redis, scripts, name, [encode_commit(commit)])


def run_commits(
    redis: Redis,
    scripts: Scripts,
    name: str,
    commits: Sequence[EncodedCommit],
    *,
    base: int | None = None,
    reserve: float | None = None,
) -> Committed:
    """Store commits, the first one at least, one after the other, in one call. Those before one that is
    refused are stored.

    base: the version that the sandbox must have; None = any. reserve: for how many seconds nobody else may
    write from now on (0 = not any more). It is granted if the last commit has seen all writes, nobody waits,
    and the sandbox is not nearly full. Raises Overtaken for another version than ``base``, and what
    :meth:`Sandbox.commit` raises."""
    resources = [*dict.fromkeys(change.resource for each in commits for change in each.commit.changes)]
    keys = [*Keys.of(name), *(objects_key(name, resource) for resource in resources)]
    all_of_them: dict[str, Any] = {
        "objects": {resource: number for number, resource in enumerate(resources, len(Keys._fields) + 1)},
        "limits": LIMITS,
    }
    if base is not None:
        all_of_them["base"] = base
    if reserve is not None:
        all_of_them["reserve"] = round(reserve * MICROSECONDS)
    changes = sum(len(each.commit.changes) for each in commits)
    requests = [each.request for each in commits]
    began = time.monotonic()
    with trace_part("commit", sandbox=name, changes=changes):
        while True:
            outcome, *details = scripts.commit(
                keys, [msgspec.msgpack.encode(all_of_them), *requests], client=redis
            )
            if outcome != b"Wait":
                break
            all_of_them["again"] = True
            time.sleep(WAIT_SECONDS)
    COMMIT_SECONDS.labels("leader" if commits[0].commit.lease else "client").observe(time.monotonic() - began)
    if outcome != b"OK":
        COMMITS_REFUSED.labels(outcome.decode()).inc()
        place, number = details
        raise _refusal(name, commits[number - 1].commit, outcome, place)
    version, holder, reserved = details
    return Committed([*range(version - changes + 1, version + 1)], version, holder.decode(), bool(reserved))


def check_creation(changes: Sequence[Change]) -> None:
    """Check whether a new sandbox can have these objects in one commit, before another one is deleted for it.
    Raises LimitReached."""
    _check_changes(changes)
    of_resource = Counter(change.resource for change in changes)
    size = sum(len(codec.object_json(change.object)) for change in changes if change.object)
    counted = (
        (b"TooManyObjects", len(changes), "objects"),
        (b"TooManyNodes", of_resource["nodes"], "nodes"),
        (b"TooManyPods", of_resource["pods"], "pods"),
        (b"TooManyResources", len(of_resource), "resources"),
        (b"TooManyBytesAtOnce", size, "commit_bytes"),
        (b"TooManyBytes", size + min(size, LIMITS["log_bytes"]), "bytes"),
    )
    for outcome, found, limit in counted:
        if 0 < LIMITS[limit] < found:
            raise _refusal("", Commit(changes), outcome, 0)


def _check_changes(changes: Sequence[Change]) -> None:
    if len(changes) > MAX_CHANGES:
        raise LimitReached(
            "MAX_CHANGES", f"one commit may change {MAX_CHANGES:,} objects, not {len(changes):,}"
        )
    last: dict[tuple[str, str], Change] = {}
    for change in changes:
        before = last.get((change.resource, change.key))
        if before and not _may_follow(before, change):
            raise ValueError("a further change of an object in a commit expects what the one before stored")
        last[change.resource, change.key] = change


def _may_follow(before: Change, change: Change) -> bool:
    return change.expected == (0 if before.object is None else None)


def _request(commit: Commit) -> dict[str, Any]:
    """Return the request as commit.lua describes it."""
    request: dict[str, Any] = {
        "unchanged": [*commit.unchanged.items()],
        "changes": [_encode_change(change) for change in commit.changes],
        "trace": [codec.encode(event) for event in commit.trace],
        "decisions": [(decision.cycle, codec.encode(decision)) for decision in commit.decisions],
        "lanes": [(pod, codec.encode(lane) if lane else False) for pod, lane in commit.queue_places.items()],
    }
    if commit.cycle is not None:
        request["cycle"] = commit.cycle
    if commit.version is not None:
        request["version"] = commit.version
    if commit.edits is not None:
        request["edits"] = commit.edits
    if commit.now is not None:
        request["now"] = str(commit.now)  # more digits than a Lua number is printed with
    if commit.seen is not None:
        request["seen"] = commit.seen
    if commit.under_way is not UNSET:
        request["under_way"] = codec.encode(commit.under_way) if commit.under_way else ""
    if commit.journal:
        request["journal"] = codec.encode(commit.journal)
    if commit.pipeline:
        request["pipeline"] = codec.encode(commit.pipeline)
    if commit.reset_queue_places:
        request["reset_lanes"] = True
    if commit.lease:
        request["token"] = commit.lease.epoch
    if commit.meta:
        request["meta"] = codec.encode(commit.meta)
    if commit.create:
        request["create"] = [*(codec.encode(part) for part in commit.create), commit.access]
    return request


def _encode_change(change: Change) -> dict[str, Any]:
    """Return a change as commit.lua reads it; absent fields are nil there."""
    encoded: dict[str, Any] = {"resource": change.resource, "key": change.key}
    if change.expected is not None:
        encoded["expected"] = change.expected
    if change.object is not None:
        encoded["text"] = codec.encode_object(change.object)
    return encoded


def _refusal(name: str, commit: Commit, outcome: bytes, place: int) -> Exception:
    """Return the exception for a reply that is not OK. Nothing of the commit was stored."""
    match outcome:
        case bytes() if outcome in REASONS:
            change = commit.changes[place - 1]
            return ApiError(REASONS[outcome], change.resource, change.key)
        case b"CollectionChanged":
            return CollectionChanged([*commit.unchanged][place - 1])
        case b"StaleLease":
            epoch = commit.lease and commit.lease.epoch
            return StaleLease(f"sandbox {name!r}: the lease of epoch {epoch} is over")
        case b"Overtaken":
            return Overtaken(f"sandbox {name!r} was written by others")
        case b"NoSandbox":
            return NoSandbox(name)
        case b"SandboxExists":
            return SandboxExists(name)
        case b"TooManyObjects":
            return LimitReached("MAX_OBJECTS", f"a sandbox may hold {LIMITS['objects']:,} objects")
        case b"TooManyNodes":
            return LimitReached("MAX_NODES_PER_SANDBOX", f"a sandbox may hold {LIMITS['nodes']:,} nodes")
        case b"TooManyPods":
            return LimitReached("MAX_PODS_PER_SANDBOX", f"a sandbox may hold {LIMITS['pods']:,} pods")
        case b"TooManyBytes":
            most = LIMITS["bytes"] // 1_000_000
            return LimitReached(
                "MAX_MEGABYTES_PER_SANDBOX",
                f"a sandbox may hold {most:,} MB: its objects as JSON, its watch log and its archive",
            )
        case b"TooManyBytesAtOnce":
            most = LIMITS["commit_bytes"] // 1_000_000
            return LimitReached("COMMIT_BYTES", f"one commit may change {most} MB of objects as JSON")
        case b"TooManyResources":
            return LimitReached(
                "MAX_RESOURCES", f"a sandbox may hold {LIMITS['resources']:,} kinds of objects"
            )
    return AssertionError(f"commit: {outcome!r} {place!r}")
