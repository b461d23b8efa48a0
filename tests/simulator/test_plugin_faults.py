"""Plugins that raise, at every extension point."""

from typing import Any

import pytest

from simulator.decision_columns import stored_encoder
from simulator.framework.interface import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from simulator.framework.score_explanation import ScoreExplanation, ScoreInput
from simulator.plugins.registry import registered
from simulator.scheduler import decision_log
from simulator.simulation import Options
from simulator.trace import Filtered, SchedulerError
from tests.simulator.lab import Lab, node, pod


class Bad(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PermitPlugin,
    PreBindPlugin,
    BindPlugin,
    PostBindPlugin,
):
    """Raises at one point for the pod "bad"."""

    name = "Bad"
    point = ""

    def _at(self, point: str, pod: Any) -> None:
        if pod.name == "bad" and point == self.point:
            raise RuntimeError("no good")

    def pre_enqueue(self, pod: Any) -> Any:
        self._at("preEnqueue", pod)

    def pre_filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        self._at("preFilter", pod)

    def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        self._at("filter", pod)

    def post_filter(self, state: Any, pod: Any, diagnosis: Any) -> Any:
        self._at("postFilter", pod)

    def pre_score(self, state: Any, pod: Any, nodes: Any) -> Any:
        self._at("preScore", pod)

    def score(self, state: Any, pod: Any, nodes: Any) -> Any:
        self._at("score", pod)
        return nodes.rows * 0

    def reserve(self, state: Any, pod: Any, node_name: str) -> Any:
        self._at("reserve", pod)

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        self._at("unreserve", pod)

    def permit(self, state: Any, pod: Any, node_name: str) -> Any:
        self._at("permit", pod)
        return None, 0

    def pre_bind(self, state: Any, pod: Any, node_name: str) -> Any:
        self._at("preBind", pod)

    def bind(self, state: Any, pod: Any, node_name: str) -> Any:
        self._at("bind", pod)

    def post_bind(self, state: Any, pod: Any, node_name: str) -> None:
        self._at("postBind", pod)


POINTS = ("preEnqueue", "preFilter", "filter", "preScore", "score", "reserve", "permit", "preBind", "bind")


@pytest.mark.parametrize("point", [*POINTS, "postBind"])
def test_a_plugin_that_raises_affects_only_the_pod_for_which_it_raises(point: str) -> None:
    plugins = {**registered(), "Bad": type("Bad", (Bad,), {"point": point})}
    only = {"disabled": [{"name": "*"}], "enabled": [{"name": "Bad"}]}
    enabled = {"multiPoint": {"enabled": [{"name": "Bad"}]}, "bind": only}
    config = {"profiles": [{"plugins": enabled}]}
    lab = Lab(Options(config=config), plugins=plugins)
    lab.create(node("n1"), node("n2"), pod("bad"), pod("good"))
    lab.run(30)
    assert lab.node_of("good")
    if point == "postBind":
        assert lab.node_of("bad")
    else:
        assert lab.node_of("bad") == ""
        assert lab.lane("bad") == ("gated" if point == "preEnqueue" else "backoffQ")


class Unexplained(ScorePlugin):
    """Scores, and cannot say by what."""

    name = "Unexplained"
    explained: Any = None

    def score(self, state: Any, pod: Any, nodes: Any) -> Any:
        return nodes.rows * 0

    def explain(self, state: Any, pod: Any, nodes: Any) -> Any:
        if self.explained is None:
            raise RuntimeError("no words")
        return self.explained


@pytest.mark.parametrize(
    "explained",
    [None, 3, ScoreExplanation([object()]), ScoreExplanation([ScoreInput("cpu", 1, ["many"], [])])],
)
def test_scores_that_cannot_be_explained_do_not_fail_the_pod(
    explained: Any, caplog: pytest.LogCaptureFixture
) -> None:
    made = type("Unexplained", (Unexplained,), {"explained": explained})
    plugins = {**registered(), "Unexplained": made}
    config = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Unexplained"}]}}}]}
    lab = Lab(Options(config=config), plugins=plugins)
    lab.create(node("n1"), node("n2"), pod("web"))
    lab.run(30)
    assert lab.node_of("web")
    assert not lab.of(SchedulerError)
    [decision] = lab.decisions
    inputs = {scores.plugin: bool(scores.inputs) for scores in decision.scores}
    assert (inputs["Unexplained"], inputs["NodeResourcesFit"]) == (False, True)
    assert stored_encoder.encode(decision)
    assert "plugin Unexplained cannot explain its scores of default/web" in caplog.text


@pytest.mark.parametrize("part", ["record", "trace_of"])
def test_a_decision_that_cannot_be_made_does_not_fail_the_pod(
    part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **options: Any) -> Any:
        raise RuntimeError("no words")

    monkeypatch.setattr(decision_log, part, broken)
    lab = Lab()
    lab.create(node("n1"), node("n2"), pod("web"), pod("large", "8"))
    lab.run(30)
    assert lab.node_of("web")
    assert lab.lane("large") == "unschedulable"
    assert not lab.of(SchedulerError)
    assert bool(lab.decisions) == (part != "record")
    assert bool(lab.of(Filtered)) == (part != "trace_of")
    assert "what cycle 1 decided about default/web cannot be shown: RuntimeError: no words" in caplog.text


def test_no_decision_is_made_if_none_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_: Any, **options: Any) -> Any:
        raise AssertionError("a decision is made")

    lab = Lab()
    lab.simulation.make_no_decisions()
    monkeypatch.setattr(decision_log, "record", unexpected)
    lab.create(node("n1"), pod("web"))
    lab.run(30)
    assert lab.node_of("web")
    assert lab.of(Filtered)
    assert not lab.decisions
