"""The storage of an API server, as etcd is: changes that the server has admitted go in, watch events come
out.

:class:`simulator.apiserver.server.ApiServer` decides what is stored. Every component (scheduler, kubelet,
timetable) observes all writes, also its own, by watch events only. The implementation of the storage (memory,
or Redis) has no effect on a component.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

from simulator.kernel.clock import SECOND, Micros
from simulator.kernel.containment import Refusal

__all__ = [
    "SECOND",
    "Admission",
    "ApiError",
    "ApiServerLost",
    "Change",
    "Manifest",
    "Micros",
    "Reason",
    "Storage",
    "WatchEvent",
    "bare",
    "versioned",
]

Manifest = dict[str, Any]
"""A Kubernetes object as plain JSON data. Treated as immutable once committed: change a copy."""


class Change(msgspec.Struct, frozen=True):
    """One write of one object.

    ``resource`` is kubectl's group-resource form: ``pods``, ``priorityclasses.scheduling.k8s.io``.
    ``key`` is ``namespace/name``, or ``name`` for cluster-scoped kinds.
    ``expected`` is the resourceVersion that the object must have: 0 = must not exist (create),
    None = must exist, at any version.
    ``object`` is the whole new manifest; None deletes.
    """

    resource: str
    key: str
    object: Manifest | None
    expected: int | None = None


class Admission(msgspec.Struct, frozen=True):
    """The result of admission: the changes to commit, and the condition for committing them."""

    changes: list[Change]
    unchanged: dict[str, int]
    """The resources that admission read, each with the version of its collection at that time."""
    last: Manifest | None = None
    """The last state of the object that the first change deletes, for the response and the watch event. If it
    has no resourceVersion, the version of the deletion is added."""
    charged: int = 0
    """The number of changes, the last ones, that only charge quotas."""
    stored: Manifest | None = None
    """The object that is changed, as it is stored now."""
    may_exist: bool = False
    """Whether a creation that is refused as the object exists is decided again: with another generated name,
    or as an update."""

    @property
    def objects(self) -> Sequence[Change]:
        """The changes of the objects of the request, without those that charge quotas."""
        return self.changes[: len(self.changes) - self.charged]

    @property
    def charges(self) -> Sequence[Change]:
        return self.changes[len(self.changes) - self.charged :]


class WatchEvent(msgspec.Struct, frozen=True):
    """One entry of the watch log. ``version`` is the resourceVersion that the write got; for DELETED,
    ``object`` is the last state, carrying that version."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    object: Manifest
    version: int


Reason = Literal["NotFound", "AlreadyExists", "Conflict", "TooManyRequests"]
"""The reason for which a write was refused: the API's Status reason."""


class ApiError(Refusal):
    """A write was refused; nothing of the commit was stored. TooManyRequests: there is no room for what it
    would have created."""

    def __init__(self, reason: Reason, resource: str, key: str) -> None:
        super().__init__(f"{resource} {key!r}: {reason}")
        self.reason = reason
        self.resource = resource
        self.key = key


class ApiServerLost(BaseException):
    """The API server gave no answer, or will take nothing more from this simulation (its lease is over):
    ``error`` says what. It ends the simulation, so that no component may catch it: as the errors that end a
    process it is no Exception. :meth:`simulator.simulation.Simulation.step` raises ``error``."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def versioned(manifest: Manifest, version: int) -> Manifest:
    """Return the manifest with this metadata.resourceVersion."""
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(version)}}


def bare(manifest: Manifest) -> Manifest:
    """Return the manifest without its metadata.resourceVersion, as it is stored."""
    metadata = manifest["metadata"]
    if "resourceVersion" not in metadata:
        return manifest
    return {**manifest, "metadata": {name: v for name, v in metadata.items() if name != "resourceVersion"}}


def copied(value: Any) -> Any:
    """Return a copy of a manifest, or of a part of one: faster than copy.deepcopy, which also keeps what two
    places share."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


class Storage(Protocol):
    """What stores the changes that the API server has admitted."""

    def commit(self, changes: Sequence[Change]) -> list[int]:
        """Store all changes or none; the new resourceVersions, in order. Raises :class:`ApiError`."""
        ...
