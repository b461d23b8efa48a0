"""The writes of a leader that are sent to the store together."""

import time
from collections.abc import Sequence

from schedviz.loop.doorbell import ring
from schedviz.store import Commit, Lease, LimitReached, Overtaken, Sandbox
from schedviz.store.commit_script import EncodedCommit, encode_commit
from simulator.api import ApiError, Change, Reason
from simulator.objects.events import EVENTS

WRITES = 64
"""Maximum number of changes that are sent together. More bring nothing that could be measured."""
CHANGES = 8
"""Maximum number of changes of a commit that waits to be sent: a larger one, or one that creates anything
but Events, may reach a bound of the sandbox."""
BYTES = 1_000_000
"""The size of the commits that wait, as they are sent; the last one may exceed it."""
SECONDS = 0.005
"""The time for which others may not write, so that a click is never late: then all is sent."""
RESERVED_SECONDS = 0.1
"""The time after which others may write although nothing was sent: the worker ended, or got no CPU time."""


class WriteBatch:
    """Stores the commits of a leader, each at once or several together.

    They may wait while the sandbox is reserved for the leader, which is asked for with each call of the
    store. The leader has seen all writes then, so that the versions of its next ones are known, and no
    precondition fails that is not checked here. So it goes on as if they were stored, and the history is the
    same, byte for byte, as with one call for each.

    If they cannot be stored after all (the lease is over, or the reservation is, and another one wrote), the
    leader is to be discarded, as after any failed commit: what was stored is the beginning of its history."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._most = 1
        self._stored = False
        """Whether a commit was stored in this slice. Before that there is nothing that could go together."""
        self._reserved = False
        """Whether the sandbox is reserved: nobody else may write."""
        self._until = 0.0
        """The end of that time."""
        self._base = self._version = 0
        """The version that is stored, and that after the commits that wait. Known while ``_reserved``."""
        self._lease: Lease | None = None
        self._commits: list[EncodedCommit] = []
        self._bytes = 0
        self._written: dict[tuple[str, str], int] = {}
        """The objects that the waiting commits write, with their versions; 0 = deleted."""

    def begin(self, *, together: bool) -> None:
        """Begin a slice. together: whether commits may wait for others, from the second on."""
        self._most, self._stored = WRITES if together else 1, False

    def store(self, commit: Commit) -> list[int]:
        """Store a commit, now or soon, and return the resourceVersions of its changes, in their order. Raises
        what :meth:`Sandbox.commit` raises, and Overtaken."""
        if self._reserved and _may_wait(commit.changes):
            self._check(commit.changes)
            return self._keep(encode_commit(commit))
        if self._commits:
            self.send(go_on=True)
        if self._most == 1:
            versions = self._sandbox.commit(commit)
            ring(self._sandbox.name)
            return versions
        again, self._stored = self._stored, True
        return self._call([encode_commit(commit)], None, go_on=again)

    def send_if_due(self) -> None:
        """Send the commits that wait if they are many, or if others had to wait long enough."""
        late = self._reserved and time.monotonic() >= self._until
        if late or self._bytes >= BYTES or self._version - self._base >= self._most:
            self.send(go_on=bool(self._commits))

    def send(self, *, go_on: bool = False) -> None:
        """Send the commits that wait. go_on: whether further ones may wait. Raises StaleLease, NoSandbox,
        Overtaken."""
        if not self._reserved or (go_on and not self._commits):
            return
        try:
            self._call(self._commits or [encode_commit(Commit(lease=self._lease))], self._base, go_on=go_on)
        except (ApiError, LimitReached) as refusal:
            raise Overtaken(str(refusal)) from refusal

    def _call(self, commits: list[EncodedCommit], base: int | None, *, go_on: bool) -> list[int]:
        """Call the store. It is asked that nobody else may write from then on if commits go on."""
        self._reserved, self._commits, self._bytes = False, [], 0
        self._written.clear()
        self._lease = commits[-1].commit.lease
        reserve = RESERVED_SECONDS if go_on else 0.0
        stored = self._sandbox.commit_together(commits, base=base, reserve=reserve)
        self._reserved, self._until = stored.reserved, time.monotonic() + SECONDS
        self._base = self._version = stored.version
        ring(self._sandbox.name)
        return stored.versions

    def _keep(self, encoded: EncodedCommit) -> list[int]:
        self._commits.append(encoded)
        self._bytes += len(encoded.request)
        first = self._version + 1
        for change in encoded.commit.changes:
            self._version += 1
            self._written[change.resource, change.key] = self._version if change.object is not None else 0
        return [*range(first, self._version + 1)]

    def _check(self, changes: Sequence[Change]) -> None:
        """Check the preconditions about the objects that waiting commits write, as commit.lua does. Raises
        ApiError."""
        first = {(change.resource, change.key): change for change in reversed(changes)}
        for place, change in first.items():
            version = self._written.get(place)
            if version is None:
                continue
            reason: Reason | None = None
            if version == 0:
                reason = None if change.expected == 0 else "NotFound"
            elif change.expected == 0:
                reason = "AlreadyExists"
            elif change.expected not in (None, version):
                reason = "Conflict"
            if reason:
                raise ApiError(reason, *place)


def _may_wait(changes: Sequence[Change]) -> bool:
    return len(changes) <= CHANGES and all(
        change.expected != 0 or change.resource == EVENTS for change in changes
    )
