"""How much of everything one Redis may be asked to hold, each number with its reason."""

MAX_SANDBOXES = 500
"""A workshop needs some 200; beyond 500 a small box is out of memory."""

MAX_OBJECTS = 60_000
"""Per sandbox: the largest cluster of upstream's scheduler_perf (5,000 nodes, 50,000 pods), with room."""

MAX_RESOURCES = 500
"""Distinct kinds a sandbox; a cluster full of operators has some 300."""

MAX_OBJECT_BYTES = 1_500_000
"""One object as JSON: etcd's own limit on a request is 1.5 MiB."""

MAX_CHANGES = 10_000
"""Objects in one commit: the Lua call blocks Redis for some 10 µs each, so a tenth of a second."""

LOG_LENGTH = 4_000
"""Watch events kept a sandbox, about 8 MB of 2 kB pods. Who is further behind lists anew (410 Gone)."""

TRACE_LENGTH = 10_000
"""Trace events kept a sandbox, about 2 MB: an hour of a busy demo."""

DECISIONS_LENGTH = 200
"""Scheduling cycles kept whole. A cycle over 5,000 nodes is some 50 kB, so 10 MB at worst."""

JOURNAL_LENGTH = 10_000
"""Commits of the loop whose inputs are kept, about 3 MB; each has a write or a trace event, so that they
reach as far back as these do."""

MOVES_LENGTH = 4_000
"""Moves of the queue kept a sandbox, 60 bytes each. Who is further behind reads the whole queue."""

CHAPTER_WRITES = 1_000
CHAPTER_DECISIONS = 100
CHAPTER_ENTRIES = 2_500
"""A chapter of the archive is over when the log, the decisions, or the trace or the journal have grown by so
much: long before any of them is trimmed."""

SNAPSHOT_SHARE = 4
"""A snapshot is not taken before a quarter as many writes as there are objects: so it costs at most four
times what its chapters do, and a past moment is at most that many writes away from one."""

CHAPTER_NODES = 100_000
"""The decisions of a chapter are archived if they looked at no more nodes than this in all: at 5,000 nodes
each has some 25 kB packed, and the archive would hold fewer of them than the stream does."""

ARCHIVE_BYTES = 8_000_000
"""Of a sandbox's archive; more only if its newest snapshot is larger, of some 50,000 pods. A busy demo of 100
nodes fills it with some 40,000 writes, and 200 of them are 1.6 GB."""

TOMBSTONE_SECONDS = 24 * 3600
"""How long the counters of a deleted sandbox are kept, so that one of the same name counts on from there and
nobody takes its versions for the old one's. A day: no watcher or worker sits on a version for longer."""
