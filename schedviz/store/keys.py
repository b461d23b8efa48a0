"""The keys in Redis. All keys of a sandbox have the same hash tag, and so one slot of a Redis Cluster."""

from typing import NamedTuple

PREFIX = "schedviz"
REGISTRY = f"{PREFIX}:sandboxes"
"""Set of the names of all sandboxes."""
FAILING = f"{PREFIX}:failing-sandboxes"
"""Set of the names of the sandboxes whose loop failed and has not run since."""

USED = f"{PREFIX}:used"
"""The key of a sorted set: name of a sandbox -> wall seconds of its last use, where sandboxes have a
lifetime."""

SANDBOX_SERVERS = f"{PREFIX}:sandbox-servers"
"""The labels of the servers that have the sandboxes, sorted, with commas between."""

SCHEMA = f"{PREFIX}:schema"
"""The version of the layout of everything here: see schema.py."""
SCHEMA_TARGET = f"{PREFIX}:schema:target"
"""The version to which a process migrates or will migrate; deleted after the migration."""
SCHEMA_LOCK = f"{PREFIX}:schema:lock"
"""The key of the lock that is held by the process that migrates."""

PROBE = f"{PREFIX}:probe"
"""The key that is written to find out whether Redis stores writes."""


class Keys(NamedTuple):
    """The keys of one sandbox."""

    state: str
    """Hash: meta, clock, access (who owns it, and its links), counters (revision, version, seq, cycle, epoch,
    objects, entry, move, edits; bytes, log_bytes and archive_bytes: StoredBytes), the lease, failure, the
    progress of the loop; reserved_until, waiting and waiting_until: who may write (commit.lua); origin and
    origin_seq: version and seq when the sandbox was created; created and described: the revisions at which it
    was created and its meta was last written."""
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
    """Stream ``<number>-0``: the loop's commits, with the inputs before each."""
    moves: str
    """Stream ``<number>-0``: the pods whose places in the queue changed."""
    chapters: str
    """Hash: number -> JSON of a chapter of the archive."""
    pages: str
    """Hash: ``<chapter>:<page>`` -> compressed page."""

    @classmethod
    def of(cls, name: str) -> "Keys":
        return cls(*(f"{PREFIX}:{{{name}}}:{field}" for field in cls._fields))


def hold_key(name: str) -> str:
    """Return the key of a string: the hold of a presenter (:class:`schedviz.store.hold.Hold`)."""
    return f"{PREFIX}:{{{name}}}:hold"


def objects_key(name: str, resource: str) -> str:
    """Return the key of a hash: object key -> ``<resourceVersion> <text>``. Each resource has one, so that a
    list of pods reads no nodes."""
    return f"{PREFIX}:{{{name}}}:objects:{resource}"
