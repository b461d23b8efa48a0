"""A question can be stopped at any time, and its answer then says nothing that was not found."""

from itertools import islice

import pytest

from simulator.framework import snapshot
from simulator.questions.add_nodes import AddParameters
from simulator.questions.ask import AnyParameters, begin
from simulator.questions.drain import DrainParameters
from simulator.questions.fits import FitsParameters
from simulator.questions.how_many_more import MoreParameters
from simulator.questions.node_selection import NodeChoice
from simulator.questions.removable import RemovableParameters
from simulator.questions.shape_text import parse_shapes
from tests.questions.clusters import asked, make_node, make_pod, make_workload, said

OBJECTS = [
    *(make_node(f"node-{i}", "2", "ab"[i % 2]) for i in range(4)),
    make_workload("ReplicaSet", "web", "1", 5),
    make_pod("large", "3"),
]
QUESTIONS: list[AnyParameters] = [
    FitsParameters([make_pod("new")]),
    MoreParameters([make_pod("new")]),
    DrainParameters(NodeChoice(["node-0"])),
    RemovableParameters(),
    AddParameters(parse_shapes(["name=big,cpu=4,memory=8Gi"], {})),
]


@pytest.mark.parametrize("parameters", QUESTIONS, ids=lambda each: type(each).__name__)
def test_each_can_be_stopped_at_any_step(parameters: AnyParameters) -> None:
    question = begin(asked(OBJECTS), parameters)
    assert not question.answer().complete
    assert not said(question.answer()), "nothing is said of a cluster that was not looked at"
    for done in question.run():
        assert question.answer().complete == (done == 1.0)
    assert said(question.answer())


def test_a_question_that_is_stopped_with_its_second_seed_has_no_range() -> None:
    question = begin(asked(OBJECTS), QUESTIONS[2], 2)
    for done in question.run():
        if done >= 0.5:
            break
    answer = question.answer()
    assert (answer.complete, answer.range) == (False, None)
    assert "seeds" not in said(answer)


@pytest.mark.parametrize("parameters", [QUESTIONS[1], *QUESTIONS[3:]], ids=lambda each: type(each).__name__)
def test_the_objects_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch, parameters: AnyParameters) -> None:
    monkeypatch.setattr(snapshot, "READ_AT_ONCE", 1)
    cluster = asked(OBJECTS)
    count = sum(map(len, cluster.objects.values()))
    question = begin(cluster, parameters)
    assert {*islice(question.run(), count)} == {0.0}
