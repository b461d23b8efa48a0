"""The store's own records: a sandbox's description, its clock, its lease."""

import msgspec
from msgspec import UNSET, UnsetType

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.imported import Report
from simulator.queueing.versions import TODAY, QueueVersion
from simulator.scheduler.stepping import Unit


class Origin(msgspec.Struct, frozen=True):
    """The moment of another sandbox that one was branched from."""

    sandbox: str
    seq: int
    """Of the trace event that was told last."""
    now: Micros


class Meta(msgspec.Struct, frozen=True):
    """What a sandbox is; only its scheduler's configuration changes once it is made."""

    name: str
    """A DNS label: it is part of URLs and of Redis keys."""
    title: str = ""
    summary: str = ""
    scenario: str = ""
    created: float = 0.0
    """Wall seconds since the Unix epoch."""
    seed: int = 0
    """Every random choice of the scheduler is drawn from it."""
    pace: Micros = 0
    """Simulated time that one scheduling cycle takes."""
    config: Manifest | None = None
    """A KubeSchedulerConfiguration; None = upstream's defaults."""
    queue: QueueVersion = TODAY
    """The scheduler's queue: today's, or an older one."""
    imported: Report | None = None
    """What was taken over of the cluster that the sandbox was made of, and what was not."""
    origin: Origin | None = None
    """Where it was branched from."""


class Steps(msgspec.Struct, frozen=True):
    """What is to be done though time stands still; it moves to what is due, if need be."""

    unit: Unit
    left: int


class Clock(msgspec.Struct, frozen=True):
    """Simulated time as a line through (``wall``, ``sim``) with the slope ``speed``."""

    sim: Micros
    wall: float
    """Seconds since the Unix epoch at which the simulated time was ``sim``."""
    speed: float = 1.0
    paused: bool = False
    steps: Steps | UnsetType = UNSET
    """Only while paused."""
    until: str | UnsetType = UNSET
    """Only while running: pause when this comes true (see :class:`simulator.scheduler.stepping.Until`)."""

    def __post_init__(self) -> None:
        # A clock is compared by its JSON, where 1 and 1.0 differ.
        for field in ("wall", "speed"):
            msgspec.structs.force_setattr(self, field, float(getattr(self, field)))

    def now(self, wall: float) -> Micros:
        """Simulated time at ``wall``; never before ``sim``, whatever another machine's wall clock says."""
        if self.paused:
            return self.sim
        return self.sim + max(0, round((wall - self.wall) * self.speed * SECOND))

    def wall_at(self, sim: Micros) -> float | None:
        """When the simulated time will be ``sim``, in wall seconds; None = never, as the clock is paused."""
        if self.paused:
            return None
        return self.wall + (sim - self.sim) / SECOND / self.speed

    def rebased(self, wall: float, *, speed: float | None = None, paused: bool | None = None) -> "Clock":
        """The same simulated time at ``wall``, going on from there at another speed, paused or running."""
        will_pause = self.paused if paused is None else paused
        return Clock(
            sim=self.now(wall),
            wall=wall,
            speed=self.speed if speed is None else speed,
            paused=will_pause,
            steps=self.steps if will_pause else UNSET,
            until=UNSET if will_pause else self.until,
        )

    def stopped(self, sim: Micros, wall: float) -> "Clock":
        """Paused at ``sim``: what it ran for has come."""
        return Clock(sim=sim, wall=wall, speed=self.speed, paused=True)

    def advanced(self, sim: Micros, wall: float, taken: int) -> "Clock":
        """At ``sim`` if it was not that far, with so many steps taken of those that were left."""
        left = self.steps.left - taken if self.steps else 0
        steps = msgspec.structs.replace(self.steps, left=left) if self.steps and left > 0 else UNSET
        there = max(self.now(wall), sim)
        return msgspec.structs.replace(self, sim=there, wall=wall, steps=steps)

    def starting(self, wall: float) -> "Clock":
        """The same simulated time, but at ``wall``: as if the clock had stood still until then."""
        return msgspec.structs.replace(self, wall=wall)


class Lease(msgspec.Struct, frozen=True):
    """Who leads a sandbox. ``epoch`` grows with every new leader and fences every write of the loop."""

    holder: str
    epoch: int
    acquired: float
    renewed: float
    """Wall seconds, both."""


class Renewal(msgspec.Struct, frozen=True):
    """What the leader needs to know at the start of a slice, in one answer."""

    lease: Lease
    clock: Clock
    version: int
    """The resourceVersion of the last write."""
    breaks: int
    """How often somebody has broken this leader's watch."""


class Listing(msgspec.Struct, frozen=True):
    """A collection as it was at ``version``, in the order of its keys."""

    items: list[Manifest]
    version: int
