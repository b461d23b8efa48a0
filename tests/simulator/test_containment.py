"""An object that causes failures affects only itself."""

from typing import Any

import pytest

from simulator import trace
from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.admission import admit
from simulator.controllers.replica_set import ReplicaSetController
from simulator.kernel import moment_limit
from simulator.kernel.containment import FIRST_DELAY, LONGEST_DELAY, Actor, Containment, Run
from simulator.kernel.moment_limit import EndlessMoment
from simulator.simulation import Options
from simulator.versions.kubernetes_version import V1_34, V1_36, KubernetesVersion
from tests.simulator.controllers.workloads import names, workload
from tests.simulator.lab import START, Lab, node, pod


def put(lab: Lab, resource: str, key: str, manifest: Manifest) -> None:
    """Store an object without the API server's checks."""
    expected = None if lab.api.get(resource, key) else 0
    lab.api.commit([Change(resource, key, manifest, expected)])
    lab.simulation.observe(lab.api.take_events())


def stored(manifest: Manifest) -> Manifest:
    """As admission would have it stored."""
    admission = admit([manifest], Lab().api, START, source="test")
    made = admission.changes[-1].object
    assert made is not None
    return made


def messages(lab: Lab, reason: str) -> list[str]:
    events = lab.api.objects.get("events", {}).values()
    return [event["message"] for event in events if event["reason"] == reason]


# Objects that do not fit their kind


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"spec": []}, "got `array` - at `$.spec`"),
        ({"spec": {"containers": [{"name": 7}]}}, "got `int` - at `$.spec.containers[0].name`"),
        (
            {"status": {"startTime": "yesterday"}},
            "Invalid RFC3339 encoded datetime - at `$.status.startTime`",
        ),
        ({"status": {"conditions": [{}]}}, "missing required field `type` - at `$.status.conditions[0]`"),
        ({"metadata": {"name": "bad", "labels": []}}, "got `array` - at `$.metadata.labels`"),
        ({"metadata": {"name": "other", "namespace": "default"}}, "are not those of its key, 'default/bad'"),
        ({"kind": "Node"}, "its apiVersion and kind are not v1 and Pod"),
    ],
)
def test_a_pod_that_cannot_be_read_is_ignored_and_reported(fields: Manifest, problem: str) -> None:
    lab = Lab()
    lab.create(node("n1"))
    bad = stored(pod("bad"))
    put(lab, "pods", "default/bad", {**bad, **fields})
    lab.create(pod("good"))
    lab.run(5)
    assert lab.node_of("good") == "n1"
    [unreadable] = lab.of(trace.ObjectUnreadable)
    assert (unreadable.resource, unreadable.key) == ("pods", "default/bad")
    assert problem in unreadable.message
    [note] = messages(lab, "FailedSync")
    assert problem in note
    put(lab, "pods", "default/bad", bad)
    lab.run(5)
    assert lab.node_of("bad") == "n1", "now that it can be read"


@pytest.mark.parametrize(("version", "bound_to"), [(V1_34, "n1"), (V1_36, "")])
def test_what_can_be_read_depends_on_the_version(version: KubernetesVersion, bound_to: str) -> None:
    """The types of v1.34 have no schedulingGroup; Go's decoder drops unknown fields."""
    lab = Lab(Options(kubernetes=version.patch))
    lab.create(node("n1"))
    pending = stored(pod("p"))
    put(lab, "pods", "default/p", {**pending, "spec": {**pending["spec"], "schedulingGroup": 7}})
    lab.run(5)
    assert lab.node_of("p") == bound_to


def test_a_bound_pod_that_cannot_be_read_counts_as_deleted_until_it_can_be_read() -> None:
    lab = Lab()
    lab.create(node("n1", cpu="1"), pod("big"))
    lab.run(5)
    lab.create(pod("next"))
    lab.run(5)
    assert lab.node_of("next") == ""
    lab.update("pods", "default/big", lambda m: {**m, "spec": {**m["spec"], "containers": "none"}})
    lab.run(5)
    assert lab.node_of("next") == "n1"
    lab.delete("pods", "default/big")
    lab.run(5)
    assert len(lab.of(trace.ObjectUnreadable)) == 1


