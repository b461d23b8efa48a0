"""The resource scores over columns against the same rules written for one node, in plain integers."""

from math import sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.plugins.node_resources.resource_allocation import (
    Allocation,
    UtilizationShapePoint,
    balanced_allocation,
    least_allocated,
    most_allocated,
    requested_to_capacity_ratio,
)

Resource = tuple[int, int, int]
"""Weight, allocatable, requested."""

amounts = st.one_of(st.integers(0, 20), st.integers(0, 1 << 45))
NODES = 3


@st.composite
def clusters(draw: st.DrawFn) -> list[list[Resource]]:
    """Some resources over three nodes."""
    weights = draw(st.lists(st.integers(1, 100), min_size=1, max_size=4))
    return [[(weight, draw(amounts), draw(amounts)) for _ in range(NODES)] for weight in weights]


shapes = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 10)),
    min_size=1,
    max_size=5,
    unique_by=lambda point: point[0],
).map(sorted)


def columns(resources: list[list[Resource]]) -> list[Allocation]:
    return [
        Allocation(line[0][0], np.array([a for _, a, _ in line]), np.array([r for _, _, r in line]))
        for line in resources
    ]


def mean(scores: list[tuple[int, int]]) -> int:
    weight = sum(w for w, _ in scores)
    return sum(w * score for w, score in scores) // weight if weight else 0


@given(clusters())
def test_least_and_most_allocated(resources: list[list[Resource]]) -> None:
    least, most = [], []
    for i in range(NODES):
        here = [line[i] for line in resources if line[i][1]]
        least.append(mean([(w, 0 if r > a else (a - r) * 100 // a) for w, a, r in here]))
        most.append(mean([(w, min(r, a) * 100 // a) for w, a, r in here]))
    assert least_allocated(columns(resources), NODES).tolist() == least
    assert most_allocated(columns(resources), NODES).tolist() == most


def on_curve(shape: list[tuple[int, int]], p: int) -> int:
    before: tuple[int, int] | None = None
    for utilization, score in shape:
        if p <= utilization:
            if before is None:
                return score * 10
            rise = (score - before[1]) * 10 * (p - before[0])
            return before[1] * 10 + int(rise / (utilization - before[0]))
        before = (utilization, score)
    return shape[-1][1] * 10


@given(clusters(), shapes)
def test_requested_to_capacity_ratio(resources: list[list[Resource]], shape: list[tuple[int, int]]) -> None:
    expected = []
    for i in range(NODES):
        scores = []
        for weight, allocatable, requested in (line[i] for line in resources if line[i][1]):
            p = 100 if requested > allocatable else requested * 100 // allocatable
            if score := on_curve(shape, p):
                scores.append((weight, score))
        weight = sum(w for w, _ in scores)
        total = sum(w * score for w, score in scores)
        expected.append((2 * total + weight) // (2 * weight) if weight else 0)
    points = [UtilizationShapePoint(utilization, score) for utilization, score in shape]
    assert requested_to_capacity_ratio(points)(columns(resources), NODES).tolist() == expected


@given(clusters())
def test_balanced_allocation(resources: list[list[Resource]]) -> None:
    expected = []
    for i in range(NODES):
        fractions = [min(line[i][2] / line[i][1], 1.0) for line in resources if line[i][1]]
        deviation = 0.0
        if len(fractions) == 2:
            deviation = abs((fractions[0] - fractions[1]) / 2)
        elif len(fractions) > 2:
            total = 0.0
            for fraction in fractions:
                total += fraction
            centre = total / len(fractions)
            squares = 0.0
            for fraction in fractions:
                squares += (fraction - centre) * (fraction - centre)
            deviation = sqrt(squares / len(fractions))
        expected.append(int((1 - deviation) * 100))
    assert balanced_allocation(columns(resources), (NODES,)).tolist() == expected
