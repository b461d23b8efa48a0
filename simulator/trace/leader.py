"""Trace events of the worker that leads the sandbox: its scheduler starts, and what it watches."""

from msgspec import UNSET, UnsetType

from simulator.trace.event import Event


class LeaderElected(Event, frozen=True, tag=True):
    """A worker became the sandbox's leader and rebuilt the queue from the store."""

    holder: str
    epoch: int


class SchedulerConfigured(Event, frozen=True, tag=True):
    """The scheduler was restarted with another configuration."""

    fields: list[str]
    """The paths of the fields that differ; the first twenty."""
    stands_down: bool | UnsetType = UNSET
    """Whether it leaves all pods to outside schedulers from now on; UNSET = that did not change."""


class WatchRelisted(Event, frozen=True, tag=True):
    """The watch ended, because a user broke it or because its events were no longer available. All objects
    were listed again."""

    version: int
    objects: int
    gone: int
    """Number of objects that were deleted in the meantime."""
