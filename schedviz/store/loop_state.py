"""Reads and sets what a sandbox's loop stores beside objects and streams: progress, failure."""

from schedviz.store import codec
from schedviz.store.handle import SandboxHandle
from schedviz.store.keys import FAILING
from schedviz.store.model import Failure, Lease
from simulator.api import Micros
from simulator.client.informer import Pipeline
from simulator.decision import UnderWay


class LoopState(SandboxHandle):
    def under_way(self) -> UnderWay | None:
        """Return the cycle that stands between two of its points; None = no cycle does."""
        (stored,) = self._state("under_way")
        return None if stored == b"0" else codec.decode_under_way(stored)

    def pipeline(self) -> Pipeline | None:
        """Return the state of the leader's informer; None before the first leader."""
        (stored,) = self._state("pipeline")
        return None if stored == b"0" else codec.decode_pipeline(stored)

    def progress(self) -> tuple[int, Micros, int]:
        """Return the version that the loop has observed, the simulated time, and the number of the last
        cycle."""
        seen, now, cycle = self._state("seen", "now", "cycle")
        return int(seen), int(now), int(cycle)

    def edits(self) -> int:
        """Return the number of objects that others than the leader created, changed or deleted."""
        return int(self._state("edits")[0])

    def last_cycle(self) -> int:
        """Return the number of the last scheduling cycle."""
        return int(self._state("cycle")[0])

    def failure(self) -> Failure | None:
        """Return the failure of the loop; None = it runs, or was never started."""
        (stored,) = self._state("failure")
        return None if stored == b"0" else codec.decode_failure(stored)

    def set_failure(self, failure: Failure | None, lease: Lease | None = None) -> None:
        """Note that the loop failed; None = that it runs. ``lease``: of the leader that notes it. Raises
        NoSandbox, StaleLease."""
        arguments = [codec.encode(failure) if failure else "", lease.epoch if lease else ""]
        outcome = self._scripts.set_failure([self._keys.state], arguments, client=self._redis)
        self._check_reply(outcome, lease)
        # The script cannot write the set of failing sandboxes, which may be on another server.
        if failure:
            self._main.sadd(FAILING, self.name)
        elif outcome == 1:
            self._main.srem(FAILING, self.name)
