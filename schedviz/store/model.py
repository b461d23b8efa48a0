"""The records of the store: description, clock, lease, and others."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.store.wall import Wall
from simulator.api import SECOND, Manifest, Micros
from simulator.dumps.imported import ImportReport
from simulator.queueing.queue_version import QueueVersion
from simulator.scheduler.stepping import Idle, Unit
from simulator.versions.features import Features, stored_features


class Origin(msgspec.Struct, frozen=True):
    """The moment of another sandbox from which a sandbox was branched."""

    sandbox: str
    seq: int
    """The number of the last trace event at that moment; 0 = there was none yet."""
    now: Micros
    change: str = ""
    """What was changed when the branch was created, in a sentence; "" = nothing."""


class Mirrored(msgspec.Struct, frozen=True):
    """The real cluster that a mirror follows. It has no credentials."""

    context: str
    """The name of the context in the kubeconfig."""
    server: str
    version: str
    """What the API server says of its version."""
    unknown: list[str] = []
    """What could not be read, and what is unknown thereby."""
    assumed: list[str] = []
    """What is assumed of its scheduler: version, configuration and gates, by which it is judged."""
    namespaces: list[str] = []
    """The only ones that are followed; none = all."""


class Meta(msgspec.Struct, frozen=True):
    """The description of a sandbox. After its creation only the settings of its scheduler can change."""

    name: str
    """A DNS label, as it is part of URLs and of Redis keys."""
    title: str = ""
    summary: str = ""
    scenario: str = ""
    created: float = 0.0
    """Wall seconds since the Unix epoch."""
    seed: int = 0
    """The seed of all random choices of the scheduler."""
    pace: Micros = 0
    """The simulated duration of one scheduling cycle."""
    config: Manifest | None = None
    """A KubeSchedulerConfiguration; None = upstream's defaults."""
    queue: QueueVersion = QueueVersion.KUBERNETES
    """The scheduling queue."""
    kubernetes: str | UnsetType = UNSET
    """The version of Kubernetes; unset in what was stored before there was a choice."""
    feature_gates: dict[str, bool] | UnsetType = UNSET
    """The feature gates that are set."""
    stands_down: bool = False
    """Whether its scheduler leaves all pods to outside schedulers."""
    imported: ImportReport | None = None
    """The objects that were imported and those that were not, of a sandbox that was created from a dump."""
    origin: Origin | None = None
    """The origin of a branch; None = the sandbox is no branch."""
    mirror: Mirrored | None = None
    """The real cluster that the sandbox follows: only the mirroring process writes to it, and no component of
    the simulation acts. None = an ordinary sandbox."""

    def features(self) -> Features:
        """Raises UnknownVersion, FeatureGateError."""
        return stored_features(self.kubernetes, self.feature_gates)

    def acting(self) -> "Meta":
        """Return the description of a copy, in which the scheduler and the controllers act."""
        return msgspec.structs.replace(self, mirror=None, stands_down=False) if self.mirror else self


class Failure(msgspec.Struct, frozen=True):
    """The error of a sandbox's loop. Times in wall seconds since the Unix epoch."""

    message: str
    times: int
    """Number of consecutive failures."""
    at: float
    again: float
    """Time at which the loop is started again. A write to the sandbox starts it earlier. 0 = the failure is
    one of a mirror, which no longer shows the present state of its cluster since ``at``."""


class Steps(msgspec.Struct, frozen=True):
    """Pending steps of a user, which run while the clock is paused. A step moves simulated time to the next
    work that is due."""

    unit: Unit
    left: int


