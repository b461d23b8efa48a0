"""The judge of a mirror: what it keeps, and its metrics."""

from schedviz.metrics.server import MIRROR_DECISIONS, MIRROR_EVICTIONS, MIRROR_PENDING
from schedviz.mirror.judging import OWNERS_AT_MOST, MirrorJudge
from schedviz.mirror.writer import Followed
from simulator.api import SECOND, Manifest, WatchEvent
from simulator.memory_sandbox import START
from simulator.trace import BindingJudged, FailureJudged, PreemptionJudged
from simulator.trace.verdicts import JudgedState
from simulator.verdicts.followed_cluster import HISTORY
from simulator.verdicts.judge import Waited
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.versions.features import DEFAULT_FEATURES
from tests.verdicts.stream import Stream, node, pod


def followed(manifest: Manifest, kind: str, version: int) -> Followed:
    """The sandbox has a version of its own, 1."""
    key = f"default/{manifest['metadata']['name']}"
    return Followed(WatchEvent(kind, "pods", key, manifest, 1), str(version), 1.0)  # type: ignore[arg-type]


def value(metric: object, **labels: str) -> float:
    found: float = metric.labels(**labels)._value.get()  # type: ignore[attr-defined]
    return found


def test_it_keeps_verdicts_only_and_counts_them() -> None:
    judge = MirrorJudge(JudgedScheduler(DEFAULT_FEATURES))
    objects = {"nodes": {"n1": node("n1"), "n2": node("n2", "1")}}
    objects["pods"] = {f"default/{name}": pod(name, cpu) for name, cpu in (("a", "2"), ("b", "9"))}
    judge.begin(objects, START - HISTORY)
    labels = {"decision": "binding", "verdict": "agrees"}
    before = value(MIRROR_DECISIONS, **labels)
    stream = Stream(*objects["nodes"].values(), *objects["pods"].values())
    stream.fail("b", "0/2 nodes are available: 2 Insufficient cpu.")
    changes = [
        followed(stream.bound("a", "n1"), "MODIFIED", 100),
        followed(stream.pod("b"), "MODIFIED", 101),
    ]
    judge.hear(changes, START)
    assert [type(each) for each in judge.take(START)] == [BindingJudged]
    assert value(MIRROR_DECISIONS, **labels) == before + 1
    assert [*judge.places] == ["default/b"]
    [failure] = judge.take(START + 2 * SECOND)
    assert isinstance(failure, FailureJudged)
    assert (failure.verdict, failure.state.version) == ("differs", 101)
    judge.take(START + 700 * SECOND)
    assert value(MIRROR_PENDING, cause="Insufficient cpu", age="1h") == 1


def test_what_was_decided_while_nobody_mirrored_is_unknown() -> None:
    """Another pod of the name of one that waited is another pod."""
    judge = MirrorJudge(JudgedScheduler(DEFAULT_FEATURES))
    stream = Stream(node("n1"), *(pod(name) for name in "abcdef"))
    for name, message in (("c", "said before"), ("e", "said now")):
        stream.fail(name, message)
    waiting = {f"default/{name}": Waited(f"uid-{name}", "said before") for name in "acef"}
    pods = {f"default/{name}": stream.bound(name, "n1") for name in "abd"}
    pods |= {f"default/{name}": stream.pod(name) for name in "cef"}
    waiting["default/b"] = Waited("another", "")
    judge.begin({"nodes": {"n1": node("n1")}, "pods": pods}, START, waiting)
    binding, failure = judge.take(START)
    assert isinstance(binding, BindingJudged)
    assert (binding.pod, binding.node, binding.verdict) == ("default/a", "n1", "unknown")
    assert isinstance(failure, FailureJudged)
    assert (failure.pod, failure.message, failure.verdict) == ("default/e", "said now", "unknown")


def test_the_metrics_name_a_bounded_number_of_owners() -> None:
    judge = MirrorJudge(JudgedScheduler(DEFAULT_FEATURES))
    for number in range(OWNERS_AT_MOST + 5):
        owner = f"ReplicaSet bounded-{number}"
        judge._count(
            PreemptionJudged(0, "a/v", "n", "s", "agrees", JudgedState(1, 0), preemptor="a/p", owner=owner)
        )
    named = {sample.labels["owner"] for metric in MIRROR_EVICTIONS.collect() for sample in metric.samples}
    assert len([each for each in named if "bounded-" in each]) == OWNERS_AT_MOST
    assert "other" in named
