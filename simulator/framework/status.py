"""Status and the other results that plugins return
(staging/src/k8s.io/kube-scheduler/framework/interface.go)."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from simulator.objects.pod import Pod

Code = Literal["Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error", "Skip", "Pending", "Wait"]


class PluginError(Exception):
    """Raised by a plugin for what upstream returns as a Status with code Error: the attempt fails, and the
    plugin does not count as one that rejected the pod."""


class Status(NamedTuple):
    """The result of a plugin's method (fwk.Status). Methods return None for Success."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def rejected(self) -> bool:
        """Whether the code is Unschedulable, UnschedulableAndUnresolvable or Pending (IsRejected)."""
        return self.code in ("Unschedulable", "UnschedulableAndUnresolvable", "Pending")

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


SKIP = Status("Skip")


def unschedulable(*reasons: str) -> Status:
    """Return a status with code Unschedulable: preemption can make the pod schedulable."""
    return Status("Unschedulable", reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a status with code UnschedulableAndUnresolvable: preemption cannot make the pod schedulable."""
    return Status("UnschedulableAndUnresolvable", reasons)


def error(reason: str) -> Status:
    return Status("Error", (reason,))


class PreFilterResult(NamedTuple):
    """The nodes that a PreFilter plugin leaves (fwk.PreFilterResult): Success, and only these nodes are to be
    filtered. They need not exist."""

    node_names: frozenset[str]


class Verdicts(NamedTuple):
    """The result of a filter plugin for the n nodes of a batch.

    ``codes`` has shape [n] and any integer type, or bool if there is one status: 0 = the node passes, k > 0 =
    the node is rejected with ``statuses[k - 1]``. ``statuses`` can contain statuses that no node has.
    """

    codes: NDArray[Any]
    statuses: Sequence[Status]


class SelectedCandidate(NamedTuple):
    """The node that preemption selected (SelectCandidate), and what it costs."""

    node: str
    victims: Sequence[Pod]
    """Most important first."""
    rule: int
    """The number of the tie-break rule that decided, see :class:`simulator.decision.Preemption`."""
    candidates: int
    """The number of nodes among which it was selected."""


class PostFilterResult(NamedTuple):
    """The result of a PostFilter plugin (fwk.PostFilterResult). ``nominated_node``: None keeps the pod's
    nomination, "" clears it. ``candidate``: None where no pod has to be evicted."""

    nominated_node: str | None
    candidate: SelectedCandidate | None = None


class PreemptionUnit(NamedTuple):
    """Pods that are evicted together for a pod group, or not at all (the type victim in types.go)."""

    pods: Sequence[Pod]
    priority: int
    group: str
    """The key of the PodGroup whose pods are one unit; "" for a single pod."""
    violates: bool
    """Whether its eviction violates a PodDisruptionBudget."""
    reprieved: bool
    """Whether the group can be scheduled although the unit stays."""


class GroupVictims(NamedTuple):
    """The units that were taken off the nodes for a pod group, in the order in which they were put back."""

    units: Sequence[PreemptionUnit]

    @property
    def pods(self) -> list[Pod]:
        """The pods to evict."""
        return [pod for unit in self.units if not unit.reprieved for pod in unit.pods]


def go_list(names: Iterable[str]) -> str:
    """Format names as Go prints a sorted slice: ``[a b]``."""
    return f"[{' '.join(sorted(names))}]"
