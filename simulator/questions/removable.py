"""Which nodes can be removed: their pods have other nodes, and nothing forbids their eviction.

A node is cordoned in a copy, and the scheduler's attempts place its pods, in the order of the queue. Without
a running cluster: a budget that allows no disruption now is taken as one that never will."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Final, Literal

import msgspec

from simulator import question_words as words
from simulator.apiserver.resources import NODES, PODS
from simulator.questions.answer import (
    LISTED_AT_MOST,
    Answer,
    AskedCluster,
    BadQuestion,
    Sentence,
    as_sentence,
    shown_nodes,
    summed_zones,
)
from simulator.questions.node_removal import Keeper, KeptBecause, NodeRemoval
from simulator.questions.node_selection import NodeChoice, choose_nodes
from simulator.questions.node_use import PODS as POD_COUNT
from simulator.questions.node_use import Used, compare_use, read_use

EXHAUSTIVE_AT_MOST: Final = 8
"""Number of nodes, each of which can be removed by itself, up to which all sets of them are tried; among more
the emptiest are taken one after the other."""
NAMED_AT_MOST: Final = 5
"""Maximum number of nodes that the sentence names; the others are in the table."""

RemovableVerdict = Literal["together", "alone", "no"]
"""Whether a node is one of those that can be removed together, can be removed while those stay, or not."""


BY_ITSELF: Final = Keeper("", "", "")


class RemovableParameters(msgspec.Struct, frozen=True):
    nodes: NodeChoice = NodeChoice()
    """The nodes that are tried; by default all."""
    force: bool = False
    delete_local: bool = False
    """As those of a drain."""


class RemovableNode(msgspec.Struct, frozen=True):
    node: str
    zone: str
    removable: RemovableVerdict
    pods: int
    """The number of its pods, those of DaemonSets included."""
    pod: str
    """The first pod that keeps the node."""
    because: KeptBecause
    """Why it does: ``pending`` = no other node takes it."""
    why: str


class MovedPod(msgspec.Struct, frozen=True):
    """Where a pod of the nodes that are removed together would run."""

    pod: str
    node: str
    to: str


class RemovableAnswer(Answer, frozen=True, kw_only=True, tag="removable", tag_field="question"):
    """``figure``: the nodes that can be removed together."""

    together: list[str]
    tried: list[RemovableNode]
    moves: list[MovedPod]


class Removable:
    def __init__(self, cluster: AskedCluster, parameters: RemovableParameters) -> None:
        """Raises BadQuestion, ConfigError."""
        if not cluster.objects.get(NODES.id):
            raise BadQuestion("nodes: there is no node")
        self._cluster, self._parameters = cluster, parameters
        self._removal = self._begin()
        self._before: dict[str, Used] = {}
        self._nodes: list[str] = []
        self._keepers: dict[str, Keeper] = {}
        """The nodes that stay, each with the pod that keeps it; "" as its name: the node can be removed by
        itself."""
        self._together: list[str] = []
        self._done = False

    def _begin(self) -> NodeRemoval:
        parameters = self._parameters
        return NodeRemoval(self._cluster, force=parameters.force, delete_local=parameters.delete_local)

    def run(self) -> Iterator[float]:
        """Raises BadQuestion."""
        for _ in self._removal.take_in():
            yield 0.0
        self._before = read_use(self._removal.cluster)
        self._nodes = choose_nodes(self._parameters.nodes, self._cluster.objects[NODES.id], self._before)
        for number, node in enumerate(self._nodes, 1):
            keeper = self._removal.remove([node])
            if keeper is None:
                self._together.append(node)
            else:
                self._keepers[node] = keeper
            yield 0.6 * number / len(self._nodes)
        alone = [*self._together]
        if self._keepers:
            single = self._begin()
            for _ in single.take_in():
                yield 0.6
            for number, node in enumerate([*self._keepers], 1):
                keeper = single.remove([node])
                if keeper is None:
                    single.put_back()
                    alone.append(node)
                self._keepers[node] = keeper or BY_ITSELF
                yield 0.6 + 0.3 * number / len(self._keepers)
        if len(self._together) < len(alone) <= EXHAUSTIVE_AT_MOST:
            yield from self._try_all_sets(alone)
        self._done = True
        yield 1.0

    def _try_all_sets(self, nodes: Sequence[str]) -> Iterator[float]:
        """Look for a set of more nodes than those that were taken one after the other."""
        removal = self._begin()
        for _ in removal.take_in():
            yield 0.9
        for size in range(len(nodes), len(self._together), -1):
            for each in combinations(nodes, size):
                if removal.remove(each) is None:
                    self._removal, self._together = removal, [*each]
                    self._keepers |= {node: BY_ITSELF for node in nodes if node not in each}
                    return
                yield 0.95

    def answer(self) -> RemovableAnswer:
        tried = [
            self._verdict(node) for node in self._nodes if node in self._keepers or node in self._together
        ]
        use = compare_use(self._before, read_use(self._removal.cluster), removed={*self._together})
        return RemovableAnswer(
            summary=[*self._summary(tried)],
            complete=self._done,
            figure=len(self._together),
            zones=summed_zones(use),
            nodes=shown_nodes(use),
            together=self._together,
            tried=tried[:LISTED_AT_MOST],
            moves=[*islice(self._moves(), LISTED_AT_MOST)],
        )

    def _verdict(self, node: str) -> RemovableNode:
        use = self._before[node]
        count = use.requested[POD_COUNT]
        if node in self._together:
            return RemovableNode(node, use.zone, "together", count, "", "", "")
        keeper = self._keepers[node]
        removable: RemovableVerdict = "no" if keeper.pod else "alone"
        return RemovableNode(node, use.zone, removable, count, *keeper)

    def _summary(self, tried: Sequence[RemovableNode]) -> Iterator[Sentence]:
        if not tried:
            return
        if not self._together:
            yield Sentence(words.NONE_REMOVABLE, {"all": str(len(tried))})
        else:
            names, more = self._together[:NAMED_AT_MOST], len(self._together) - NAMED_AT_MOST
            counts = {"count": str(len(self._together)), "all": str(len(self._nodes))}
            said = words.REMOVABLE_AND_MORE if more > 0 else words.REMOVABLE
            yield Sentence(said, {**counts, "names": ", ".join(names), "more": str(more)})
            alone = sum(each.removable != "no" for each in tried)
            if alone > len(self._together):
                yield Sentence(words.REMOVABLE_ALONE, {"count": str(alone)})
        kept = Counter(each.because for each in tried if each.removable == "no")
        for because, number in kept.most_common(1):
            first = next(each for each in tried if each.because == because)
            values = {
                "count": str(number),
                "node": first.node,
                "pod": first.pod,
                "why": as_sentence(first.why),
            }
            yield Sentence(words.KEPT_NODES[because], values)

    def _moves(self) -> Iterator[MovedPod]:
        """Yield the pods that have another node than at the beginning."""
        before = self._cluster.objects.get(PODS.id, {})
        for pod in self._removal.cluster.pods.values():
            node = before[pod.key]["spec"]["nodeName"]
            if pod.node_name != node:
                yield MovedPod(pod.key, node, pod.node_name)
