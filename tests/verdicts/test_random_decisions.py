"""Random decisions of the model in another sandbox: the judge, who sees what the watch shows, agrees."""

from collections import Counter
from random import Random

import pytest

from simulator.api import SECOND, WatchEvent
from simulator.apiserver.resources import PODS
from simulator.memory_sandbox import SandboxOptions
from simulator.trace import (
    BindingJudged,
    FailureJudged,
    OutsideBound,
    OutsideFailed,
    OutsidePreempted,
    PreemptionJudged,
)
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import V1_34, V1_35
from tests.amounts import WHOLE
from tests.histories.manifests import HOSTNAME
from tests.simulator.test_batching import WITHOUT_SPREADING
from tests.verdicts.source import RandomSource, Source, as_a_mirror_reads
from tests.verdicts.stream import bare, node, pod

THEMES = ("affinity", "preemption", "volumes", "devices", "queue")
HISTORIES, OPERATIONS = (9, 60) if WHOLE else (1, 16)


def check(source: Source) -> Counter[str]:
    """All decisions have verdicts, and these are good ones. How many of each kind there are. Of an attempt
    that is repeated with the same message there is a verdict only."""
    for each in source.verdicts:
        if isinstance(each, FailureJudged) and each.verdict == "unknown":
            assert each.message.startswith("running PreBind plugin"), each
        else:
            assert each.verdict in ("agrees", "tie"), each
    acts = [
        each for each in source.trace if isinstance(each, OutsideBound | OutsideFailed | OutsidePreempted)
    ]
    assert acts, "nothing was decided"
    done, judged = Counter(map(type, acts)), Counter(map(type, source.verdicts))
    assert done[OutsideBound] == judged[BindingJudged]
    assert done[OutsidePreempted] == judged[PreemptionJudged]
    assert done[OutsideFailed] <= judged[FailureJudged]
    return Counter(type(each).__name__ for each in source.verdicts)


@pytest.mark.sampled
@pytest.mark.parametrize("theme", THEMES)
def test_the_judge_agrees_with_the_model(theme: str) -> None:
    """In the whole run some 2,600 decisions, of which 900 are bindings."""
    decided: Counter[str] = Counter()
    for number in range(HISTORIES):
        source = RandomSource(theme, number)
        source.go_on(OPERATIONS)
        source.run(30)
        decided += check(source)
    if WHOLE:
        assert decided["BindingJudged"] >= 100, decided


@pytest.mark.long
@pytest.mark.parametrize("version", [V1_35, V1_34], ids=lambda each: each.name)
@pytest.mark.parametrize("theme", ["affinity", "preemption", "devices", "volumes"])
def test_the_judge_agrees_with_older_versions(version: object, theme: str) -> None:
    for number in range(4, 8):
        source = RandomSource(theme, number, Features(version))  # type: ignore[arg-type]
        source.go_on(60)
        source.run(30)
        check(source)


@pytest.mark.sampled
@pytest.mark.parametrize("theme", ["preemption", "volumes"])
def test_the_order_of_the_watches_of_several_resources_does_not_matter(theme: str) -> None:
    random = Random(theme)

    def shuffled(events: list[WatchEvent]) -> list[WatchEvent]:
        """Those of each resource stay in order."""
        resources = [event.resource for event in events]
        random.shuffle(resources)
        queues = {name: iter([e for e in events if e.resource == name]) for name in resources}
        return [next(queues[name]) for name in resources]

    source = RandomSource(theme, 1, order=shuffled)
    source.go_on(OPERATIONS)
    source.run(30)
    check(source)


@pytest.mark.sampled
@pytest.mark.parametrize("theme", ["volumes", "devices"])
def test_what_a_mirror_keeps_of_the_objects_is_enough(theme: str) -> None:
    for number in range(3 if WHOLE else 1):
        source = RandomSource(theme, number, order=as_a_mirror_reads())
        source.go_on(OPERATIONS)
        source.run(30)
        check(source)


@pytest.mark.sampled
@pytest.mark.parametrize("number", [22, 43])
def test_pods_count_whose_node_only_the_claims_of_their_binding_cycles_show(number: int) -> None:
    """Before v1.35 nothing else shows a pod that waits for its volumes, before it is bound: some share a
    claim that is provisioned, and some are deleted while they wait."""
    source = RandomSource("volumes", number, Features(V1_34))
    source.go_on(60 if WHOLE else 20)
    source.run(30)
    check(source)


def test_a_judge_of_another_configuration_differs() -> None:
    """The scheduler prefers full nodes, which the judge does not know."""
    source = RandomSource("affinity", 4, scheduler=JudgedScheduler(DEFAULT_FEATURES))
    source.run(10)
    source.go_on(16)
    source.run(30)
    found = [each for each in source.verdicts if isinstance(each, BindingJudged)]
    differing = [each for each in found if each.verdict == "differs"]
    assert 0 < len(differing) < len(found)
    for each in differing:
        scores = {score.plugin: score.best - score.theirs for score in each.scores}
        assert "NodeResourcesFit" in scores
        assert sum(scores.values()) == each.best_total - each.total > 0


def test_a_ranking_that_is_used_again_is_that_of_an_older_state() -> None:
    """OpportunisticBatching: the second pod gets the next best node of the first one's ranking, though by
    then another one is better."""
    nodes = [node(f"n{number}", cpu) for number, cpu in enumerate(("1", "1", "2"))]
    filler = {**bare(pod("filler")), "spec": {**pod("filler")["spec"], "nodeName": "n2"}}
    options = SandboxOptions("batching", [*nodes, filler], config=WITHOUT_SPREADING, pace=SECOND // 10)
    source = Source(options)
    source.run(1)
    preferred = [
        {
            "weight": weight,
            "preference": {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [name]}]},
        }
        for name, weight in (("n0", 100), ("n1", 99), ("n2", 90))
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    source.sandbox.create([bare(pod(name, affinity=affinity)) for name in ("a", "b")])
    source.run(0.15)
    source.sandbox.delete(PODS, "default/filler", grace_seconds=0)
    source.run(2)
    decisions = [source.sandbox.decision(cycle) for cycle in (1, 2)]
    assert [each and (each.selected, each.hinted is True) for each in decisions] == [
        ("n0", False),
        ("n1", True),
    ]
    first, second = (each for each in source.verdicts if isinstance(each, BindingJudged))
    assert (first.verdict, second.verdict) == ("agrees", "agrees")
    assert second.state.age > 0
