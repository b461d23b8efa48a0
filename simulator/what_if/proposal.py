"""What is tried: changes, the most promising and the smallest first."""

from collections.abc import Callable, Generator, Sequence
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.resources import NODES
from simulator.objects.pod import Pod
from simulator.what_if.answer import Kind
from simulator.what_if.edit import Edit, changed, update, update_pod
from simulator.what_if.situation import Situation

COSTS: Final[dict[Kind, float]] = {
    # A word that keeps the pod out of the queue altogether.
    "gate": 0,
    "scheduler": 0,
    # A field that the API server lets anybody change, of one object.
    "uncordon": 1,
    "toleration": 1,
    "label": 2,
    "taint": 2,
    # The pod made anew with one thing changed; of a request, the share that is cut off comes on top.
    "request": 3,
    "host-port": 3.5,
    "selector": 4,
    "node-affinity": 4,
    "spread": 4,
    "pod-affinity": 4,
    "pod-anti-affinity": 4,
    # Somebody else has to go.
    "preemption-policy": 5,
    "priority": 5,
    "delete-pod": 6,
    # The pod does without its data; or somebody pays.
    "drop-volume": 7,
    "volume": 8,
    "node": 9,
}
"""How large a change of each kind is, before its own measure is added (less than 1): an opinion, stated here
and in docs/WHATIF.md, and nowhere else."""


class Proposal(NamedTuple):
    """A change that is promising. ``make`` writes it out, which costs more than saying that it is there."""

    kind: Kind
    target: str
    what: str
    before: str
    after: str
    make: Callable[[], list[Edit]]
    measure: float = 0
    """From 0 to below 1: how large among its kind."""
    unit: str = ""

    @property
    def cost(self) -> float:
        return COSTS[self.kind] + self.measure

    @property
    def group(self) -> tuple[str, str, str, str]:
        """The same for changes that differ by their target only."""
        return self.kind, self.what, self.before, self.after


Proposals = Generator[Proposal, bool | None, None]
"""What is proposed, and a word back on each whether it helped (None: it was not tried)."""


def of_pod(
    situation: Situation,
    kind: Kind,
    what: str,
    change: Callable[[Manifest], object],
    *,
    before: str = "",
    after: str = "",
    more: Sequence[Edit] = (),
) -> Proposal:
    """``change`` is given a copy of the pod's manifest to work on; ``more`` is written before it."""
    pod = situation.pod

    def make() -> list[Edit]:
        new = changed(pod.manifest)
        change(new)
        return [*more, update_pod(pod.key, pod.manifest, new)]

    return Proposal(kind, pod.key, what, before, after, make)


def of_node(
    situation: Situation,
    kind: Kind,
    row: int,
    what: str,
    change: Callable[[Manifest], object],
    *,
    before: str = "",
    after: str = "",
) -> Proposal:
    node = situation.cluster.node(row)

    def make() -> list[Edit]:
        new = changed(node.manifest)
        change(new)
        return [update(NODES.id, node.name, node.manifest, new)]

    return Proposal(kind, node.name, what, before, after, make)


def owner(pod: Pod) -> str:
    """The controller that made the pod, ``ReplicaSet web``; "" for a pod of its own."""
    for reference in pod.manifest["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return f"{reference['kind']} {reference['name']}"
    return ""