class Clock(msgspec.Struct, frozen=True):
    """Simulated time as a line through (``wall``, ``sim``) with the slope ``speed``."""

    sim: Micros
    wall: float
    """Seconds since the Unix epoch, by Redis, at which the simulated time was ``sim``."""
    speed: float = 1.0
    paused: bool = False
    steps: Steps | UnsetType = UNSET
    """The pending steps. It is set only while the clock is paused."""
    until: str | UnsetType = UNSET
    """The condition that pauses the clock (see :class:`simulator.scheduler.stepping.Until`). It is set only
    while the clock runs."""
    unpaced: Literal[True] | UnsetType = UNSET
    """Whether the loop moves the clock to the end of each scheduling cycle, instead of waiting until the pace
    of the sandbox is over."""
    idle: Idle | UnsetType = UNSET
    """The reason for which the last step changed nothing. It is set only while the clock is paused."""
    late: Literal[True] | UnsetType = UNSET
    """Whether the loop has not yet done what was due some time ago. It is set only while the clock runs."""

    def __post_init__(self) -> None:
        # Clocks are compared by their JSON, in which 1 and 1.0 differ.
        for field in ("wall", "speed"):
            msgspec.structs.force_setattr(self, field, float(getattr(self, field)))

    @property
    def hurries(self) -> bool:
        """Whether time runs at the speed of the worker."""
        return bool(self.unpaced) and not self.paused

    def now(self, wall: float) -> Micros:
        """Return the simulated time at ``wall``; never before ``sim``."""
        if self.paused:
            return self.sim
        return self.sim + max(0, round((wall - self.wall) * self.speed * SECOND))

    def wall_at(self, sim: Micros) -> float | None:
        """Return the wall time at which the simulated time is ``sim``; None = the clock is paused."""
        if self.paused:
            return None
        return self.wall + (sim - self.sim) / SECOND / self.speed

    def rebased(
        self,
        wall: float,
        *,
        speed: float | None = None,
        unpaced: bool | None = None,
        paused: bool | None = None,
    ) -> "Clock":
        """Return a clock with the same simulated time at ``wall``, with another speed, or paused or running
        from there."""
        will_skip = bool(self.unpaced) if unpaced is None else unpaced
        will_pause = self.paused if paused is None else paused
        return Clock(
            sim=self.now(wall),
            wall=wall,
            speed=self.speed if speed is None else speed,
            paused=will_pause,
            steps=self.steps if will_pause else UNSET,
            until=UNSET if will_pause else self.until,
            unpaced=True if will_skip else UNSET,
        )

    def stopped(self, sim: Micros, wall: float) -> "Clock":
        """Paused at ``sim``, where the condition of its run came true."""
        return Clock(sim=sim, wall=wall, speed=self.speed, paused=True, unpaced=self.unpaced)

    def advanced(self, sim: Micros, wall: float, taken: int, idle: Idle | None = None) -> "Clock":
        """Return the clock, moved forward to ``sim``, unless it is later already, with ``taken`` fewer
        pending steps, of which the last one did nothing for the reason ``idle``."""
        left = self.steps.left - taken if self.steps else 0
        steps = msgspec.structs.replace(self.steps, left=left) if self.steps and left > 0 else UNSET
        there = max(self.now(wall), sim)
        return msgspec.structs.replace(self, sim=there, wall=wall, steps=steps, idle=idle or UNSET)

    def judged(self, *, late: bool) -> "Clock":
        """Return the same clock with ``late`` set or not."""
        return (
            self if late == bool(self.late) else msgspec.structs.replace(self, late=True if late else UNSET)
        )

    def starting(self, wall: float) -> "Clock":
        """Return the clock that has its ``sim`` at ``wall``: as if it had been paused until then."""
        return msgspec.structs.replace(self, wall=wall)


class Lease(msgspec.Struct, frozen=True):
    """The lease of a sandbox's leader. ``epoch`` grows with every new leader; the store refuses writes of the
    loop with an older epoch."""

    holder: str
    """The name of the worker."""
    epoch: int
    acquired: float
    """Wall seconds, as ``renewed``."""
    renewed: float


class Renewal(msgspec.Struct, frozen=True):
    """The result of renewing a lease: all that the leader needs at the start of a slice."""

    lease: Lease
    clock: Clock
    version: int
    """The resourceVersion of the last write."""
    breaks: int
    """The number of times that users have broken this leader's watch."""
    wall: Wall
    """The wall time of the reply."""


class Summary(msgspec.Struct, frozen=True):
    meta: Meta
    clock: Clock
    led: bool
    """Whether a worker leads it."""
    pending: int
    """Number of pods in the scheduling queue."""
    counts: dict[str, int]
    """Resource -> number of its objects."""
    access: str = ""
    """The access record (:mod:`schedviz.access.record`)."""


class StoredBytes(msgspec.Struct, frozen=True):
    """The bytes of a sandbox that are counted. Redis takes less for objects, which are stored
    compressed, and up to 15 MB for the trace, the decisions and the journal, which are bounded in entries."""

    objects: int
    """Its objects as JSON."""
    log: int
    """Their copies in the watch log."""
    archive: int
    """The pages of the archive, compressed."""

    @property
    def all(self) -> int:
        return self.objects + self.log + self.archive


class LogEntry(msgspec.Struct, frozen=True):
    """One write of an object, as the watch log has it."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    json: bytes
    """The object after the write (for DELETED before it), without its resourceVersion."""


class Listing(msgspec.Struct, frozen=True):
    """The objects of a resource at ``version``, sorted by key."""

    items: list[Manifest]
    version: int


class StoredListing(msgspec.Struct, frozen=True):
    """The objects of a resource at ``version`` as they are stored, sorted by key. They are decoded when they
    are read: as Python's objects they take four times the memory."""

    objects: dict[str, tuple[int, bytes]]
    """Key -> the resourceVersion, and the object as JSON without it."""
    version: int
