"""One simulated cluster in Redis."""

from collections.abc import Sequence
from typing import cast

from schedviz.store import codec
from schedviz.store.access_control import AccessControl
from schedviz.store.clock_control import ClockControl
from schedviz.store.commit import Commit
from schedviz.store.commit_script import Committed, EncodedCommit, run_commit, run_commits
from schedviz.store.errors import Gone
from schedviz.store.history import History
from schedviz.store.lease_control import LeaseControl
from schedviz.store.loop_state import LoopState
from schedviz.store.model import Listing, Meta
from schedviz.store.objects import ObjectReader
from schedviz.store.streams import StreamReader, check_continuity
from simulator.decision import Decision
from simulator.trace import Event


class Sandbox(ObjectReader, StreamReader, LoopState, LeaseControl, ClockControl, AccessControl):
    """Reads and writes a sandbox. The base classes read its current state; the methods here write it, or also
    read its history."""

    @property
    def sandbox(self) -> "Sandbox":
        """The handle to write to, which a Present and a Past have under the same name."""
        return self

    def meta(self) -> Meta:
        """Return the description of the sandbox. Raises NoSandbox, Unreadable."""
        return codec.decode_meta(self.name, self._state("meta")[0])

    def stands_down(self) -> bool:
        """Whether its scheduler leaves all pods to outside schedulers."""
        return self.meta().stands_down

    def commit(self, commit: Commit) -> list[int]:
        """Store all of the commit or nothing, and return the resourceVersions of its changes, in their order.

        Raises :class:`ApiError` (NotFound, AlreadyExists, Conflict) for the precondition of a change,
        CollectionChanged, StaleLease, NoSandbox, SandboxExists, LimitReached.
        """
        return self.commit_with_holder(commit).versions

    def commit_with_holder(self, commit: Commit) -> Committed:
        """Store all of the commit or nothing, as :meth:`commit` does. Return also the holder of the lease,
        whom the caller wakes."""
        return run_commit(self._redis, self._scripts, self.name, commit)

    def commit_together(
        self, commits: Sequence[EncodedCommit], *, base: int | None, reserve: float
    ) -> Committed:
        """Store the commits of a leader one after the other, in one call; see :func:`run_commits`."""
        return run_commits(self._redis, self._scripts, self.name, commits, base=base, reserve=reserve)

    def history(self) -> History:
        """Return the history as it is stored now."""
        return History(self)

    def list_at(self, resource: str, version: int) -> Listing:
        """Return all objects of a resource as they were at a version. Raises Gone if the version is too old,
        or was never reached."""
        listing = self.list(resource)
        written = int(cast("bytes | None", self._redis.hget(self._keys.versions, resource)) or 0)
        if max(written, self.origin().version) <= version <= listing.version:
            return Listing(listing.items, version)
        return Listing(self.history().collection(resource, version), version)

    def trace(self, after: int, count: int = 1000) -> list[tuple[int, Event]]:
        """Return the trace events after a number, with their numbers, oldest first, at most ``count``. Events
        that the stream no longer has are read from the archive. Raises Gone."""
        entries, head = self._entries_after(self._keys.trace, "seq", after, count)
        try:
            check_continuity(entries, after, head)
        except Gone:
            if after > head:
                raise
            return [*self.history().trace(after, count)]
        return [codec.decode_trace(entry) for entry in entries]

    def decision(self, cycle: int) -> Decision | None:
        """Return the decision of a cycle; None = there was none, or it is not stored any more."""
        entries = self.live("decisions", cycle - 1, cycle)
        return codec.decode_decision(entries[0]) if entries else self.history().decision(cycle)
