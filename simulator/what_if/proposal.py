"""Proposals: changes that are worth trying."""

from collections.abc import Callable, Generator, Sequence
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.resources import NODES
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.what_if.answer import ChangeKind, ChangePart
from simulator.what_if.edit import Edit, mutable_copy, update_object, update_pod
from simulator.what_if.situation import Situation

COSTS: Final[dict[ChangeKind, float]] = {
    # A field that keeps the pod out of the queue.
    "gate": 0,
    "scheduler": 0,
    # A field of one object that can be updated.
    "uncordon": 1,
    "toleration": 1,
    "label": 2,
    "taint": 2,
    # An object that the pod's claims name, and that is missing.
    "claim": 2,
    "device-class": 2,
    # A recreated pod or claim with one field changed. For a request, a
    # number of devices or a capacity, the share by which it is reduced is added; for maxSkew,
    # 0.3 of the share of the new value by which it grows.
    "spread-policy": 3,
    "spread-domains": 3.2,
    "spread-skew": 3.4,
    "spread-anyway": 3.8,
    "request": 3,
    "device-toleration": 3,
    "claim-count": 3,
    "claim-capacity": 3,
    "claim-size": 3.2,
    "claim-class": 3.6,
    "host-port": 3.5,
    "claim-selector": 4,
    "claim-constraint": 4,
    "class-selector": 4.5,
    "selector": 4,
    "node-affinity": 4,
    "spread": 4,
    "pod-affinity": 4,
    "pod-anti-affinity": 4,
    # Another pod is removed, or a claim.
    "delete-claim": 5,
    "preemption-policy": 5,
    "priority": 5,
    "delete-pod": 6,
    "free-device": 6,
    # The pod loses its data or devices, or the cluster gets more storage, devices or nodes.
    "drop-volume": 7,
    "drop-claim": 7,
    "volume": 8,
    "device": 8.5,
    "node": 9,
    # A gang's PodGroup with one field changed. For minCount, the share by which it is reduced is added.
    "min-count": 3,
    "topology-key": 3.6,
    "topology": 4.6,
    "group-priority": 5,
    "nodes": 9,
}
"""The cost of each kind of change, to which :attr:`Proposal.measure` is added. docs/WHATIF.md contains the
same numbers."""


class Proposal(NamedTuple):
    """A change that is worth trying. ``make`` builds its edits; it is called only for changes that are
    tried."""

    kind: ChangeKind
    target: str
    what: str
    before: str
    after: str
    make: Callable[[], list[Edit]]
    measure: float = 0
    """The relative size among changes of its kind, from 0 to below 1."""
    unit: str = ""
    within: str = ""
    follows: Sequence[Edit] = ()
    """The writes of the controllers that follow from the change."""

    @property
    def cost(self) -> float:
        return COSTS[self.kind] + self.measure

    @property
    def group(self) -> tuple[str, ...]:
        """Equal for changes that differ only in their target. The name of an added node is no difference."""
        after = "" if self.kind == "node" else self.after
        return self.kind, self.what, self.before, after, self.within

    @property
    def part(self) -> ChangePart:
        return ChangePart(
            self.kind, self.target, self.what, self.before, self.after, within=self.within, unit=self.unit
        )


Proposals = Generator[Proposal, bool | None, None]
"""A generator of proposals. For each one it is sent whether the change helped; None if it was not tried."""


def pod_proposal(
    situation: Situation,
    kind: ChangeKind,
    what: str,
    change: Callable[[Manifest], object],
    *,
    before: str = "",
    after: str = "",
    more: Sequence[Edit] = (),
) -> Proposal:
    """Return a proposal to change the pending pod. ``change`` modifies a copy of its manifest; ``more`` are
    edits that are made before."""
    pod = situation.pod

    def make() -> list[Edit]:
        new = mutable_copy(pod.manifest)
        change(new)
        return [*more, update_pod(pod.key, pod.manifest, new)]

    return Proposal(kind, pod.key, what, before, after, make)


def node_proposal(
    situation: Situation,
    kind: ChangeKind,
    row: int,
    what: str,
    change: Callable[[Manifest], object],
    *,
    before: str = "",
    after: str = "",
) -> Proposal:
    node = situation.cluster.node(row)

    def make() -> list[Edit]:
        new = mutable_copy(node.manifest)
        change(new)
        return [update_object(NODES.id, node.name, node.manifest, new)]

    return Proposal(kind, node.name, what, before, after, make)


def owner_text(pod: Pod) -> str:
    """Return kind and name of the pod's controller, ``ReplicaSet web``; "" if it has none."""
    reference = controller_of(pod.manifest)
    return "" if reference is None else f"{reference['kind']} {reference['name']}"
