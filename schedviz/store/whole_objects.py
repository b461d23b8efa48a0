"""Reads all objects of some resources as of one moment, in parts, so that no command holds Redis for long."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from redis import Redis
from redis.client import Pipeline

from schedviz.store import codec
from schedviz.store.codec import Entries
from schedviz.store.keys import Keys, objects_key
from schedviz.store.snapshot import Read, snapshot
from simulator.kernel.parts import PART_BYTES

SCANNED: Final = 1000
"""Entries of a hash that Redis looks through in one call at most, which takes less than a millisecond."""
SCANNED_FIRST: Final = 10
"""The same of the first call: the size of the objects is not known yet."""
TRIES: Final = 3
"""Times that a large sandbox is read in parts. If its log is trimmed each time before the end, it is read at
once: 128 MB hold Redis for a tenth of a second."""

Stored = dict[str, dict[bytes, bytes]]
"""Resource -> key -> ``<resourceVersion> <text>``."""


def read_objects(
    redis: Redis, name: str, counter: str, read: Read, resources: Sequence[str] | None = None
) -> tuple[int, list[Any], Stored]:
    """Return the value of a counter, the replies to ``read``, and the objects of the resources (None = of
    all), as of one moment, as :func:`snapshot` does.

    Of a sandbox of at most PART_BYTES all is read at once. Otherwise the objects are read in parts; what is
    written meanwhile is in the watch log, which is read with the rest."""
    keys = Keys.of(name)
    for _ in range(TRIES):
        with redis.pipeline(transaction=False) as pipe:
            pipe.hmget(keys.state, "bytes", "version")
            pipe.hkeys(keys.versions)
            (size, version), known = pipe.execute()
        wanted = [each.decode() for each in known] if resources is None else resources
        if not wanted or int(size or 0) <= PART_BYTES:
            break
        objects: Stored = {resource: dict(scan_objects(redis, name, resource)) for resource in wanted}
        seen = int(version or 0)

        def read_with_log(pipe: Pipeline, seen: int = seen) -> None:
            pipe.hmget(keys.state, "meta", "version")
            pipe.xrange(keys.log, min=f"({seen}-0")
            read(pipe)

        number, [(meta, head), log, *replies] = snapshot(redis, keys.state, counter, read_with_log)
        if meta is not None and int(head or 0) - seen == len(log):
            _write_over(objects, log, resources)
            return number, replies, objects
    return _read_at_once(redis, name, counter, read, resources)


def scan_objects(
    redis: Redis, name: str, resource: str, pattern: str | None = None
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the objects whose keys match the pattern, with what is stored there. A key may come twice."""
    cursor, count = 0, min(SCANNED_FIRST, SCANNED)
    while True:
        cursor, found = redis.hscan(objects_key(name, resource), cursor, match=pattern, count=count)
        stored = cast("dict[bytes, bytes]", found)
        yield from stored.items()
        if not cursor:
            return
        count = next_count(count, sum(len(each) for each in stored.values()))


def next_count(count: int, size: int) -> int:
    """Return how many entries the next call of a scan looks through, after one of ``count`` whose reply had
    ``size`` bytes: as many as have PART_BYTES, and at most ten times as many."""
    return max(1, min(SCANNED, 10 * count, count * PART_BYTES // max(1, size)))


def _write_over(objects: Stored, log: Entries, resources: Sequence[str] | None) -> None:
    for entry_id, fields in log:
        resource = fields[b"resource"].decode()
        if resources is not None and resource not in resources:
            continue
        collection = objects.setdefault(resource, {})
        if fields[b"type"] == b"DELETED":
            collection.pop(fields[b"key"], None)
        else:
            collection[fields[b"key"]] = b"%d %s" % (codec.number(entry_id), fields[b"object"])


def _read_at_once(
    redis: Redis, name: str, counter: str, read: Read, resources: Sequence[str] | None
) -> tuple[int, list[Any], Stored]:
    keys = Keys.of(name)
    while True:
        stored = cast("list[bytes]", redis.hkeys(keys.versions)) if resources is None else []
        wanted = [each.decode() for each in stored] if resources is None else resources

        def read_all(pipe: Pipeline, wanted: Sequence[str] = wanted) -> None:
            pipe.hkeys(keys.versions)
            for resource in wanted:
                pipe.hgetall(objects_key(name, resource))
            read(pipe)

        number, [known, *replies] = snapshot(redis, keys.state, counter, read_all)
        # If a resource was written for the first time in between, read again.
        if resources is not None or len(known) == len(wanted):
            collections = replies[: len(wanted)]
            return number, replies[len(wanted) :], dict(zip(wanted, collections, strict=True))
