"""The bounds of everything that is stored in Redis, each with its reason."""

from schedviz.limit_settings import LIMITS

MAX_SANDBOXES = LIMITS["MAX_SANDBOXES"] or 100_000
"""A setting, as memory is."""

MAX_OBJECTS = 100_000
"""Maximum number of objects of a sandbox: more than a cluster of 5,000 nodes and 50,000 pods has, with
their owners, CSINodes and the Events of an hour. The bytes are bounded, too."""

MAX_RESOURCES = 500
"""Maximum number of resources (kinds of objects) of a sandbox; a cluster with many operators has about
300."""


MAX_CHANGES = 10_000
"""Maximum number of objects of one commit: the Lua script blocks Redis for about 10 µs each, a tenth of a
second in all."""

COMMIT_BYTES = 16_000_000
"""Maximum size of the objects that one commit writes or deletes, as JSON: it blocks Redis for about a tenth
of a second. Writers divide what may be larger (:mod:`schedviz.store.parts`)."""

LOG_LENGTH = 4_000
LOG_BYTES = 8_000_000
"""Maximum number of watch events of a sandbox, and their maximum size: that of 4,000 pods of 2 kB, as no
reader reads more at once. A watch that is further behind gets 410 Gone and must list again."""

TRACE_LENGTH = 10_000
"""Maximum number of trace events of a sandbox, about 2 MB: an hour of a busy demo."""

DECISIONS_LENGTH = 200
"""Maximum number of decisions of a sandbox. One over 5,000 nodes has about 50 kB, so all have at most 10
MB."""

JOURNAL_LENGTH = 10_000
"""Maximum number of journal entries of a sandbox that no leader archives. Each belongs to at least one write
or trace event, so the journal reaches as far back as the log and the trace. With a leader, the stream has the
open chapter and the one before it: about 0.3 MB."""

MOVES_LENGTH = 4_000
"""Maximum number of queue moves of a sandbox that are kept, 60 bytes each. A reader that is further behind
reads the whole queue."""

CHAPTER_BYTES = LOG_BYTES // 2
"""Size of the writes, as JSON, at which a chapter of the archive is full: before the log is trimmed. A
chapter whose log has a gap is followed by one with a snapshot, which takes seconds for a large sandbox."""

CHAPTER_WRITES = 1_000
CHAPTER_DECISIONS = 100
CHAPTER_ENTRIES = 2_500
"""Number of writes, decisions, or entries of the trace or of the journal, at which a chapter of the archive
is full: long before any of these streams is trimmed."""

SNAPSHOT_DISTANCE = 2_000
SNAPSHOT_SHARE = 4
"""A snapshot is taken after 2,000 writes, or a quarter as many as there are objects where this is more. So
snapshots need at most four times the space of the chapters, and a past moment is at most so many writes after
a snapshot."""

CHAPTER_NODES = 100_000
"""Number of nodes in all up to which the decisions of a chapter are archived. With 5,000 different nodes each
decision has tens of kilobytes compressed, and the archive would have fewer of them than the stream."""

ARCHIVE_BYTES = 4_000_000
"""Maximum size of the archive of a sandbox. It is exceeded only if the newest snapshot is larger (some 50,000
pods). A busy demo of 100 nodes fills it with about 30,000 writes; the archives of 200 such sandboxes have 0.8
GB."""

TOMBSTONE_SECONDS = 24 * 3600
"""Seconds for which the counters of a deleted sandbox are kept. A new sandbox of the same name continues
them, so that no client takes a version of the new one for one of the old one. No watch or worker keeps a
version for longer than a day."""
