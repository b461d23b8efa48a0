"""A question as plain fields, as forms, programs and the command line give them."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resources import NODES
from simulator.questions.add_nodes import NODES_AT_MOST, AddParameters
from simulator.questions.answer import AskedCluster, AskedQuestion, BadQuestion
from simulator.questions.ask import AnyAnswer, AnyParameters, begin
from simulator.questions.drain import DrainParameters
from simulator.questions.fits import FitsParameters
from simulator.questions.how_many_more import COUNTED_AT_MOST, MoreParameters, check_template
from simulator.questions.node_selection import NodeChoice, parse_selector
from simulator.questions.removable import RemovableParameters
from simulator.questions.shape_text import parse_shapes

QuestionName = Literal["fits", "more", "drain", "removable", "add", "evictions"]
WITH_MANIFESTS: Final = ("fits", "more")
WITH_NODES: Final = ("drain", "removable")


class QuestionFields(msgspec.Struct, frozen=True, omit_defaults=True):
    question: QuestionName
    manifests: list[Manifest] = []
    """Of ``fits`` and ``more``."""
    sizes: list[int] = []
    """Of ``more``: the pods of each manifest in a set of a mix; empty = one of each."""
    at_most: int = 0
    """Of ``more``: the pods at which it ends; of ``add``: the nodes. 0 = as many as possible."""
    nodes: list[str] = []
    """Of ``drain`` and ``removable``, as the next five: names; empty = all that the others choose."""
    selector: str = ""
    zone: str = ""
    emptiest: int = 0
    """The number of the emptiest nodes; 0 = all."""
    force: bool = False
    delete_local: bool = False
    shapes: list[str] = []
    """Of ``add``: :mod:`simulator.questions.shape_text`."""
    seeds: int = 1
    """How many seeds are tried."""


def begin_question(cluster: AskedCluster, fields: QuestionFields) -> AskedQuestion[AnyAnswer]:
    """Return the question, which is answered when it is run. Raises BadQuestion, ConfigError."""
    return begin(cluster, parameters_of(fields, cluster.objects.get(NODES.id, {})), fields.seeds)


def parameters_of(fields: QuestionFields, nodes: Mapping[str, Manifest]) -> AnyParameters:
    """nodes: those of the cluster, which shapes may name. Raises BadQuestion, with the name of the field."""
    choice = NodeChoice(fields.nodes, fields.selector, fields.zone, fields.emptiest)
    if fields.emptiest < 0:
        raise BadQuestion("emptiest: a number from 1")
    parse_selector(fields.selector)
    match fields.question:
        case "fits":
            return FitsParameters(fields.manifests)
        case "more":
            for index, manifest in enumerate(fields.manifests):
                check_template(manifest, f"manifests[{index}]")
            return MoreParameters(fields.manifests, fields.sizes, fields.at_most or COUNTED_AT_MOST)
        case "drain":
            if not choice.is_given:
                raise BadQuestion("nodes: name the nodes, by name, labels or zone, or as the emptiest ones")
            return DrainParameters(choice, fields.force, fields.delete_local)
        case "removable":
            return RemovableParameters(choice, fields.force, fields.delete_local)
        case "add":
            return AddParameters(parse_shapes(fields.shapes, nodes), fields.at_most or NODES_AT_MOST)
    raise BadQuestion(f"question: {fields.question} is answered by what a sandbox or Events remember")
