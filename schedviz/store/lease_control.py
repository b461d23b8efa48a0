"""Takes, renews and releases the lease of a sandbox's leader."""

from collections.abc import Sequence
from typing import Any, cast

from schedviz.store import codec
from schedviz.store.handle import SandboxHandle
from schedviz.store.model import Lease, Renewal
from schedviz.store.wall import Wall


class LeaseControl(SandboxHandle):
    def lease(self) -> Lease | None:
        """Return the lease; None = no worker leads the sandbox."""
        holder, epoch, acquired, renewed = self._state("holder", "epoch", "acquired", "renewed")
        if not holder:
            return None
        return Lease(holder.decode(), int(epoch), float(acquired), float(renewed))

    def take_lease(self, holder: str, over: Lease | None) -> Lease | None:
        """Make ``holder`` the leader after ``over``, the lease as it was last read. Returns None and changes
        nothing if the lease is another one by now."""
        taken = self._run_lease_script("take", holder, over)
        return Lease(holder, taken[0], float(taken[1]), float(taken[1])) if taken else None

    def renew_lease(self, lease: Lease) -> Renewal | None:
        """Renew the lease; None = another worker holds it by now."""
        held = self._run_lease_script("renew", lease.holder, lease)
        if not held:
            return None
        _, wall, _, clock, version, breaks = held
        renewed = Lease(lease.holder, lease.epoch, lease.acquired, float(wall))
        known = codec.decode_clock(self.name, clock)
        return Renewal(renewed, known, int(version or 0), int(breaks or 0), Wall(float(wall)))

    def release_lease(self, lease: Lease) -> None:
        """Release the lease. Changes nothing if another worker holds it by now."""
        self._run_lease_script("release", lease.holder, lease)

    def break_watch(self, lease: Lease) -> None:
        """Make the holder list all objects again. Changes nothing if the lease is over."""
        self._run_lease_script("break", lease.holder, lease)

    def _run_lease_script(self, what: str, holder: str, known: Lease | None) -> Sequence[Any]:
        args = [what, known.epoch if known else "", holder]
        return cast("Sequence[Any]", self._scripts.lease([self._keys.state], args, client=self._redis))
