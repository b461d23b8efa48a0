"""Formulas of NodeResourcesFit and NodeResourcesBalancedAllocation for one node, as in
simulator/plugins/node_resources/resource_allocation.py."""

from collections.abc import Sequence
from math import floor, sqrt
from typing import Final, NamedTuple

from django.utils.translation import gettext
from msgspec import UNSET, UnsetType

from schedviz.web.explain.sums import Sum, amount, fraction
from simulator.decision import PluginScores

CUSTOM: Final = 10
"""Factor that scales the scores of a shape, 0 to 10, to 0 to 100."""


class Held(NamedTuple):
    """A resource of the node."""

    name: str
    weight: int
    requested: int
    capacity: int
    request: int | UnsetType = UNSET
    """The pod's part of what is requested; UNSET where the score does not depend on it alone."""


def held(row: PluginScores, at: int) -> list[Held]:
    found = [Held(i.resource, i.weight, i.requested[at], i.allocatable[at], i.request) for i in row.inputs]
    return [each for each in found if each.capacity]


def fit(row: PluginScores, at: int) -> list[Sum]:
    resources = held(row, at)
    if row.strategy == "RequestedToCapacityRatio":
        return by_shape(row, resources)
    one = most if row.strategy == "MostAllocated" else least
    sums = [one(each) for each in resources]
    return [*sums, mean(resources, [int(each.result) for each in sums])]


def least(of: Held) -> Sum:
    if of.requested > of.capacity:
        return Sum(of.name, "0", "0")
    free = (of.capacity - of.requested) * 100 // of.capacity
    expression = f"({of.capacity}-{of.requested})*100/{of.capacity}"
    named = f"({allocatable(of)} \u2212 {requested(of)}) \u00d7 100 / {allocatable(of)}"
    return Sum(of.name, expression, str(free), named)


