"""The part of the scheduler that plugins may use (framework.Handle in
staging/src/k8s.io/kube-scheduler/framework/interface.go)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from simulator.api import Manifest, Micros
from simulator.apiserver.component_writes import ComponentWrites
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.framework.cycle_state import CycleState
from simulator.framework.extender import Extender
from simulator.framework.node_batch import NodeBatch
from simulator.framework.status import Status, Verdicts
from simulator.framework.waiting_pods import WaitingPods
from simulator.objects.pod import Pod
from simulator.trace import Event
from simulator.versions.features import Features


class Client(Protocol):
    """The API server's objects as the informers show them, without what the scheduler assumes."""

    server: ComponentWrites
    """The API server, as components write to it."""

    def clock(self) -> Micros:
        """Return the simulated time."""

    def get(self, resource: str, key: str) -> Manifest | None: ...

    def update(self, resource: str, key: str, uid: str, mutate: Callable[[Manifest], Manifest]) -> None:
        """Change an object at its newest version, without waiting for the outcome. ``mutate`` returns the new
        version, or the object itself to leave it unchanged."""

    def emit(self, event: Event) -> None:
        """Add an event to the trace."""


class Handle(Protocol):
    """A profile's :class:`simulator.framework.runtime.Framework`, as its plugins use it."""

    features: Features
    """The version of Kubernetes, with its feature gates."""
    cluster: Cluster
    """The current state of the cluster: nodes, the pods on them, and all other objects. A scheduling cycle
    reads ``state.cluster`` instead."""
    pods: Mapping[str, Pod]
    """All pods that are not finished, by ``namespace/name``, as the informer shows them."""
    client: Client | None
    """The client with which plugins write; None where pods are not bound, in what-if for instance."""
    waiting_pods: WaitingPods
    """The pods that wait on Permit."""
    extenders: Sequence[Extender]
    preempting: set[str]
    """Uids of the pods and pod groups whose preemption is being carried out."""

    def run_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts: ...

    def run_filter_with_nominated_pods(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts: ...

    def run_add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None: ...

    def run_remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None: ...

    def run_add_pods(self, state: CycleState, pod: Pod, rows: Rows, slots: Ints) -> None:
        """Call ColumnExtensions.add_pods for the pod in ``slots[k]`` of PodColumns on ``rows[k]``, for all k.
        Raises PluginError."""

    def run_remove_pods(self, state: CycleState, pod: Pod, rows: Rows, slots: Ints) -> None:
        """Call ColumnExtensions.remove_pods for the pod in ``slots[k]`` of PodColumns on ``rows[k]``, for all
        k. Raises PluginError."""

    def filters_by_columns(self, state: CycleState) -> bool:
        """Whether every plugin that has PreFilterExtensions, and is not skipped in this cycle, has
        ColumnExtensions."""
