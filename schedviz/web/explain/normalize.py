"""Formulas of NormalizeScore, which scales the raw scores of a plugin to 0..100."""

from collections.abc import Callable, Mapping
from typing import Final

from django.utils.translation import gettext

from schedviz.web.explain.sums import Sum, signed
from simulator.decision import PluginScores


def in_proportion(row: PluginScores, place: int) -> Sum:
    """Return the formula of preferred node affinity: the highest score becomes 100."""
    raw, highest = row.raw[place], max(row.raw)
    if not highest:
        return Sum(gettext("no node has any"), "0", "0")
    expression, named = f"100*{raw}/{highest}", f"100 \u00d7 {raw_text(raw)} / {highest_text(highest)}"
    return Sum(gettext("of the highest"), expression, str(100 * raw // highest), named)


def raw_text(raw: int) -> str:
    return gettext("raw %(n)s") % {"n": raw}


def lowest_text(lowest: int) -> str:
    return gettext("lowest %(n)s") % {"n": signed(lowest)}


def highest_text(highest: int) -> str:
    return gettext("highest %(n)s") % {"n": highest}


def reversed_(row: PluginScores, place: int) -> Sum:
    """Return the formula of taints: no taint is 100, the most is 0."""
    raw, highest = row.raw[place], max(row.raw)
    if not highest:
        return Sum(gettext("no node has any"), "100", "100")
    expression = f"100-100*{raw}/{highest}"
    named = f"100 \u2212 100 \u00d7 {raw_text(raw)} / {highest_text(highest)}"
    return Sum(gettext("less is better"), expression, str(100 - 100 * raw // highest), named)


def between(row: PluginScores, place: int) -> Sum:
    """Return the formula of inter-pod affinity: the lowest score becomes 0, the highest 100."""
    raw, lowest, highest = row.raw[place], min(row.raw), max(row.raw)
    if highest == lowest:
        return Sum(gettext("all nodes are equal"), "0", "0")
    score = int(100 * ((raw - lowest) / (highest - lowest)))
    low = signed(lowest)
    expression = f"100*({raw}-{low})/({highest}-{low})"
    named = (
        f"100 \u00d7 ({raw_text(raw)} \u2212 {lowest_text(lowest)})"
        f" / ({highest_text(highest)} \u2212 {lowest_text(lowest)})"
    )
    return Sum(gettext("between lowest and highest, in floats"), expression, str(score), named)


def spread(row: PluginScores, place: int) -> Sum:
    """Return the formula of topology spread: few matching pods give a high score. A node without a topology
    key gets 0 and does not count for lowest and highest; it is recognized by a raw score and a normalized
    score of 0."""
    if ignored(row, place):
        return Sum(gettext("the node lacks a topology key"), "0", "0")
    counted = [raw for each, raw in enumerate(row.raw) if not ignored(row, each)]
    raw, lowest, highest = row.raw[place], min(counted), max(counted)
    if not highest:
        return Sum(gettext("no matching pods to count"), "100", "100")
    expression = f"100*({highest}+{lowest}-{raw})/{highest}"
    named = (
        f"100 \u00d7 ({highest_text(highest)} + {lowest_text(lowest)} \u2212 {raw_text(raw)})"
        f" / {highest_text(highest)}"
    )
    return Sum(gettext("less is better"), expression, str(100 * (highest + lowest - raw) // highest), named)


def ignored(row: PluginScores, place: int) -> bool:
    return row.raw[place] == 0 and row.normalized[place] == 0


NORMALIZE: Final[Mapping[str, Callable[[PluginScores, int], Sum]]] = {
    "DynamicResources": in_proportion,
    "NodeAffinity": in_proportion,
    "TaintToleration": reversed_,
    "InterPodAffinity": between,
    "PodTopologySpread": spread,
}
"""Plugin -> its formula. The other plugins do not normalize."""
