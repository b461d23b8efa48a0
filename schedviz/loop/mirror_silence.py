"""A mirror is led by its mirroring process, never by a worker. Workers note that the process has ended."""

from typing import Final

from schedviz.loop.doorbell import ring
from schedviz.store import Failure, Sandbox

SILENT_SECONDS: Final = 5.0
"""A mirroring process renews its lease twice a second. After this time without it, it counts as ended."""
ENDED: Final = "the mirroring process has ended; start it again to go on"


def note_silent_mirror(sandbox: Sandbox) -> float:
    """Note that the mirroring process of a sandbox has ended, if it has; its successor clears that. Returns
    in how many seconds to look again. Raises NoSandbox."""
    lease, known = sandbox.lease(), sandbox.failure()
    if is_silent(sandbox) and (known is None or known.message != ENDED):
        since = lease.renewed if lease else sandbox.wall()
        sandbox.set_failure(Failure(ENDED, 1, known.at if known else since, 0.0), lease)
        ring(sandbox.name)
    return SILENT_SECONDS


def is_silent(sandbox: Sandbox) -> bool:
    """Whether no mirroring process leads the sandbox. Raises NoSandbox."""
    lease = sandbox.lease()
    return lease is None or sandbox.wall() - lease.renewed >= SILENT_SECONDS