@pytest.mark.parametrize(
    ("resource", "manifest"),
    [
        (
            "poddisruptionbudgets.policy",
            {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"selector": []}},
        ),
        ("services", {"apiVersion": "v1", "kind": "Service", "spec": {"selector": 7}}),
        ("persistentvolumes", {"apiVersion": "v1", "kind": "PersistentVolume", "spec": {"capacity": "big"}}),
        ("replicasets.apps", {"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"replicas": 2}}),
        ("events", {"apiVersion": "v1", "kind": "Event", "type": []}),
        ("csinodes.storage.k8s.io", {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode"}),
        (
            "timetables.schedviz",
            {"apiVersion": "schedviz/v1", "kind": "Timetable", "spec": {"entries": 1}},
        ),
    ],
)
def test_an_unreadable_object_of_any_kind_affects_no_pod(resource: str, manifest: Manifest) -> None:
    cluster = resource in ("persistentvolumes", "csinodes.storage.k8s.io", "timetables.schedviz")
    metadata = {"name": "bad", "uid": "u"} | ({} if cluster else {"namespace": "default"})
    lab = Lab()
    lab.create(node("n1"))
    put(lab, resource, "bad" if cluster else "default/bad", {**manifest, "metadata": metadata})
    lab.create(pod("good"), workload("ReplicaSet", replicas=2))
    lab.run(10)
    assert lab.node_of("good") == "n1"
    assert len(lab.of(trace.ObjectUnreadable)) == 1
    assert len(names(lab)) == 3


def test_a_budget_without_a_spec_protects_no_pod_and_causes_no_error() -> None:
    lab = Lab()
    metadata = {"name": "b", "namespace": "default"}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata}
    put(lab, "poddisruptionbudgets.policy", "default/b", budget)
    lab.create(node("n1"), pod("p"))
    lab.run(5)
    assert lab.node_of("p") == "n1"
    assert lab.api.objects["poddisruptionbudgets.policy"]["default/b"]["status"]["expectedPods"] == 0


# Components that fail


def test_a_controller_that_fails_for_one_object_syncs_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[float] = []

    def sync(self: Any, key: str, manifest: Manifest) -> None:
        if key == "default/bad":
            times.append((lab.simulation.now - START) / SECOND)
            raise RuntimeError(f"no good: {object()}")
        original(self, key, manifest)

    original = ReplicaSetController.sync
    monkeypatch.setattr(ReplicaSetController, "sync", sync)
    lab = Lab()
    lab.create(node("n1"), *[workload("ReplicaSet", name, replicas=1) for name in ("bad", "good")])
    lab.run(1)
    [made] = names(lab)
    assert made.startswith("good-")
    [failed] = lab.of(trace.ControllerFailed)
    assert failed.controller == "ReplicaSet default/bad"
    assert failed.message == "RuntimeError: no good: <object object>"
    assert messages(lab, "FailedSync") == [failed.message]
    assert times == [0, 0.005, 0.015, 0.035, 0.075, 0.155, 0.315, 0.635], "5 ms, doubled each time"
    monkeypatch.setattr(ReplicaSetController, "sync", original)
    lab.run(2)
    assert len(names(lab)) == 2


def test_a_refusal_of_admission_is_an_event_as_upstream() -> None:
    lab = Lab()
    lab.create(node("n1"), workload("ReplicaSet", replicas=1, pod={"priorityClassName": "vip"}))
    lab.run(5)
    [note] = messages(lab, "FailedCreate")
    assert note.startswith('Error creating: pods "web-')
    [event] = lab.api.objects["events"].values()
    assert (event["involvedObject"]["kind"], event["involvedObject"]["name"]) == ("ReplicaSet", "web")
    assert event["reportingComponent"] == "replicaset-controller"


def test_an_informers_handler_that_fails_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    original, failures = ReplicaSetController.changed, [3]

    def changed(self: Any, resource: str, key: str, old: Any, new: Any) -> None:
        if key == "default/web" and failures[0]:
            failures[0] -= 1
            raise RuntimeError("not now")
        original(self, resource, key, old, new)

    monkeypatch.setattr(ReplicaSetController, "changed", changed)
    lab = Lab()
    lab.create(node("n1"), workload("ReplicaSet", replicas=1), pod("p"))
    lab.run(5)
    assert lab.node_of("p") == "n1"
    assert len(names(lab)) == 2
    [failed] = lab.of(trace.ControllerFailed)
    assert failed.controller == "ReplicaSet informer default/web"


# Endless loops of components


def down() -> Manifest:
    return node("n1", taints=[{"key": "down", "effect": "NoExecute"}])


@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment", "StatefulSet", "DaemonSet"])
def test_pods_that_are_evicted_as_soon_as_they_are_created_delay_no_other_pod(kind: str) -> None:
    """The template has nodeName, so that no scheduler rejects its pods."""
    replicas = {} if kind == "DaemonSet" else {"replicas": 2}
    lab = Lab()
    lab.create(down(), node("n2"), workload(kind, pod={"nodeName": "n1"}, **replicas), pod("other"))
    lab.run(60)
    assert lab.now == START + 60 * SECOND
    assert lab.node_of("other") == "n2"
    made = sum(len(event.keys) for event in lab.of(trace.ObjectsCreated) if event.resource == "pods")
    assert made < 120
    if kind in ("ReplicaSet", "Deployment"):
        postponed = [event.controller for event in lab.of(trace.ControllerPostponed)]
        assert any(name.startswith("ReplicaSet default/web") for name in postponed)
    lab.update("nodes", "n1", lambda m: {**m, "spec": {}})
    lab.run(120)
    if kind != "DaemonSet":
        running = [lab.pod(name)["status"]["phase"] for name in names(lab) if name != "other"]
        assert running == ["Running"] * 2, "a while after the cause is gone"


def test_a_timetable_in_the_past_creates_only_its_last_missed_entry() -> None:
    created = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "c-"}}
    metadata = {"name": "old", "uid": "u", "creationTimestamp": "1970-01-01T00:00:00Z"}
    spec = {"entries": [{"at": "0", "every": "1s", "object": created}]}
    lab = Lab()
    timetable = {"apiVersion": "schedviz/v1", "kind": "Timetable", "metadata": metadata, "spec": spec}
    put(lab, "timetables.schedviz", "old", timetable)
    lab.create(node("n1"), pod("p"))
    lab.run(3)
    assert lab.node_of("p") == "n1"
    assert len(lab.api.objects["configmaps"]) == 4, "the last one missed, and one a second"