def most(of: Held) -> Sum:
    of = of._replace(requested=min(of.requested, of.capacity))
    expression = f"{of.requested}*100/{of.capacity}"
    named = f"{requested(of)} \u00d7 100 / {allocatable(of)}"
    return Sum(of.name, expression, str(of.requested * 100 // of.capacity), named)


def requested(of: Held) -> str:
    return gettext("requested %(amount)s") % {"amount": amount(of.name, of.requested)}


def allocatable(of: Held) -> str:
    return gettext("allocatable %(amount)s") % {"amount": amount(of.name, of.capacity)}


def mean(resources: Sequence[Held], scores: Sequence[int]) -> Sum:
    if not scores:
        return Sum(gettext("the node has none of the resources"), "0", "0")
    weights = [each.weight for each in resources]
    total = sum(score * weight for score, weight in zip(scores, weights, strict=True))
    products, named = weighted(resources, scores)
    result = str(total // sum(weights))
    return Sum(gettext("weighted mean"), products, result, named)


def weighted(resources: Sequence[Held], scores: Sequence[int]) -> tuple[str, str]:
    """Return the expression of the weighted mean of scores, without and with names."""
    pairs = [*zip(resources, scores, strict=True)]
    products = "+".join(f"{score}*{each.weight}" for each, score in pairs)
    divisor = "+".join(str(each.weight) for each in resources)
    weight = gettext("weight")
    named = " + ".join(f"{each.name} {score} \u00d7 {weight} {each.weight}" for each, score in pairs)
    return f"({products})/({divisor})", f"({named}) / ({' + '.join(str(each.weight) for each in resources)})"


def by_shape(row: PluginScores, resources: Sequence[Held]) -> list[Sum]:
    sums, scores, scored = [], [], []
    for each in resources:
        used = 100 if each.requested > each.capacity else each.requested * 100 // each.capacity
        expression, named = "100", ""
        if each.requested <= each.capacity:
            expression = f"{each.requested}*100/{each.capacity}"
            named = f"{requested(each)} \u00d7 100 / {allocatable(each)}"
        sums.append(Sum(gettext("%(resource)s used") % {"resource": each.name}, expression, str(used), named))
        on_shape = shape_at(row.shape, used)
        sums.append(on_shape)
        if int(on_shape.result):  # upstream does not count the weight of a score of 0
            scores.append(int(on_shape.result))
            scored.append(each)
    if not scores:
        return [*sums, Sum(gettext("weighted mean"), "0", "0")]
    total = sum(score * each.weight for each, score in zip(scored, scores, strict=True))
    products, named = weighted(scored, scores)
    rounded = str(floor(total / sum(each.weight for each in scored) + 0.5))
    name = gettext("weighted mean, rounded")
    return [*sums, Sum(name, f"round({products})", rounded, f"round({named})")]


def shape_at(shape: Sequence[tuple[int, int]], used: int) -> Sum:
    name = gettext("score from the shape")
    before: tuple[int, int] | None = None
    for utilization, score in shape:
        if used <= utilization:
            if before is None:
                break
            low, start = before[0], before[1] * CUSTOM
            rise, run = (score * CUSTOM - start) * (used - low), utilization - low
            increase = abs(rise) // run * (1 if rise >= 0 else -1)
            expression = f"{start}+({score * CUSTOM}-{start})*({used}-{low})/({utilization}-{low})"
            return Sum(name, expression, str(start + increase))
        before = utilization, score
    else:
        score = shape[-1][1]
    return Sum(name, f"{score}*{CUSTOM}", str(score * CUSTOM))


def balanced(row: PluginScores, at: int) -> list[Sum]:
    resources = held(row, at)
    if all(each.request is UNSET for each in row.inputs):  # until v1.35
        return balance(resources, "%(resource)s", gettext("rounded down"))
    before = [each._replace(requested=each.requested - (each.request or 0)) for each in resources]
    after = balance(resources, gettext("%(resource)s, with the pod"), gettext("with the pod, rounded down"))
    earlier = balance(
        before, gettext("%(resource)s, without the pod"), gettext("without the pod, rounded down")
    )
    values = {"with": after[-1].result, "without": earlier[-1].result}
    gain = int(values["with"]) - int(values["without"])
    name = gettext("with %(with)s, without %(without)s") % values
    expression = f"50 + (50 + {values['with']} \u2212 {values['without']}) / 2"
    plain = expression.replace("\u2212", "-").replace(" ", "")
    return [*after, *earlier, Sum(name, plain, str(50 + int((50 + gain) / 2)), expression)]


def balance(resources: Sequence[Held], label: str, last: str) -> list[Sum]:
    """Return how balanced the requested fractions of the resources are. ``label``: how a line is called, with
    ``%(resource)s`` for the resource; ``last``: how the last line is called."""
    fractions = [min(each.requested / each.capacity, 1.0) for each in resources]
    sums = [
        Sum(label % {"resource": each.name}, "1", "1")
        if value == 1.0
        else Sum(
            label % {"resource": each.name},
            f"{each.requested}/{each.capacity}",
            fraction(value),
            f"{requested(each)} / {allocatable(each)}",
        )
        for each, value in zip(resources, fractions, strict=True)
    ]
    shown = [each.result for each in sums]
    deviation, expression = 0.0, "0"
    if len(fractions) == 2:
        deviation, expression = abs((fractions[0] - fractions[1]) / 2), f"|{shown[0]}-{shown[1]}|/2"
    elif len(fractions) > 2:
        middle = sum(fractions) / len(fractions)
        deviation = sqrt(sum((each - middle) * (each - middle) for each in fractions) / len(fractions))
        sums.append(Sum(gettext("mean"), f"({'+'.join(shown)})/{len(shown)}", fraction(middle)))
        squares = "+".join(f"({each}-{fraction(middle)})^2" for each in shown)
        expression = f"sqrt(({squares})/{len(shown)})"
    sums.append(Sum(gettext("standard deviation"), expression, fraction(deviation)))
    score = int((1 - deviation) * 100.0)
    return [*sums, Sum(last, f"(1-{fraction(deviation)})*100", str(score))]
