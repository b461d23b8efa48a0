"""What the page shows for nodes that the scheduler did not check (percentageOfNodesToScore)."""

from typing import Any

import pytest
from msgspec.structs import replace

from schedviz.web.cycle import cycle, sampling, why
from schedviz.web.nodes import grid
from schedviz.web.picture.priority import Ranks
from schedviz.web.reasons import verdicts
from simulator.decision import PluginScores
from simulator.decision_columns import IntColumn
from simulator.versions.features import DEFAULT_FEATURES

from .samples import SCHEDULED


def test_nodes_that_were_not_checked_are_marked_and_counted() -> None:
    """Enough of 200 nodes were feasible from n150 on."""
    names = [f"n{i}" for i in range(200)]
    codes = [0] * 60 + [-1] * 90 + [2] * 5 + [0] * 45
    feasible = [i for i, code in enumerate(codes) if code == 0]
    ones = IntColumn([1] * 105)
    sampled = replace(
        SCHEDULED,
        nodes=names,
        verdicts=IntColumn(codes),
        feasible=IntColumn(feasible),
        scores=[PluginScores("TaintToleration", 3, ones, ones)],
        totals=IntColumn([3] * 105),
        tied=[],
        selected="n0",
    )
    view = cycle.present_cycle(sampled, Ranks([1000]))
    assert view.matrix
    assert view.sample == (
        "The scheduler looked at 110 of 200 nodes, from n150 on: 105 feasible nodes were enough."
    )
    assert [(row.node, row.nodes, row.reason) for row in view.matrix.rows] == [
        ("n0", 105, ""),
        ("n60", 90, "not looked at: enough other nodes fit"),
        ("n150", 5, "node(s) had untolerated taint {a: b}"),
    ]
    assert {step.name: step.figure for step in view.steps}["Filter"] == "105/110"
    assert view.scores
    assert view.scores.left_out == 90
    assert verdicts.verdicts(sampled)["n60"] == verdicts.Verdict("unseen", "not looked at")
    judged = grid.judged(sampled, names)
    assert judged.codes == "!59i90-5B45i"
    assert judged.words["-"] == "not looked at"
    explained = why.present_why(sampled, "n70")
    assert explained.sentence == "n70 was not looked at. It can have had a higher score than n0."
    assert explained.sample.endswith("A node that was not looked at can have had a higher score.")
    assert why.present_why(SCHEDULED, "n1").sample == ""


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, "all nodes"),
        ({"percentageOfNodesToScore": 0}, "as kube-scheduler: a part of the nodes, from 100 nodes on"),
        ({"percentageOfNodesToScore": 30}, "until 30% of the nodes are feasible"),
        (
            {"profiles": [{"schedulerName": "a", "percentageOfNodesToScore": 5}, {"schedulerName": "b"}]},
            "a: until 5% of the nodes are feasible; b: all nodes",
        ),
    ],
)
def test_a_configuration_says_which_nodes_are_checked(config: Any, words: str) -> None:
    assert sampling.configuration_words(config, DEFAULT_FEATURES) == words


def test_a_cycle_that_used_the_ranking_of_the_cycle_before_says_so() -> None:
    hinted = replace(
        SCHEDULED,
        nodes=["n1", "n2", "n3"],
        verdicts=IntColumn([-1, 0, -1]),
        feasible=IntColumn([1]),
        scores=[],
        totals=IntColumn([]),
        tied=[],
        selected="n2",
        nominated_shortcut=True,
        hinted=True,
    )
    view = cycle.present_cycle(hinted, Ranks([1000]))
    assert view.headline.endswith("the next best node of the cycle before, and nodes were not scored again.")
    assert view.matrix
    reasons = {row.reason for row in view.matrix.rows}
    assert reasons == {"", "not looked at: the next best node of the cycle before fits"}