def test_a_controller_that_is_postponed_waits_ever_longer_and_is_named() -> None:
    lab = Lab()
    lab.create(down(), workload("ReplicaSet", replicas=1, pod={"nodeName": "n1"}))
    lab.run(200)
    postponed = lab.of(trace.ControllerPostponed)
    assert {event.controller for event in postponed} == {"ReplicaSet default/web"}
    assert [(event.until - event.t) / SECOND for event in postponed] == [5, 10, 20, 40, 60, 60, 60]


def test_work_for_many_pods_at_one_moment_postpones_no_actor() -> None:
    lab = Lab()
    lab.create(*[node(f"n{i}", cpu="64") for i in range(10)], workload("Deployment", replicas=600))
    lab.create(*[pod(f"p{i}", cpu="10m") for i in range(400)])
    lab.run(5)
    assert len(lab.of(trace.Bound)) == 1000
    assert not lab.of(trace.ControllerPostponed)
    assert not lab.of(trace.ControllerFailed)


def test_an_endless_moment_is_ended_and_reports_its_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_limit, "RUNS_BY_ITSELF", 1 << 30)
    monkeypatch.setattr(moment_limit, "STEPS_AT_ONE_MOMENT", 500)
    lab = Lab()
    lab.create(down(), workload("ReplicaSet", replicas=1, pod={"nodeName": "n1"}))
    with pytest.raises(EndlessMoment, match=r"501 steps at one moment .* by ReplicaSet default/web"):
        lab.run(1)


def test_the_same_failures_make_the_same_trace() -> None:
    def failures() -> list[trace.Event]:
        lab = Lab()
        put(lab, "pods", "default/bad", {**stored(pod("bad")), "spec": []})
        lab.create(down(), workload("ReplicaSet", replicas=1, pod={"nodeName": "n1"}))
        lab.create(workload("ReplicaSet", "refused", replicas=1, pod={"priorityClassName": "vip"}))
        return lab.run(60).trace

    assert failures() == failures()


# The mechanism


def test_repeated_failures_are_reported_once_and_retried_with_backoff() -> None:
    reported: list[str] = []
    times: list[int] = []
    contained = Containment(lambda: 0, lambda actor, fault: reported.append(f"{actor}: {fault}"))
    actor = Actor("Kubelet", "pods", "default/p")

    def fails() -> None:
        raise ValueError("no")

    for _ in range(25):
        contained.retry(actor, fails, times.append)
    assert reported == ["Kubelet default/p: no"]
    assert times[:3] == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY]
    assert times[-1] == LONGEST_DELAY
    contained.retry(actor, lambda: None, times.append)
    contained.retry(actor, fails, times.append)
    assert len(reported) == 2
    assert times[-1] == FIRST_DELAY


def test_a_run_counts_the_runs_of_its_own_actor_among_its_causes() -> None:
    one, other = Actor("ReplicaSet", "replicasets.apps", "a/b"), Actor("Kubelet", "pods", "a/c")
    assert Run(one).by_itself() == 0
    assert Run(one, Run(other, Run(one, Run(one)))).by_itself() == 2
