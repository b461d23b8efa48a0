"""A running copy of a cluster: with its scheduler, controllers and kubelets, in simulated time.

Nothing arrives in it but what the question writes: timetables are left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.types.schema_types import OWN_KINDS
from simulator.controllers.kubelet.pod_status import FAIL_SECONDS, RUN_SECONDS, run_seconds
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.objects.metadata import annotations_of, is_terminating, version_of
from simulator.objects.owner_references import controller_of
from simulator.objects.status import phase_of
from simulator.questions.answer import AskedCluster, Sentence
from simulator.questions.lost_owners import owner_notes
from simulator.questions.node_use import Used, read_use
from simulator.questions.pod_of_workload import find_template
from simulator.trace import QueuePlace

WINDOW: Final[Micros] = 5 * SECOND
"""Simulated time for which nothing may be written in a cluster that has settled."""
SETTLED_WITHIN: Final[Micros] = 600 * SECOND
"""Simulated time after which a question does not wait for more: pods may start and end without end."""
A_DAY: Final = "86400"
"""Seconds, more than SETTLED_WITHIN."""
JOBS: Final = "jobs.batch"
MOVING: Final = ("activeQ", "backoffQ", "inFlight")
"""The lanes of pods that will be tried without any event."""


class RunningCopy:
    def __init__(self, cluster: AskedCluster) -> None:
        """Raises ConfigError for a configuration with which the scheduler would not start."""
        self._cluster = cluster
        self.sandbox = self._begin([])
        """Empty until the objects are taken in."""
        self.original: Mapping[str, Manifest] = {}
        """The pods at the start by key."""
        self._moving_before: set[str] = set()
        """Those that start or end then, and may do so for long: a kubelet may not report."""
        self.before: dict[str, Used] = {}
        """The nodes at the start."""

    def _begin(self, creations: Sequence[Change]) -> MemorySandbox:
        return MemorySandbox(
            SandboxOptions(
                name="question",
                imported=creations,
                seed=self._cluster.seed,
                config=self._cluster.configuration,
                start=self._cluster.now,
                features=self._cluster.features,
                keeps_decisions=False,
            )
        )

    def take_in(self) -> Iterator[None]:
        """Create all objects and let the components see them, and do nothing else yet. Yields often."""
        creations = [*_creations(self._cluster.objects)]
        yield
        self.sandbox = self._begin(creations)
        del creations
        yield
        self.original = dict(self.pods())
        self._moving_before = {key for key, pod in self.original.items() if _is_moving(pod)}
        yield
        yield from self.sandbox.take_in()
        self.before = read_use(self.sandbox.cluster)

    def settle(self) -> Iterator[None]:
        """Let simulated time run until no pod will move by itself: none is in activeQ, backs off, starts or
        is being removed, and none was created or bound for the time WINDOW."""
        end = self.sandbox.now() + SETTLED_WITHIN
        before = self._bindings()
        while self.sandbox.now() < end:
            yield from self.wait()
            after = self._bindings()
            if after == before and not self._is_moving():
                return
            before = after

    def wait(self) -> Iterator[None]:
        """Let the time WINDOW pass."""
        yield from self.sandbox.steps(f"time {self.sandbox.now() + WINDOW}")

    @property
    def elapsed(self) -> Micros:
        return self.sandbox.now() - self._cluster.now

    def _is_moving(self) -> bool:
        if any(place.lane in MOVING for place in self.sandbox.queue()[0].values()):
            return True
        return any(
            _is_moving(pod)
            for key, pod in self.pods().items()
            if pod is not self.original.get(key) and key not in self._moving_before
        )

    def _bindings(self) -> int:
        """Return a number that changes when a pod is created, bound or removed."""
        return hash(frozenset((key, pod["spec"].get("nodeName")) for key, pod in self.pods().items()))

    def notes(self) -> list[Sentence]:
        """Return what an answer assumes of the objects."""
        return owner_notes(self._cluster)

    # What is there now

    def pods(self) -> Mapping[str, Manifest]:
        """Return all pods by key."""
        return self.sandbox.list_all().get(PODS.id, {})

    def nodes(self) -> Mapping[str, Manifest]:
        return self.sandbox.list_all().get(NODES.id, {})

    def use(self) -> dict[str, Used]:
        return read_use(self.sandbox.cluster)

    def place(self, pod: str) -> QueuePlace | None:
        return self.sandbox.queue_place(pod)

    def why_pending(self, pod: str) -> str:
        """Return what the scheduler says of a pending pod; "" = it has not been tried."""
        place = self.place(pod)
        if place is None:
            return ""
        return place.message or place.gate


def _is_moving(pod: Manifest) -> bool:
    """Whether the pod starts or ends."""
    return is_terminating(pod) or (bool(pod["spec"].get("nodeName")) and phase_of(pod) == "Pending")


def _creations(objects: Mapping[str, Mapping[str, Manifest]]) -> Iterator[Change]:
    """Yield the creations in the order in which the objects were written last, as far as it is known."""
    left_out = {kind for _, kind in OWN_KINDS}
    found: Sequence[tuple[int, Change]] = [
        (
            version_of(manifest) if "resourceVersion" in manifest["metadata"] else 0,
            Change(resource, key, _kept_running(resource, manifest), expected=0),
        )
        for resource, collection in objects.items()
        for key, manifest in collection.items()
        if manifest.get("kind") not in left_out
    ]
    for _, change in sorted(found, key=lambda each: each[0]):
        yield change


def lasting(manifest: Manifest) -> Manifest:
    """Return a Pod, or a workload by its template, as one whose pods do not end by themselves: a question is
    about the cluster as it is, and not about who has finished first."""
    template = find_template(manifest)
    if template is None:
        return manifest
    metadata = template.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), RUN_SECONDS: A_DAY}
    annotations.pop(FAIL_SECONDS, None)
    changed = {**template, "metadata": {**metadata, "annotations": annotations}}
    if template is manifest:
        return changed
    return {**manifest, "spec": {**manifest["spec"], "template": changed}}


def _kept_running(resource: str, manifest: Manifest) -> Manifest:
    """Return an object of the cluster. The templates of other controllers stay: a change would roll them
    out."""
    ends = resource == JOBS or (
        resource == PODS.id
        and (run_seconds(manifest) is not None or FAIL_SECONDS in annotations_of(manifest))
    )
    return lasting(manifest) if ends else manifest


def controller_uid(manifest: Manifest) -> str:
    """Return the uid of the controller of an object; "" if it has none."""
    reference = controller_of(manifest)
    return "" if reference is None else str(reference["uid"])
