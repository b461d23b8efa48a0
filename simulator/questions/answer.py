"""What the answers of all questions have in common, as plain data for the command line, pages and
programs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

import msgspec

from simulator.api import Manifest, Micros
from simulator.memory_sandbox import START
from simulator.versions.features import DEFAULT_FEATURES, Features

LISTED_AT_MOST = 5_000
"""Maximum number of rows of one list of an answer; all are counted."""
NODES_AT_MOST = 200
"""Maximum number of nodes of an answer, those that change first."""


class BadQuestion(ValueError):
    """The parameters of a question are wrong. The message names the parameter."""


class AskedCluster(msgspec.Struct, frozen=True):
    """The cluster that a question is about. Nothing in it is changed."""

    objects: Mapping[str, Mapping[str, Manifest]]
    """Resource -> key -> manifest."""
    configuration: Manifest | None = None
    features: Features = DEFAULT_FEATURES
    seed: int = 0
    now: Micros = START
    lost_owners: Mapping[str, str] = {}
    """Pods whose controller is not among the objects, as in many dumps: key -> kind and name of it. They are
    not created again when they are evicted."""
    stand_ins: int = 0
    """The number of ReplicaSets that were made up for pods whose own one is not among the objects."""


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of :mod:`simulator.question_words`, and the values that are inserted."""

    text: str
    values: dict[str, str] = {}

    def __str__(self) -> str:
        return self.text % self.values


NodeChange = Literal["", "added", "drained", "removed"]


class NodeUse(msgspec.Struct, frozen=True):
    """What pods request of a node before and after: cpu in millicores, memory in bytes, and the number of
    pods."""

    node: str
    zone: str
    allocatable: dict[str, int]
    before: dict[str, int]
    after: dict[str, int]
    change: NodeChange = ""


class ZoneUse(msgspec.Struct, frozen=True):
    """The sums of the nodes of a zone. zone: "" = those without the label."""

    zone: str
    nodes: int
    allocatable: dict[str, int]
    before: dict[str, int]
    after: dict[str, int]


class FigureRange(msgspec.Struct, frozen=True):
    """The smallest and the largest figure of several runs, which differ in how ties are broken."""

    seeds: int
    least: int
    most: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer. Each question has a subclass, whose lists are its tables."""

    summary: list[Sentence]
    """What is to be read first."""
    complete: bool = True
    """False: the question was stopped, and this is what was found until then."""
    notes: list[Sentence] = []
    """What the answer assumes or leaves out."""
    figure: int
    """The number that the answer is about: the pods that fit, the nodes that can be removed."""
    range: FigureRange | None = None
    zones: list[ZoneUse] = []
    nodes: list[NodeUse] = []


A_co = TypeVar("A_co", bound=Answer, covariant=True)


class AskedQuestion(Protocol[A_co]):
    """A question that is being answered."""

    def run(self) -> Iterator[float]:
        """Do the work, and yield often how much of it is done; 1.0 = all. To be iterated once. It can be
        left at any yield."""
        ...

    def answer(self) -> A_co:
        """Return the answer, or what is known until now."""
        ...


def summed_zones(nodes: Sequence[NodeUse]) -> list[ZoneUse]:
    """Return the sums of each zone, in the order of their names."""
    zones: dict[str, list[NodeUse]] = {}
    for node in nodes:
        zones.setdefault(node.zone, []).append(node)
    return [
        ZoneUse(
            zone,
            len(found),
            sum_amounts([node.allocatable for node in found]),
            sum_amounts([node.before for node in found]),
            sum_amounts([node.after for node in found]),
        )
        for zone, found in sorted(zones.items())
    ]


def sum_amounts(each: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for amounts in each:
        for resource, amount in amounts.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def shown_nodes(nodes: Sequence[NodeUse]) -> list[NodeUse]:
    """Return at most NODES_AT_MOST nodes, those that change first."""
    if len(nodes) <= NODES_AT_MOST:
        return [*nodes]
    return sorted(nodes, key=lambda node: node.before == node.after and not node.change)[:NODES_AT_MOST]


def as_sentence(message: str) -> str:
    """Return a message of the scheduler or the API server as it ends a sentence."""
    return f"{message}." if message and message[-1] not in ".!?" else message
