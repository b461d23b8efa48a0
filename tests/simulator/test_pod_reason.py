"""A pod that is somewhere has a reason, in the queue and outside of it."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest

import schedviz
from schedviz.client import Sandbox
from simulator.api import SECOND
from simulator.pod_reason import find_pod_reason
from simulator.trace import Bound, CycleStarted, QueuePlace
from simulator.words import POD_REASONS, PodReasonKind, spoken_duration

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late, annotations: {schedviz/provision-seconds: "5"}}
provisioner: example.com/disk
volumeBindingMode: WaitForFirstConsumer
"""


def a_pod(
    name: str, cpu: str = "1", *, annotations: Any = None, claim: str = "", **spec: Any
) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}] if claim else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"containers": [container], "volumes": volumes, **spec},
    }


def a_claim(name: str, **spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": wanted}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with schedviz.sandbox(manifests=CLUSTER) as made:
        yield made


def kind(sandbox: Sandbox, pod: str) -> str:
    return sandbox.explain(pod).reason.kind


def test_each_kind_has_a_sentence() -> None:
    assert {*POD_REASONS} == {*get_args(PodReasonKind)}


def test_a_pod_on_its_way_to_its_node(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("web"))
    assert kind(sandbox, "web") == "activeQ"
    sandbox.run_until("bound", pod="web")
    assert sandbox.explain("web").sentence == "It is bound to n1, whose kubelet starts it."
    sandbox.run_for("2s")
    assert sandbox.explain("web").sentence == "It runs on n1."
    assert "It runs on n1." in str(sandbox.explain("web"))


def test_an_unschedulable_pod_is_tried_again_at_the_time_that_is_said(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("big", "8"))
    sandbox.run_for("48s")
    found = sandbox.explain("big")
    assert found.sentence == (
        "It is tried again at the latest in 4 min 42 s: nothing that the queueing hints of NodeResourcesFit "
        "wait for has happened."
    )
    head, due = sandbox.trace_head(), found.reason.until
    sandbox.run_for(f"{(due - sandbox.now) // SECOND - 1}s")
    assert not sandbox.trace(CycleStarted, after=head)
    sandbox.run_for("1s")
    [again] = sandbox.trace(CycleStarted, after=head)
    assert (again.pod, again.t) == ("default/big", due)


def test_a_pod_of_an_older_queue_is_tried_again_after_an_event() -> None:
    with schedviz.sandbox(manifests=CLUSTER, queue="v1.10") as sandbox:
        sandbox.create(a_pod("big", "8"))
        sandbox.run_for("48s")
        assert kind(sandbox, "big") == "any-event"


def test_a_nominated_pod_waits_for_its_victims(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("low", "4"))
    sandbox.run_for("5s")
    sandbox.create(a_pod("high", "4", priorityClassName="system-cluster-critical"))
    sentence = "It is nominated to n1, and is tried again when its victims are gone: default/low."
    sandbox.run_until("preemption")  # before the first victim is deleted
    assert sandbox.explain("low").sentence == "It runs on n1."
    assert sandbox.explain("high").sentence == sentence
    sandbox.run_for("5s")
    assert sandbox.explain("high").sentence == sentence
    assert sandbox.explain("low").sentence == "It is being terminated, and is removed in 24 s at the latest."
    sandbox.run_for("27s")
    assert (kind(sandbox, "high"), kind(sandbox, "low")) == ("running", "deleted")


@pytest.mark.parametrize(
    ("plugins", "sentence"),
    [
        (
            ["NodeAffinity"],
            "It backs off, and enters activeQ in 2 s at the latest; earlier if activeQ is empty.",
        ),
        ([], "Its last attempt ended with an error: it enters activeQ in 2 s."),
    ],
)
def test_a_pod_that_backs_off_says_until_when(plugins: list[str], sentence: str) -> None:
    entry = QueuePlace("default/web", "u", "backoffQ", 0, 0, 0, 1, backoff_until=5 * SECOND, plugins=plugins)
    manifest = a_pod("web")
    manifest["metadata"]["uid"] = "u"
    found = find_pod_reason(manifest, entry, [], lambda *_: None, 3 * SECOND)
    assert found.sentence(3 * SECOND) == sentence


def test_a_gated_pod_says_its_gates(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("web", schedulingGates=[{"name": "a"}, {"name": "b"}]))
    assert sandbox.explain("web").sentence == (
        "It is gated: it waits until its scheduling gates are removed (a, b)."
    )


def test_a_pod_with_a_node_name_waits_for_a_claim_for_which_no_node_is_selected(sandbox: Sandbox) -> None:
    sandbox.create(a_claim("data", storageClassName="late"))
    sandbox.create(a_pod("web", nodeName="n1", claim="data"))
    sandbox.run_for("30s")
    assert sandbox.explain("web").sentence == (
        "It is bound to n1, and is not started: its claim data waits until the scheduler selects a node for "
        "the volume, and spec.nodeName bypassed the scheduler."
    )


def test_a_pod_with_a_node_name_waits_for_a_claim(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("web", nodeName="n1", claim="data"))
    sandbox.run_for("30s")
    assert kind(sandbox, "web") == "claim-missing"
    sandbox.create(a_claim("data", storageClassName=""))
    sandbox.run_for("30s")
    assert kind(sandbox, "web") == "claim-unbound"


def test_a_pod_is_being_bound_while_its_volume_is_provisioned(sandbox: Sandbox) -> None:
    sandbox.create(a_claim("data", storageClassName="late"))
    sandbox.create(a_pod("web", claim="data"))
    sandbox.run_for("3s")
    assert sandbox.explain("web").sentence == (
        "The scheduler has selected n1, and binds the pod when its claims are bound to volumes: data."
    )
    sandbox.run_for("10s")
    assert kind(sandbox, "web") == "running"


def test_a_pod_between_two_points_is_in_its_cycle_or_being_bound(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("web"))
    seen = []
    while not sandbox.trace(Bound):
        sandbox.step("point")
        seen.append(kind(sandbox, "web"))
    assert [*dict.fromkeys(seen)] == ["cycle", "binding", "starting"]


def test_a_pod_that_waits_on_permit_says_for_what_and_how_long() -> None:
    with schedviz.sandbox(scenario="gang") as sandbox:
        sandbox.run_until("30s")
        waiting = [pod["metadata"]["name"] for pod in sandbox.list("pods") if not pod["spec"].get("nodeName")]
        sentences = {sandbox.explain(name).sentence for name in waiting}
        assert any(
            each.startswith(
                "Resources on node-2 are reserved for it. It waits on Permit for Gang, for at most"
            )
            for each in sentences
        )


def test_pods_of_a_node_that_fails_are_not_started_and_not_removed(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("old"))
    sandbox.run_for("5s")
    sandbox.patch("node", "n1", {"metadata": {"annotations": {"schedviz/failed": "true"}}})
    sandbox.create(a_pod("web", nodeName="n1"))
    sandbox.delete("pod", "old")
    sandbox.run_for("31s")
    assert (kind(sandbox, "web"), kind(sandbox, "old")) == ("node-silent", "terminating-silent")
    sandbox.create(a_pod("lost", nodeName="n9"))
    assert kind(sandbox, "lost") == "node-missing"


def test_a_deleted_pod_with_finalizers_says_which(sandbox: Sandbox) -> None:
    made = a_pod("web")
    made["metadata"]["finalizers"] = ["example.com/keep"]
    sandbox.create(made)
    sandbox.run_for("5s")
    sandbox.delete("pod", "web")
    sandbox.run_for("60s")
    assert sandbox.explain("web").sentence == (
        "It is deleted, and is removed when its finalizers are: example.com/keep."
    )


def test_pods_that_end_fail_or_have_another_scheduler(sandbox: Sandbox) -> None:
    sandbox.create(a_pod("done", annotations={"schedviz/run-seconds": "2"}))
    sandbox.create(a_pod("crash", annotations={"schedviz/fail-after-seconds": "2"}))
    sandbox.create(a_pod("foreign", schedulerName="other"))
    sandbox.run_for("9s")
    assert sandbox.explain("done").sentence == "Its containers have ended: Succeeded."
    assert kind(sandbox, "crash") == "restarting"
    assert sandbox.explain("foreign").sentence == (
        "It waits for the scheduler other, which is not this sandbox's own."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "400 ms"), (12, "12 s"), (252, "4 min 12 s"), (3600, "1 h"), (7500, "2 h 5 min")],
)  # fmt: skip
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert spoken_duration(int(seconds * SECOND)) == text
