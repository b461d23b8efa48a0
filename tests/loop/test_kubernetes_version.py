"""A sandbox has a version of Kubernetes with its feature gates, and what is made of it has them, too."""

import msgspec
import pytest
from msgspec import UNSET

from schedviz.api.branch import branch_of_moment, branch_of_now
from schedviz.api.from_scenario import create, create_from_scenario
from schedviz.api.schedulers import configure
from schedviz.jobs.find_answer import find_answer
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.store import Sandbox, Store
from schedviz.store.past import Past
from schedviz.store.recording import recording_lines
from schedviz.web.examples import start_over
from schedviz.web.imports.take import TakenCluster, create_from_dump
from simulator.api import Manifest
from simulator.apiserver.status import Invalid
from simulator.commands.clean import CleanedHeader
from simulator.dumps.dump import Dump
from simulator.dumps.dump_files import DumpError
from simulator.dumps.imported import import_dump
from simulator.recording import record_decoder
from simulator.replay import RecordingError, Replay
from simulator.scenario import ScenarioError, load_scenario
from simulator.trace import Unschedulable, VictimDeleted
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import V1_36
from tests.loop.conftest import node, pod
from tests.loop.test_suggestions import asked
from tests.loop.world import START, World

FEATURES = Features(V1_36, {"StorageCapacityScoring": True})
CONFIG: Manifest = {
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "NodeDeclaredFeatures"}]}}}]
}
"""A configuration that scheduler v1.34 refuses: it has no such plugin."""


