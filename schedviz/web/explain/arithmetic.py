"""The arithmetic of one cell of the score table, from the plugin's inputs to the weighted score."""

from typing import Final

import msgspec
from django.utils.translation import gettext, gettext_noop

from schedviz.web.explain import counts, resources
from schedviz.web.explain.normalize import NORMALIZE
from schedviz.web.explain.sums import Sum
from simulator.decision import Decision, PluginScores
from simulator.plugins.image_locality import MAX_CONTAINER_THRESHOLD, MIN_THRESHOLD

COUNTED: Final = {
    "DynamicResources": gettext_noop(
        "8 for the first subrequest of a request, 7 for the second and so on, of those that were allocated"
    ),
    "NodeAffinity": gettext_noop("weights of the preferred terms that select the node, added up"),
    "TaintToleration": gettext_noop("PreferNoSchedule taints that the pod does not tolerate"),
    "InterPodAffinity": gettext_noop("weights of the matching pods in the node's domains, added up"),
    "PodTopologySpread": gettext_noop(
        "matching pods in the node's domains, weighted by the number of domains"
    ),
}
"""The things that the raw score counts, for plugins whose raw score is a count."""


class Arithmetic(msgspec.Struct, frozen=True):
    plugin: str
    node: str
    strategy: str
    sums: list[Sum]
    note: str
    """The things that the raw score counts, if its terms are not recorded."""


def arithmetic(decision: Decision, plugin: str, node: str) -> Arithmetic | None:
    """Return the arithmetic of a plugin's score for a node; None if the plugin did not score the node."""
    row = next((each for each in decision.scores if each.plugin == plugin), None)
    place = next((at for at, n in enumerate(decision.feasible) if decision.nodes[n] == node), None)
    if row is None or place is None:
        return None
    sums = raw_score_sums(decision, row, place) or term_sums(decision, row, place)
    if plugin in NORMALIZE:
        sums.append(NORMALIZE[plugin](row, place))
    normalized, weighted = row.normalized[place], row.weighted[place]
    values = {"normalised": normalized, "weight": row.weight}
    named = gettext("normalised %(normalised)s \u00d7 weight %(weight)s") % values
    sums.append(Sum(gettext("times the weight"), f"{normalized}*{row.weight}", str(weighted), named))
    note = "" if row.inputs or row.terms else gettext(COUNTED[plugin]) if plugin in COUNTED else ""
    return Arithmetic(plugin, node, row.strategy, sums, f"{note}: {row.raw[place]}" if note else "")


def raw_score_sums(decision: Decision, row: PluginScores, place: int) -> list[Sum]:
    """Return the formulas of the raw score, if its inputs are recorded."""
    if not row.inputs or place not in decision.explained:
        return []
    at = decision.explained.index(place)
    match row.plugin:
        case "NodeResourcesFit":
            return resources.fit(row, at)
        case "NodeResourcesBalancedAllocation":
            return resources.balanced(row, at)
        case "ImageLocality":
            return [images(row, at)]
        case _:
            return []


def term_sums(decision: Decision, row: PluginScores, place: int) -> list[Sum]:
    """Return the terms of a count, and their sum; [] if they are not recorded, or do not give the raw score
    because the cluster had changed when they were recorded."""
    if not row.terms or place not in decision.explained:
        return []
    sums = counts.of_terms(row, decision.explained.index(place))
    return sums if sums[-1].result == str(row.raw[place]) else []


def images(row: PluginScores, at: int) -> Sum:
    """Return the score of ImageLocality: the bytes of the pod's images on the node, between the two
    thresholds."""
    [held] = row.inputs
    most = MAX_CONTAINER_THRESHOLD * held.weight
    there = min(max(held.requested[at], MIN_THRESHOLD), most)
    expression = f"100*({there}-{MIN_THRESHOLD})/({most}-{MIN_THRESHOLD})"
    score = 100 * (there - MIN_THRESHOLD) // (most - MIN_THRESHOLD)
    return Sum(gettext("bytes of the pod's images on the node"), expression, str(score))
