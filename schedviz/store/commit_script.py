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
from schedviz.store.errors import CollectionChanged, LimitReached, NoSandbox, SandboxExists, StaleLease
from schedviz.store.keys import Keys, objects_key
from schedviz.store.scripts import Scripts
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


class Committed(NamedTuple):
    """``versions``: the new resourceVersions of the changes, in their order. ``holder``: of the lease, "" =
    no worker."""

    versions: list[int]
    holder: str


def run_commit(redis: Redis, scripts: Scripts, name: str, commit: Commit) -> Committed:
    """Store a commit in the sandbox of that name; see :meth:`Sandbox.commit`."""
    _check_changes(commit.changes)
    resources = [*dict.fromkeys(change.resource for change in commit.changes)]
    keys = [*Keys.of(name), *(objects_key(name, resource) for resource in resources)]
    positions = {resource: len(Keys._fields) + number for number, resource in enumerate(resources, 1)}
    request = msgspec.msgpack.encode(_request(commit, positions))
    began = time.monotonic()
    with trace_part("commit", sandbox=name, changes=len(commit.changes)):
        outcome, *details = scripts.commit(keys, [request], client=redis)
    COMMIT_SECONDS.labels("leader" if commit.lease else "client").observe(time.monotonic() - began)
    if outcome != b"OK":
        COMMITS_REFUSED.labels(outcome.decode()).inc()
        raise _refusal(name, commit, outcome, details)
    version, holder = details
    return Committed([*range(version - len(commit.changes) + 1, version + 1)], holder.decode())


def check_creation(changes: Sequence[Change]) -> None:
    """Check whether a new sandbox can have these objects in one commit, before another one is deleted for it.
    Raises LimitReached."""
    _check_changes(changes)
    of_resource = Counter(change.resource for change in changes)
    size = sum(len(codec.encode_object(change.object)) for change in changes if change.object)
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
            raise _refusal("", Commit(changes), outcome, [])


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


def _request(commit: Commit, positions: dict[str, int]) -> dict[str, Any]:
    """Return the request as commit.lua describes it. positions: resource -> number of its key in KEYS."""
    request: dict[str, Any] = {
        "unchanged": [*commit.unchanged.items()],
        "changes": [_encode_change(change, positions[change.resource]) for change in commit.changes],
        "trace": [codec.encode(event) for event in commit.trace],
        "decisions": [(decision.cycle, codec.encode(decision)) for decision in commit.decisions],
        "lanes": [(pod, codec.encode(lane) if lane else False) for pod, lane in commit.queue_places.items()],
        "limits": LIMITS,
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


def _encode_change(change: Change, position: int) -> dict[str, Any]:
    """Return a change as commit.lua reads it; absent fields are nil there."""
    encoded: dict[str, Any] = {"objects": position, "resource": change.resource, "key": change.key}
    if change.expected is not None:
        encoded["expected"] = change.expected
    if change.object is not None:
        encoded["json"] = codec.encode_object(change.object)
    return encoded


def _refusal(name: str, commit: Commit, outcome: bytes, details: Sequence[int]) -> Exception:
    """Return the exception for a reply that is not OK. Nothing was stored."""
    match outcome:
        case bytes() if outcome in REASONS:
            change = commit.changes[details[0] - 1]
            return ApiError(REASONS[outcome], change.resource, change.key)
        case b"CollectionChanged":
            return CollectionChanged([*commit.unchanged][details[0] - 1])
        case b"StaleLease":
            epoch = commit.lease and commit.lease.epoch
            return StaleLease(f"sandbox {name!r}: the lease of epoch {epoch} is over")
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
    return AssertionError(f"commit: {outcome!r} {details!r}")
