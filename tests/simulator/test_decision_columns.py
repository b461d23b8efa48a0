"""The two forms of a Decision in JSON, which have the same content."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cluster.node_names import NAMES_KEPT, NodeNames
from simulator.decision import Decision, PluginScores
from simulator.decision_columns import IntColumn, decision_decoder, plain_encoder, stored_encoder
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.scheduler import attempt_record
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt

INT64 = st.integers(-(2**63), 2**63 - 1)
RUNS = st.lists(st.tuples(INT64, st.integers(1, 90)), max_size=8).map(
    lambda runs: [value for value, count in runs for _ in range(count)]
)
STEPS = st.tuples(st.integers(-9, 9), st.integers(-(2**40), 2**40), st.integers(33, 300)).map(
    lambda line: [line[1] + line[0] * place for place in range(line[2])]
)
NOISE = st.integers(1, 62).flatmap(
    lambda bits: st.lists(st.integers(-(2**bits), 2**bits), min_size=33, max_size=90)
)
INTEGERS = st.one_of(RUNS, STEPS, NOISE, st.lists(INT64, max_size=40))


class Held(msgspec.Struct):
    column: IntColumn
    names: NodeNames = NodeNames()


def stored_size(values: Any) -> int:
    return len(stored_encoder.encode(IntColumn(values)))


@given(INTEGERS)
def test_a_column_is_read_as_it_was_written(values: list[int]) -> None:
    column = IntColumn(np.array(values, dtype=np.int64))
    assert column == values
    assert [*column] == values
    assert len(column) == len(values)
    for encoder in (stored_encoder, plain_encoder):
        read = decision_decoder(Held).decode(encoder.encode(Held(column))).column
        assert read == column
        assert read.tolist() == values
        assert all(type(value) is int for value in read)
    assert msgspec.json.decode(plain_encoder.encode(column)) == values


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_a_column_of_any_integer_type_is_read_as_it_was_written(kind: Any) -> None:
    limits = np.iinfo(kind)
    values = np.random.default_rng(1).integers(limits.min, limits.max, 200, dtype=kind, endpoint=True)
    read = decision_decoder(Held).decode(stored_encoder.encode(Held(IntColumn(values)))).column
    assert read == values.tolist()


def test_a_column_is_stored_in_the_form_that_is_short() -> None:
    drawn = np.random.default_rng(1)
    assert stored_size(np.zeros(5000, dtype=np.int8)) < 20, "equal neighbours are counted"
    assert stored_size(np.arange(5000)) < 25, "and so are equal steps"
    assert stored_size(drawn.integers(0, 101, 5000)) < 6_800, "scores are a byte each"
    assert stored_size(drawn.integers(0, 30_000, 5000)) < 13_500


@pytest.mark.parametrize("count", [0, 1, 32, 33, 5000])
def test_names_are_compressed_where_they_are_many(count: int) -> None:
    names = NodeNames(f"node-{number}" for number in range(count))
    data = stored_encoder.encode(Held(IntColumn(), names))
    read, again = (decision_decoder(Held).decode(data).names for _ in range(2))
    assert read == names == [*names]
    assert (read is again) == (count > 32), "Decisions of the same nodes share one list"
    assert len(data) < 4 * count + 1000
    assert msgspec.json.decode(plain_encoder.encode(names)) == [*names]
    assert NAMES_KEPT < 100


@pytest.mark.parametrize(
    "stored",
    ["3", '"x"', '{"runs":[1]}', '{"runs":["a",1]}', '{"runs":[1,-1]}', '{"width":3,"bytes":"AAAA"}', "{}"],
)
def test_an_invalid_column_is_refused(stored: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.column"):
        decision_decoder(Held).decode(f'{{"column":{stored}}}')


@pytest.mark.parametrize("stored", ["3", '"x"', '"eA=="', "[1]"])
def test_an_invalid_list_of_names_is_refused(stored: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.names"):
        decision_decoder(Held).decode(f'{{"column":[],"names":{stored}}}')


def test_weighted_scores_totals_and_tied_nodes_follow_from_the_scores() -> None:
    cluster = a_cluster([a_node(f"n{number}", str(4 + number % 3)) for number in range(60)])
    made = record(attempt(cluster, a_pod("web", "1")))
    stored = stored_encoder.encode(made)
    for part in (b'"raw":null', b'"weighted":null', b'"totals":null', b'"tied":null'):
        assert part in stored
    for data in (stored, plain_encoder.encode(made)):
        read = decision_decoder(Decision).decode(data)
        assert read == made
        assert plain_encoder.encode(read) == plain_encoder.encode(made)
        for scores in read.scores:
            assert scores.weighted == [scores.weight * score for score in scores.normalized]
        assert read.totals == [sum(each) for each in zip(*(s.weighted for s in read.scores), strict=True)]
        top = max(read.totals)
        best = {place for place, total in zip(read.feasible, read.totals, strict=True) if total == top}
        assert read.tied == [name for place, name in enumerate(read.nodes) if place in best]
    assert len(stored) < len(plain_encoder.encode(made))


def test_a_decision_shares_equal_columns_with_the_one_before() -> None:
    cluster = a_cluster([a_node(f"n{number}", str(4 + number % 3)) for number in range(60)])
    before = record(attempt(cluster, a_pod("web", "1")))
    cluster.add_pod(Pod.parse(a_pod("web", "1")).assumed("n7"))
    made = attempt(cluster, a_pod("db", "1"))
    sharing = record(made, before=before)
    assert stored_encoder.encode(sharing) == stored_encoder.encode(record(made))
    assert sharing.verdicts is before.verdicts
    fits = [d.scores[[s.plugin for s in d.scores].index("NodeResourcesFit")] for d in (before, sharing)]
    assert fits[0].raw is not fits[1].raw
    assert sum(a.raw is b.raw for a, b in zip(before.scores, sharing.scores, strict=True)) >= 2


def test_the_inputs_of_scores_are_those_of_the_nodes_as_they_are_now() -> None:
    cluster = a_cluster([a_node(f"n{number}", "8") for number in range(3)])

    def amounts() -> list[dict[str, tuple[list[int], list[int]]]]:
        """Return the requested and allocatable amounts of both plugins that score by them."""
        scores = record(attempt(cluster, a_pod("web", "1"))).scores
        inputs = {each.plugin: each.inputs for each in scores if each.plugin.startswith("NodeResources")}
        return [{i.resource: (i.requested, i.allocatable) for i in each} for each in inputs.values()]

    before = amounts()
    assert len(before) == 2
    assert [each["cpu"] for each in before] == [([1000] * 3, [8000] * 3)] * 2
    assert amounts() == before
    cluster.add_pod(Pod.parse(a_pod("db", "2")).assumed("n0"))
    assert [each["cpu"] for each in amounts()] == [([1000, 1000, 3000], [8000] * 3)] * 2
    cluster.add_node(Node.parse(a_node("n1", "6")))
    assert [each["cpu"] for each in amounts()] == [([1000, 1000, 3000], [8000, 6000, 8000])] * 2


@given(st.lists(st.integers(-4, 4) | INT64.filter(lambda value: value > -(2**63)), max_size=60))
def test_the_best_nodes_are_in_order_of_their_totals(totals: list[int]) -> None:
    order = sorted(range(len(totals)), key=lambda place: -totals[place])
    top = [place for place in range(len(totals)) if totals[place] == max(totals)]
    best = attempt_record._best(np.array(totals, dtype=np.int64), np.array(top, dtype=np.intp))
    assert best.tolist() == order[:16]


def test_one_feasible_node_is_chosen_without_scores() -> None:
    made = record(attempt(a_cluster([a_node("n1"), a_node("n2", "1")]), a_pod("web", "2")))
    read = decision_decoder(Decision).decode(stored_encoder.encode(made))
    assert (read.totals, read.scores, read.tied, read.selected) == ([], [], ["n1"], "n1")


def test_a_decision_of_an_earlier_version_can_be_read() -> None:
    """Its columns are lists, its weighted scores and totals are stored."""
    scores = decision_decoder(PluginScores).decode(
        '{"plugin":"A","weight":2,"raw":[7,9],"normalized":[70,90],"weighted":[140,180],"terms":[]}'
    )
    assert (scores.raw, scores.normalized, scores.weighted) == ([7, 9], [70, 90], [140, 180])
