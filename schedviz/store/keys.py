"""Where things lie in Redis. All keys of a sandbox share a hash tag: one slot of a Redis Cluster."""

from typing import NamedTuple

PREFIX = "schedviz"
REGISTRY = f"{PREFIX}:sandboxes"
"""Set of the names of all sandboxes."""


class Keys(NamedTuple):
    state: str
    """Hash: meta, clock, counters (version, seq, cycle, epoch, objects, entry, move), lease, how far the loop
    has come; origin and origin_seq: the counters when it was made."""
    versions: str
    """Hash: resource -> version of the last write in that collection."""
    log: str
    """Stream ``<version>-0``: the watch log."""
    trace: str
    """Stream ``<seq>-0``."""
    decisions: str
    """Stream ``<cycle>-0``."""
    lanes: str
    """Hash: pod -> its place in the scheduling queue."""
    journal: str
    """Stream ``<number>-0``: the loop's commits, with what led to them."""
    moves: str
    """Stream ``<number>-0``: which pods' places in the queue changed."""
    chapters: str
    """Hash: number -> what is in this chapter of the archive."""
    pages: str
    """Hash: ``<chapter>:<page>`` -> packed."""

    @classmethod
    def of(cls, name: str) -> "Keys":
        return cls(*(f"{PREFIX}:{{{name}}}:{field}" for field in cls._fields))


def objects_key(name: str, resource: str) -> str:
    """Hash: object key -> ``<resourceVersion> <JSON>``. One a resource: a list of pods reads no nodes."""
    return f"{PREFIX}:{{{name}}}:objects:{resource}"
