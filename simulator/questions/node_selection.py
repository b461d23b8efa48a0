"""The nodes that a question names: by name, by labels, by zone, or the emptiest ones."""

from collections.abc import Mapping, Sequence

import msgspec

from simulator.api import Manifest
from simulator.apiserver.label_selectors import parse_label_selector
from simulator.apiserver.status import BadRequest
from simulator.objects.labels import Selector
from simulator.objects.metadata import labels_of
from simulator.objects.node import ZONE
from simulator.objects.pod_requests import CPU, MEMORY
from simulator.questions.answer import BadQuestion
from simulator.questions.node_use import Used


class NodeChoice(msgspec.Struct, frozen=True):
    """Nodes that have one of the ``names``, or all of the others that are given."""

    names: Sequence[str] = ()
    selector: str = ""
    """A label selector, as of ``kubectl get nodes -l``."""
    zone: str = ""
    emptiest: int = 0
    """The number of nodes with the smallest share of requested cpu and memory; 0 = no bound."""

    @property
    def is_given(self) -> bool:
        return bool(self.names or self.selector or self.zone or self.emptiest)


def emptiness(use: Used) -> float:
    """Return how full a node is, the larger share of cpu and memory, from 0 to 1."""
    return max(use.requested[each] / (use.allocatable[each] or 1) for each in (CPU, MEMORY))


def choose_nodes(choice: NodeChoice, nodes: Mapping[str, Manifest], use: Mapping[str, Used]) -> list[str]:
    """Return the names of the nodes, the emptiest first. Raises BadQuestion for a name that no node has, and
    where no node is chosen."""
    for name in choice.names:
        if name not in nodes:
            raise BadQuestion(f"nodes: there is no node {name!r}")
    found = [*(choice.names or nodes)]
    if choice.zone:
        found = [name for name in found if labels_of(nodes[name]).get(ZONE) == choice.zone]
    if choice.selector:
        selector = parse_selector(choice.selector)
        found = [name for name in found if selector.matches(labels_of(nodes[name]))]
    found.sort(key=lambda name: (emptiness(use[name]) if name in use else 0.0, name))
    if choice.emptiest:
        found = found[: choice.emptiest]
    if not found:
        raise BadQuestion("nodes: no node is chosen")
    return found


def parse_selector(text: str) -> Selector:
    """Raises BadQuestion."""
    try:
        return parse_label_selector(text)
    except BadRequest as wrong:
        raise BadQuestion(f"selector: {wrong.message}") from None
