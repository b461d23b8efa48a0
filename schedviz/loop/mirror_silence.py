"""A mirror is led by its mirroring process, never by a worker. Workers note that the process has ended."""

from typing import Final

from schedviz.loop.doorbell import ring
from schedviz.store import Failure, Sandbox

SILENT_SECONDS: Final = 5.0
"""A mirroring process renews its lease twice a second. After this time without it, it counts as ended."""
CUT_OFF_SECONDS: Final = 60.0
"""For how long what a mirroring process said last is shown after it fell silent."""
ENDED: Final = "the mirroring process does not run, or cannot reach the cluster; its output says why"


def note_silent_mirror(sandbox: Sandbox) -> float:
    """Note that the mirroring process of a sandbox has ended, if it has; its successor clears that. Returns
    in how many seconds to look again. Raises NoSandbox."""
    lease, known, wall = sandbox.lease(), sandbox.failure(), sandbox.wall()
    since = lease.renewed if lease else wall
    # A process that was cut off says why, and begins again by itself.
    is_noted = known is not None and (known.message == ENDED or wall - known.at < CUT_OFF_SECONDS)
    if is_silent(sandbox) and not is_noted:
        sandbox.set_failure(Failure(ENDED, 1, known.at if known else since, 0.0), lease)
        ring(sandbox.name)
    return SILENT_SECONDS


def is_silent(sandbox: Sandbox) -> bool:
    """Whether no mirroring process leads the sandbox. Raises NoSandbox."""
    lease = sandbox.lease()
    return lease is None or sandbox.wall() - lease.renewed >= SILENT_SECONDS