SCENARIO = "apiVersion: schedviz/v1\nkind: Scenario\nmetadata: {name: versions}\nspec: %s\n"
TAINTED = node("n0") | {"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}}


def message(sandbox: Sandbox) -> str:
    return next(event.message for _, event in sandbox.trace(0) if isinstance(event, Unschedulable))


def test_a_sandbox_decides_as_its_version_and_so_does_what_is_made_of_it(store: Store) -> None:
    world = World(
        store,
        config=CONFIG,
        kubernetes=FEATURES.version.patch,
        feature_gates=FEATURES.gates,
    )
    sandbox = world.sandbox
    world.create(TAINTED)
    world.create(pod("p0"))
    world.slice()
    assert "1 node(s) had untolerated taint(s)" in message(sandbox)
    assert asked(store, sandbox, "default/p0").suggestions

    lines = [*recording_lines(sandbox)]
    assert [*Replay(record_decoder.decode(line) for line in lines).run()]
    dump = Dump(b"\n".join(lines))
    taken = import_dump(dump, START, b"salt")
    changes = [*taken.changes()]
    cluster = TakenCluster(CleanedHeader(taken.report, dump.began, dump.ended), iter(changes))
    made = [
        branch_of_now(store, sandbox, []),
        branch_of_moment(store, Past(sandbox, sandbox.trace_head()), f"{sandbox.name}-past"),
        create_from_dump(store, cluster, f"{sandbox.name}-imported", kubernetes="v1.34"),
    ]
    assert [each.meta().features() for each in made] == [FEATURES] * 3
    for each in (*made, sandbox):
        store.delete(each.name)

    newer = [line.replace(b'"v1.36.2"', b'"v9.9.9"') for line in lines]
    with pytest.raises(RecordingError, match="a newer version recorded this"):
        [*Replay(record_decoder.decode(line) for line in newer).run()]
    with pytest.raises(DumpError, match=r'Kubernetes "v9\.9\.9" is not modelled'):
        [*Dump(b"\n".join(newer)).manifests()]


@pytest.mark.parametrize(
    ("kubelets", "chosen", "version"),
    [
        (["v1.35.2-gke.100", "v1.35.0+k3s1", "v1.36.1"], "", "v1.35.6"),
        (["v1.35.2", "v1.36.1"], "", "v1.36.2"),
        (["v1.9.0", "v1.33.1"], "", "v1.34.9"),
        (["v1.41.0"], "", "v1.36.2"),
        (["none", "v1.999999.0", ""], "", str(DEFAULT_FEATURES)),
        (["v1.34.1"], "v1.36", "v1.36.2"),
    ],
)
def test_an_imported_cluster_has_the_version_of_most_kubelets(
    store: Store, sandbox_name: str, kubelets: list[str], chosen: str, version: str
) -> None:
    nodes = [node(f"n{number}") for number, _ in enumerate(kubelets)]
    for each, kubelet in zip(nodes, kubelets, strict=True):
        each["status"]["nodeInfo"] = {"kubeletVersion": kubelet}
    taken = import_dump(
        Dump(msgspec.json.encode({"kind": "List", "apiVersion": "v1", "items": nodes})), START, b""
    )
    changes = [*taken.changes()]
    cluster = TakenCluster(CleanedHeader(taken.report, None, None), iter(changes))
    made = create_from_dump(store, cluster, sandbox_name, kubernetes=chosen)
    assert str(made.meta().features()) == version
    store.delete(sandbox_name)


def test_a_sandbox_that_starts_over_keeps_its_version(store: Store, sandbox_name: str) -> None:
    made = create_from_scenario(store, "gang", sandbox_name, kubernetes="v1.36")
    assert start_over(store, made.meta(), paused=True).meta().features() == Features(V1_36)
    store.delete(sandbox_name)


def test_gates_are_switched_as_an_operator_does_and_refused_in_upstreams_words(store: Store) -> None:
    world = World(store, kubernetes=V1_36.patch)
    world.slice()
    before = world.sandbox.trace_head()
    without = Features(V1_36).with_gate("NodeDeclaredFeatures", False)
    configure(world.sandbox, None, [], feature_gates=without.gates)
    with pytest.raises(Invalid, match="NodeDeclaredFeatures"):
        configure(world.sandbox, CONFIG, [])
    for gates, words in (
        ({"Unheard": True}, "unrecognized feature gate: Unheard"),
        ({"APIServerTracing": False}, "cannot set feature gate APIServerTracing to false, feature is locked"),
        (
            {"NodeDeclaredFeatures": False},
            "is enabled, but depends on features that are disabled: [NodeDeclaredFeatures]",
        ),
    ):
        with pytest.raises(Invalid) as refused:
            configure(world.sandbox, None, [], feature_gates=gates)
        [cause] = refused.value.causes
        assert cause.field == "featureGates"
        assert words in cause.message
    world.slice()
    assert world.sandbox.meta().features() == without
    made = branch_of_moment(store, Past(world.sandbox, before), f"{world.sandbox.name}-past")
    assert made.meta().features() == Features(V1_36), "the moment is before the gate was switched"
    for each in (made, world.sandbox):
        store.delete(each.name)


def test_what_would_have_prevented_an_eviction_is_answered_with_the_scheduler_of_that_time(
    store: Store,
) -> None:
    world = World(store)
    sandbox = world.sandbox
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
    world.create(high | {"value": 100}, node("n0", cpu="1"), pod("victim", "1"))
    world.slice()
    world.let_time_pass(5)
    world.slice()
    world.create(pod("urgent", "1", priorityClassName="high"))
    world.slice()
    world.let_time_pass(5)
    world.slice()
    cycle = next(event.cycle for _, event in sandbox.trace(0) if isinstance(event, VictimDeleted))
    configure(sandbox, {"profiles": [{"schedulerName": "another"}]}, ["profiles"])
    question = Question(kind="saved", sandbox=sandbox.name, pod="default/victim", cycle=cycle)
    questions = JobStore(store, QUESTIONS)
    find_answer(store, questions, question)
    answered = questions.read(question.key)
    assert answered
    assert (answered.state, answered.trouble) == ("done", "")
    assert answered.savings
    store.delete(sandbox.name)


def test_a_sandbox_that_names_no_version_keeps_that_of_its_time(store: Store) -> None:
    world = World(store)
    world.create(TAINTED, pod("p0"))
    world.slice()
    assert world.sandbox.meta().kubernetes is UNSET
    assert "1 node(s) had untolerated taint {a: b}" in message(world.sandbox), "v1.34.1 names the taint"
    store.delete(world.sandbox.name)


def test_a_sandbox_has_the_version_and_gates_of_its_scenario(store: Store, sandbox_name: str) -> None:
    made = load_scenario(SCENARIO % "{kubernetes: v1.36, featureGates: {StorageCapacityScoring: true}}")
    assert create(store, made, "", [sandbox_name]).meta().features() == FEATURES
    store.delete(sandbox_name)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (
            "{kubernetes: v1.20}",
            'spec.kubernetes: Kubernetes "v1.20" is not modelled; choose v1.36, v1.35, v1.34',
        ),
        (
            "{featureGates: {Nothing: true}}",
            "spec.featureGates: unrecognized feature gate: Nothing",
        ),
        ("{featureGates: {Nothing: 1}}", "spec.featureGates: must be a mapping of names to true or false"),
    ],
)
def test_a_scenario_with_another_version_or_gate_is_refused(spec: str, error: str) -> None:
    with pytest.raises(ScenarioError, match=f"^{error}$"):
        load_scenario(SCENARIO % spec)
