"""Texts about the number of nodes that a scheduler looks at (percentageOfNodesToScore), and the nodes that it
did not look at in a cycle."""

from django.utils.translation import gettext

from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.api import Manifest
from simulator.config.configuration import ADAPTIVE_PERCENT, ALL_NODES_PERCENT
from simulator.decision import MIN_FEASIBLE_NODES_TO_FIND, NodeSample
from simulator.plugins.registry import load
from simulator.versions.features import Features


def sample_sentence(sample: NodeSample) -> str:
    text = gettext("The scheduler looked at %(looked)s of %(nodes)s nodes.")
    if sample.is_enough:
        text = gettext(
            "The scheduler looked at %(looked)s of %(nodes)s nodes, from %(first)s on: %(n)s feasible nodes "
            "were enough."
        )
    return text % {
        "looked": fmt.number(sample.looked_at),
        "nodes": fmt.number(sample.nodes),
        "first": node_name(sample.first),
        "n": fmt.number(sample.feasible),
    }


def percentage_words(percentage: int) -> str:
    """Return the value of percentageOfNodesToScore in words."""
    if percentage == ADAPTIVE_PERCENT:
        return gettext("as kube-scheduler: a part of the nodes, from %(n)s nodes on") % {
            "n": MIN_FEASIBLE_NODES_TO_FIND
        }
    if percentage == ALL_NODES_PERCENT:
        return gettext("all nodes")
    return gettext("until %(percent)s%% of the nodes are feasible") % {"percent": percentage}


def configured_percentages(config: Manifest | None, features: Features) -> dict[str, int]:
    """Return the percentageOfNodesToScore of each profile of a valid configuration, by schedulerName."""
    found = load(config, features=features).profiles
    return {profile.scheduler_name: profile.percentage_of_nodes_to_score for profile in found}


def what_if_words(config: Manifest | None, features: Features, scheduler_name: str, nodes: int) -> str:
    """Return a sentence about the nodes that the attempts of a what-if question look at; "" if there is no
    such profile, and for few nodes, of which all are looked at."""
    percentage = configured_percentages(config, features).get(scheduler_name)
    if percentage is None or nodes <= MIN_FEASIBLE_NODES_TO_FIND:
        return ""
    if percentage == ALL_NODES_PERCENT:
        return gettext("Each attempt looked at all nodes.")
    return gettext(
        "Each attempt looked at nodes until enough were feasible, as this scheduler does "
        "(percentageOfNodesToScore %(percentage)s). It may begin at another node when the pod is scheduled, "
        "and choose another one."
    ) % {"percentage": percentage}


def configuration_words(config: Manifest | None, features: Features) -> str:
    """Return a sentence about the nodes that the profiles of a configuration look at."""
    found = configured_percentages(config, features)
    words = {name: percentage_words(each) for name, each in found.items()}
    if len({*words.values()}) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{name}: {each}" for name, each in words.items())
