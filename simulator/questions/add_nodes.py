"""How many nodes of a shape would let the pending pods run, and which of several shapes is the cheapest.

The scheduler's attempts place the pending pods, in the order of the queue, in a copy with these nodes.
Nothing is evicted, and the nodes are all of one shape: several shapes together are not tried."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Final, NamedTuple

import msgspec

from simulator import question_words as words
from simulator.api import Manifest
from simulator.apiserver.resources import NODES, PODS
from simulator.objects.node import ZONE, Node
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
from simulator.questions.node_objects import add_node_objects
from simulator.questions.node_use import Used, compare_use, read_use
from simulator.questions.placing import Placing
from simulator.questions.returning import most_common
from simulator.what_if.pending_queue import queue_order

NODES_AT_MOST: Final = 1_000
"""Maximum number of nodes that are added."""
EACH_AT_MOST: Final = 16
"""Number of nodes up to which each number is tried; beyond, halves of what is left, which finds the smallest
number where more nodes never let fewer pods run."""
HOSTNAME: Final = "kubernetes.io/hostname"
SHAPES_AT_MOST: Final = 20


class NodeShape(msgspec.Struct, frozen=True):
    name: str
    node: Manifest
    """A Node, of which each added one is a copy with a name and a hostname of its own."""
    price: Decimal | None = None
    """What one costs, in any unit; None = not known."""
    like: str = ""
    """The node of the cluster whose devices and drivers each added one has, too; "" = none."""


class AddParameters(msgspec.Struct, frozen=True):
    shapes: Sequence[NodeShape]
    at_most: int = NODES_AT_MOST


class ShapeResult(msgspec.Struct, frozen=True):
    shape: str
    nodes: int
    """The smallest number of nodes with which as many pending pods run as with any number."""
    run: int
    """The pending pods that run then."""
    pending: int
    cost: str
    """The price of these nodes; "" = it is not known."""
    cheapest: bool
    why: str
    """Why the others stay pending."""


class AddedPod(msgspec.Struct, frozen=True):
    """Where a pending pod would run with the cheapest shape."""

    pod: str
    node: str
    zone: str
    why: str


class AddAnswer(Answer, frozen=True, kw_only=True, tag="add", tag_field="question"):
    """``figure``: the nodes of the best shape: it lets most pods run, at the lowest cost, with the fewest
    nodes."""

    shapes: list[ShapeResult]
    pods: list[AddedPod]


class _Trial(NamedTuple):
    """What happens with a number of nodes."""

    nodes: int
    pods: list[AddedPod]
    use: Mapping[str, Used] = {}

    @property
    def run(self) -> int:
        return sum(bool(pod.node) for pod in self.pods)


class AddNodes:
    def __init__(self, cluster: AskedCluster, parameters: AddParameters) -> None:
        """Raises BadQuestion, ConfigError."""
        if not 1 <= len(parameters.shapes) <= SHAPES_AT_MOST:
            raise BadQuestion(f"shapes: from 1 to {SHAPES_AT_MOST}")
        if not 1 <= parameters.at_most <= NODES_AT_MOST:
            raise BadQuestion(f"at_most: from 1 to {NODES_AT_MOST}")
        self._parameters = parameters
        self._placing = Placing(cluster, cluster.seed)
        self._before: Mapping[str, Used] = {}
        self._pods = queue_order(cluster.objects.get(PODS.id, {}).values())
        self._names = {*cluster.objects.get(NODES.id, {})}
        self._without = _Trial(0, [])
        self._results: list[tuple[NodeShape, _Trial]] = []
        self._done = False

    def run(self) -> Iterator[float]:
        for _ in self._placing.take_in():
            yield 0.0
        self._before = read_use(self._placing.cluster)
        self._without = yield from self._trial(None, 0, 0.0)
        shapes = self._parameters.shapes if self._without.run < len(self._pods) else ()
        for number, shape in enumerate(shapes):
            found = yield from self._smallest(shape, number / len(shapes))
            self._results.append((shape, found))
        self._done = True
        yield 1.0

    def _smallest(self, shape: NodeShape, done: float) -> Generator[float, None, _Trial]:
        """Return the smallest number of nodes with which as many pods run as with the largest."""
        waiting = len(self._pods) - self._without.run
        best = yield from self._trial(shape, min(waiting, self._parameters.at_most), done)
        if best.run <= self._without.run:
            return self._without
        few = 0
        while best.nodes - few > EACH_AT_MOST:
            middle = (few + best.nodes) // 2
            found = yield from self._trial(shape, middle, done)
            if found.run >= best.run:
                best = found
            else:
                few = middle
        for count in range(few + 1, best.nodes):
            found = yield from self._trial(shape, count, done)
            if found.run >= best.run:
                return found
        return best

    def _trial(self, shape: NodeShape | None, count: int, done: float) -> Generator[float, None, _Trial]:
        """Place the pending pods with so many nodes. The cluster is then as it was."""
        placing = self._placing
        added = [] if shape is None else [*self._copies(shape, count)]
        mark = placing.journal.mark
        pods: list[AddedPod] = []
        try:
            for node in added:
                placing.cluster.add_node(node)
                if shape is not None and shape.like:
                    add_node_objects(placing.journal, shape.like, node.name)
            placing.begin_again()
            places = yield from placing.place_in_turn(self._pods, done)
            for pod, found in zip(self._pods, places, strict=True):
                row = placing.cluster.rows.get(found.node)
                zone = "" if row is None else placing.cluster.node(row).labels.get(ZONE, "")
                pods.append(AddedPod(pod.key, found.node, zone, found.why))
            return _Trial(count, pods, read_use(placing.cluster))
        finally:
            placing.journal.take_back(mark)
            for node in added:
                placing.cluster.remove_node(node.name)

    def _copies(self, shape: NodeShape, count: int) -> Iterator[Node]:
        for number in range(count):
            name = f"{shape.name}-{number + 1}"
            while name in self._names:
                name += "-new"
            manifest = deepcopy(shape.node)
            manifest["metadata"]["name"] = name
            labels = manifest["metadata"].setdefault("labels", {})
            labels[HOSTNAME] = name
            yield Node.parse(manifest)

    def answer(self) -> AddAnswer:
        best = min(self._results, key=_rank, default=None)
        shown = self._without if best is None else best[1]
        use = compare_use(self._before, shown.use or self._before)
        return AddAnswer(
            summary=[*self._summary(best)],
            complete=self._done,
            figure=shown.nodes,
            zones=summed_zones(use),
            nodes=shown_nodes(use),
            shapes=[
                self._result(shape, found, best is not None and shape is best[0])
                for shape, found in self._results
            ],
            pods=shown.pods[:LISTED_AT_MOST],
        )

    def _result(self, shape: NodeShape, found: _Trial, best: bool) -> ShapeResult:
        cost = "" if shape.price is None else format(shape.price * found.nodes, "f")
        why = most_common([pod.why for pod in found.pods if not pod.node])
        return ShapeResult(
            shape.name,
            found.nodes,
            found.run,
            len(found.pods) - found.run,
            cost,
            best and found.nodes > 0,
            why,
        )

    def _summary(self, best: tuple[NodeShape, _Trial] | None) -> Iterator[Sentence]:
        if not self._pods or (self._without.pods and self._without.run == len(self._pods)):
            yield Sentence(words.NO_ROOM_NEEDED)
            return
        if best is None:
            return
        shape, found = best
        if not found.nodes:
            yield Sentence(words.NO_NODES_HELP)
        else:
            counts = {"pods": str(found.run), "all": str(len(found.pods))}
            yield Sentence(words.ADD_NODES, {"nodes": str(found.nodes), "shape": shape.name, **counts})
            if shape.price is not None and len(self._results) > 1:
                yield Sentence(words.ADD_COSTS, {"cost": format(shape.price * found.nodes, "f")})
        waiting = [pod.why for pod in found.pods if not pod.node]
        if waiting:
            values = {"count": str(len(waiting)), "why": as_sentence(most_common(waiting))}
            yield Sentence(words.STAY_WITHOUT_NODE, values)


def _rank(result: tuple[NodeShape, _Trial]) -> tuple[int, bool, Decimal, int]:
    """The sort key by which the best shape is the smallest."""
    shape, found = result
    cost = Decimal(0) if shape.price is None else shape.price * found.nodes
    return -found.run, shape.price is None, cost, found.nodes
