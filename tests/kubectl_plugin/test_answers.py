"""What ``kubectl schedviz`` answers about a cluster."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.web.share.kubeconfig import kubeconfig
from simulator.api import Change, Manifest
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from tests.kubectl_plugin.api_server import Answer, ApiServer, refusal
from tests.kubectl_plugin.conftest import Ask
from tests.kubectl_plugin.small_cluster import EVENTS, LISTS, NODES, PODS, SECRET, node, pod
from tests.tools import program
from tests.waiting import PATIENCE

GATES = "/api/v1/namespaces/kube-system/pods"


def test_why_prints_the_reason_with_amounts_and_the_smallest_changes(ask: Ask, api_server: ApiServer) -> None:
    status, out, err = ask("why", "pod/big-1", server=api_server)
    assert (status, err) == (1, "")
    assert "Insufficient cpu: needs 3, free 1 of 4" in out
    assert "request cpu 3 -> 1" in out
    assert "The cluster's scheduler said: 0/1 nodes are available: as it was." in out
    assert "Assumed: the scheduler v1.36.2; its default configuration; its default feature gates." in out


def test_why_says_of_a_bound_pod_where_it_would_be_bound_now(ask: Ask, api_server: ApiServer) -> None:
    status, out, _ = ask("why", "runs", "-n", "shop", server=api_server)
    assert status == 0
    assert "It is bound to node-1 (status.phase Running). What follows is about a new pod like it." in out
    assert "It would be bound to node-1." in out
    assert ask("why", "small", "-n", "other", server=api_server).status == 0
    api_server.lists[PODS][0]["status"]["phase"] = "Succeeded"
    status, out, _ = ask("why", "runs", server=api_server)
    assert (status, "It has ended on node-1 (status.phase Succeeded). What follows" in out) == (0, True)


def test_why_as_json_has_what_explain_and_whatif_print(ask: Ask, api_server: ApiServer) -> None:
    answer = json.loads(ask("why", "big-1", "-o", "json", server=api_server).out)
    assert (answer["pod"], answer["node"], answer["explain"]["outcome"]) == (
        "shop/big-1",
        "",
        "unschedulable",
    )
    assert answer["said"] == "0/1 nodes are available: as it was."
    assert answer["whatif"]["now"]["kind"] == "unschedulable"
    assert answer["whatif"]["suggestions"]
    assert answer["assumed"]["judged_as"] == "v1.36.2"
    bound = json.loads(ask("why", "runs", "-o", "json", server=api_server).out)
    assert (bound["node"], bound["whatif"]) == ("node-1", None)


def test_pending_groups_the_pods_by_their_cause(ask: Ask, api_server: ApiServer) -> None:
    status, out, _ = ask("pending", "-A", "-o", "json", server=api_server)
    answer = json.loads(out)
    assert (status, answer["count"], answer["first"], answer["untried"]) == (1, 4, "other/small", 0)
    found = {each["cause"]: each["pods"] for each in answer["causes"]}
    assert found == {
        "1 has too little cpu": ["shop/big-1", "shop/big-2"],
        "scheduling gates: wait": ["shop/gated"],
        "wait for their turn in activeQ": ["other/small"],
    }
    _, table, _ = ask("pending", "-n", "shop", server=api_server)
    head, first, remedy, pods, *_ = table.splitlines()
    assert head.split() == ["PODS", "OLDEST", "CAUSE"]
    assert first.startswith("2 pods of 1 owner  ")
    assert first.endswith(" d    1 has too little cpu, of 1 node")
    assert remedy.lstrip().startswith("remedy: A pod there that requests cpu ends, ")
    assert pods.lstrip() == "pods: shop/big-1, shop/big-2"
    assert "other/small" not in table


def test_a_cluster_without_pending_pods(ask: Ask, api_server: ApiServer) -> None:
    api_server.lists[PODS] = [pod("runs", "1", on="node-1")]
    status, out, _ = ask("pending", server=api_server)
    assert status == 0
    assert out.startswith(
        f"No pod is pending.\n\nRead once from {api_server.address} (context prod); nothing "
    )


def test_evictions_are_those_of_the_events_as_far_back_as_they_reach(ask: Ask, api_server: ApiServer) -> None:
    def event(reason: str, name: str, at: str, note: str, **rest: Manifest) -> Manifest:
        involved = {"kind": "Pod", "namespace": "shop", "name": name}
        return {
            "metadata": {"name": f"{name}.{at}", "namespace": "shop"},
            "reason": reason,
            "message": note,
            "eventTime": f"2026-11-27T10:{at}:00.000000Z",
            "involvedObject": involved,
            "reportingComponent": "default-scheduler",
            **rest,
        }

    related = {"kind": "Pod", "namespace": "shop", "name": "gone", "uid": "g"}
    api_server.lists[EVENTS] = [
        event("Scheduled", "runs", "01", ""),
        event("Preempted", "a", "05", "Preempted by pod uid-runs on node node-1"),
        event("Preempted", "b", "06", "Preempted by pod nobody on node node-1"),
        event("Preempted", "c", "07", "Preempted by pod g on node node-2", related=related),
        event("Evicted", "d", "08", "low on memory", source={"component": "kubelet", "host": "node-3"})
        | {"reportingComponent": ""},
    ]
    api_server.page = 2
    status, out, _ = ask("evictions", "-o", "json", server=api_server)
    answer = json.loads(out)
    assert (status, answer["since"]) == (1, "2026-11-27T10:01:00Z")
    assert [(each["pod"], each["by"], each["node"]) for each in answer["evictions"]] == [
        ("shop/d", "kubelet", "node-3"),
        ("shop/c", "pod shop/gone", "node-2"),
        ("shop/b", "unknown (a pod that is gone, uid nobody)", "node-1"),
        ("shop/a", "pod shop/runs", "node-1"),
    ]
    assert (answer["summed"]["figure"], answer["summed"]["causes"][0]["count"]) == (4, 1)
    assert "For whom:\nFOR" in ask("evictions", server=api_server).out
    assert (
        "The cluster's Events reach back to 2026-11-27T10:01:00Z (" in ask("evictions", server=api_server).out
    )
    api_server.lists["/api/v1/namespaces/shop/events"] = api_server.lists.pop(EVENTS)
    assert ask("evictions", "-n", "shop", server=api_server).status == 1
    api_server.lists[EVENTS] = []
    assert ask("evictions", server=api_server).status == 0


@pytest.mark.parametrize(
    ("said", "judged"),
    [
        ("v1.36.0", "v1.36.0;"),
        ("v1.35.9-gke.100", "v1.35.9-gke.100;"),
        ("v1.33.4", "v1.33.4, which is judged by the nearest version that is modelled, v1.34.9;"),
        ("v1.38.0", "v1.38.0, which is judged by the nearest version that is modelled, v1.36.2;"),
        ("dev", "dev, which is judged by the nearest version that is modelled, v1.36.2;"),
    ],
)
def test_the_answer_says_by_which_version_it_is_judged(
    ask: Ask, api_server: ApiServer, said: str, judged: str
) -> None:
    api_server.version = said
    assert f"Assumed: the scheduler {judged}" in ask("pending", server=api_server).out


def test_the_configuration_and_the_gates_are_those_that_the_cluster_says(
    ask: Ask, api_server: ApiServer
) -> None:
    configuration = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: other}]
"""
    maps = "/api/v1/namespaces/kube-system/configmaps/scheduler"
    api_server.answers[maps] = Answer(200, {"data": {"config.yaml": configuration, "note": "no: [yaml"}})
    scheduler = {"metadata": {"name": "kube-scheduler-cp", "namespace": "kube-system"}}
    api_server.answers[GATES] = Answer(200, {"items": [scheduler]})
    api_server.answers[f"{GATES}/https:kube-scheduler-cp:10259/proxy/metrics"] = Answer(
        200,
        b"# TYPE kubernetes_feature_enabled gauge\n"
        b'kubernetes_feature_enabled{name="GenericWorkload",stage="ALPHA"} 1\n'
        b'kubernetes_feature_enabled{name="OfAnotherVersion",stage="BETA"} 1\n',
    )
    out = ask("why", "big-1", "--config-map", "kube-system/scheduler", server=api_server).out
    assert "No profile has the schedulerName default-scheduler" in out
    assert "the configuration of the ConfigMap kube-system/scheduler" in out
    assert "the feature gates of its metrics (GenericWorkload=true)" in out
    failed = ask("pending", "--config-map", "kube-system/scheduler:note", server=api_server)
    assert failed.err.startswith("pending: --config-map kube-system/scheduler:note: ")


def test_pod_groups_that_are_not_modelled_end_no_answer(ask: Ask, api_server: ApiServer) -> None:
    api_server.version = "v1.35.2"
    scheduler = {"metadata": {"name": "kube-scheduler-cp", "namespace": "kube-system"}}
    api_server.answers[GATES] = Answer(200, {"items": [scheduler]})
    api_server.answers[f"{GATES}/https:kube-scheduler-cp:10259/proxy/metrics"] = Answer(
        200, b'kubernetes_feature_enabled{name="GenericWorkload",stage="ALPHA"} 1\n'
    )
    status, out, _ = ask("pending", server=api_server)
    assert (status, "the scheduler v1.35.2" in out) == (1, True)


def test_metrics_that_cannot_be_reached_are_asked_for_once(ask: Ask, api_server: ApiServer) -> None:
    """kubeadm's scheduler listens on the loopback of its machine only: the API server answers 503."""
    scheduler = {"metadata": {"name": "kube-scheduler-cp", "namespace": "kube-system"}}
    api_server.answers[GATES] = Answer(200, {"items": [scheduler]})
    metrics = f"{GATES}/https:kube-scheduler-cp:10259/proxy/metrics"
    api_server.answers[metrics] = Answer(503, {"message": "error trying to reach service"})
    assert "its default feature gates" in ask("pending", server=api_server).out
    assert [path for _, path, _ in api_server.asked].count(metrics) == 1


def test_a_version_that_may_not_be_read(ask: Ask, api_server: ApiServer) -> None:
    api_server.answers["/version"] = refusal(403, "forbidden")
    out = ask("pending", server=api_server).out
    assert "the scheduler of an unknown version (/version is forbidden), which is judged by" in out


def test_kubelets_of_another_version_are_named(ask: Ask, api_server: ApiServer) -> None:
    for name, kubelet in (("old", "v1.34.3"), ("equal", "v1.36.1-eks.2")):
        each = node(name, "1")
        each["status"]["nodeInfo"] = {"kubeletVersion": kubelet}
        api_server.lists[NODES].append(each)
    out = ask("pending", server=api_server).out
    assert "Kubelets of other versions, with the number of nodes: v1.34 (1).\n" in out


def test_an_extender_is_not_called_unless_its_host_is_allowed(
    ask: Ask, api_server: ApiServer, tmp_path: Path
) -> None:
    configuration = tmp_path / "config.yaml"
    configuration.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"extenders: [{{urlPrefix: '{api_server.address}/extender', filterVerb: filter}}]\n"
    )
    refused = ask("why", "big-1", "--config", str(configuration), server=api_server)
    assert refused.err.count("\n") == 1
    assert "is not on a host that may be called" in refused.err
    assert {method for method, _, _ in api_server.asked} == {"GET"}


def test_an_older_version_can_be_asked_for(ask: Ask, api_server: ApiServer) -> None:
    out = ask("pending", "--kubernetes", "v1.34", "--feature-gates", "AllAlpha=false", server=api_server).out
    assert "Assumed: the scheduler v1.34; its default configuration; the feature gates AllAlpha=false." in out


def test_nothing_private_is_printed(ask: Ask, api_server: ApiServer) -> None:
    for command in (["pending"], ["why", "big-1"], ["why", "runs"]):
        assert SECRET not in ask(*command, "-o", "json", server=api_server).out


# A sandbox is a cluster, by its API.


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """A cluster after a preemption, in which one pod is too large."""
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
    of_kind = [("Node", node("node-1", "4")), ("Pod", pod("low", "3"))]
    manifests = [{"apiVersion": "v1", "kind": kind, **each} for kind, each in of_kind]
    for each in manifests:
        each["metadata"].pop("uid")
        each.pop("status") if each["kind"] == "Pod" else None
    del manifests[1]["spec"]["priority"]
    memory = MemorySandbox(
        SandboxOptions(
            "m",
            [
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
                {**high, "value": 100},
                *manifests,
            ],
        )
    )
    memory.run("bound shop/low")
    for name, cpu, wanted in (("urgent", "3", "high"), ("huge", "32", "")):
        made = {"apiVersion": "v1", "kind": "Pod", **pod(name, cpu)}
        made["metadata"].pop("uid")
        del made["status"], made["spec"]["priority"]
        if wanted:
            made["spec"]["priorityClassName"] = wanted
        memory.create([made])
    memory.run("bound shop/urgent")
    changes = [
        Change(resource, key, manifest, 0)
        for resource, objects in memory.list_all().items()
        for key, manifest in objects.items()
    ]
    clock = Clock(sim=memory.now(), wall=store.wall(), paused=True)
    yield store.create(Meta(name=sandbox_name, created=store.wall()), changes, clock)
    store.delete(sandbox_name)


def test_kubectl_runs_the_plugin_against_a_sandbox(server: str, sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    plugin = folder / "kubectl-schedviz"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -m schedviz.kubectl_plugin "$@"\n')
    plugin.chmod(0o755)
    config = tmp_path / "kubeconfig"
    config.write_text(kubeconfig(sandbox.name, f"{server}/s/{sandbox.name}", token=""))

    def kubectl(*arguments: str) -> tuple[int, str]:
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "KUBECONFIG": str(config)}
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        done = subprocess.run(
            [program("kubectl"), "schedviz", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout + done.stderr

    status, printed = kubectl("why", "huge", "-n", "shop")
    assert status == 1, printed
    assert "NodeResourcesFit: Insufficient cpu: needs 32, free 1 of 4" in printed
    status, printed = kubectl("evictions", "-o", "json")
    assert status == 1, printed
    [eviction] = json.loads(printed)["evictions"]
    assert (eviction["pod"], eviction["by"], eviction["node"]) == ("shop/low", "pod shop/urgent", "node-1")
    status, printed = kubectl("pending", "-n", "shop")
    assert (status, "too little cpu" in printed) == (1, True), printed


def gang_cluster(api_server: ApiServer, pods: int, needs: int) -> None:
    """A gang of pods of which three fit together, each of them by itself."""
    group = {"metadata": {"name": "train", "namespace": "shop", "uid": "g"},
             "spec": {"schedulingPolicy": {"gang": {"minCount": needs}}}}  # fmt: skip
    member = {"schedulingGroup": {"podGroupName": "train"}}
    api_server.lists["/apis/scheduling.k8s.io/v1alpha2/podgroups"] = [group]
    api_server.lists[NODES] = [node("node-1", "4")]
    api_server.lists[PODS] = [pod(f"train-{number}", "1300m", **member) for number in range(pods)]


def test_a_gang_is_tried_as_a_whole(ask: Ask, api_server: ApiServer) -> None:
    gang_cluster(api_server, 4, needs=4)
    answer = ask("why", "train-0", "-n", "shop", server=api_server)
    assert answer.status == 1
    assert "It is a pod of PodGroup shop/train, whose pods are scheduled together." in answer.out
    assert "PodGroup shop/train: 3 of 4 pods fit, and it needs 4." in answer.out
    assert (
        "the feature gates GangScheduling=true,GenericWorkload=true, as the API server has PodGroups"
        in answer.out
    )
    pending = json.loads(ask("pending", "-o", "json", server=api_server).out)
    assert (pending["first"], sum(row["count"] for row in pending["causes"])) == ("", 4)
    without = ["--feature-gates", "GenericWorkload=false"]
    assert ask("why", "train-0", "-n", "shop", *without, server=api_server).status == 0


def test_a_gang_that_fits_takes_its_room_from_those_behind_it(ask: Ask, api_server: ApiServer) -> None:
    gang_cluster(api_server, 3, needs=3)
    assert ask("why", "train-0", "-n", "shop", server=api_server).status == 0
    later = pod("zz", "1300m")
    later["metadata"]["creationTimestamp"] = "2026-11-02T00:00:00Z"
    api_server.lists[PODS] = [*api_server.lists[PODS], later]
    pending = json.loads(ask("pending", "-o", "json", server=api_server).out)
    assert pending["first"] == "shop/train-0"
    assert sorted(row["pods"] for row in pending["causes"]) == [
        ["shop/train-0", "shop/train-1", "shop/train-2"],
        ["shop/zz"],
    ]


@pytest.fixture
def one_namespace(api_server: ApiServer) -> ApiServer:
    """A cluster whose user has rights in the namespace shop only, and may list nodes."""
    for path in LISTS:
        if path != NODES:
            api_server.answers[path] = refusal(403, 'User "jane" cannot list it at the cluster scope')
    for path, items in [*api_server.lists.items()]:
        prefix, _, plural = path.rpartition("/")
        own = [item for item in items if item["metadata"].get("namespace") == "shop"]
        api_server.lists[f"{prefix}/namespaces/shop/{plural}"] = own
    return api_server


def test_with_rights_in_one_namespace_the_room_of_others_is_said_to_be_unknown(
    ask: Ask, one_namespace: ApiServer
) -> None:
    status, out, err = ask("why", "big-1", "-n", "shop", server=one_namespace)
    assert (status, err) == (1, "")
    assert "so their room on the nodes is unknown" in out
    assert "Not read: pods of other namespaces (forbidden): the room that they take on the nodes" in out
    assert "Not read: services of other namespaces (forbidden)" in out
    assert "Not read: storageclasses (forbidden)" in out
    one_namespace.lists["/api/v1/namespaces/shop/pods"][2]["spec"]["containers"][0]["resources"] = {}
    assert ask("why", "big-2", "-n", "shop", server=one_namespace).status == 1, "it may be full"
    assert json.loads(ask("pending", "-n", "shop", "-o", "json", server=one_namespace).out)["count"] == 3
    status, out, err = ask("pending", server=one_namespace)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "no permission to list pods" in err
    assert "-n NAMESPACE" in err


def test_without_nodes_what_the_clusters_scheduler_said_is_said_in_words(
    ask: Ask, one_namespace: ApiServer
) -> None:
    one_namespace.answers[NODES] = refusal(403, 'User "jane" cannot')
    for each in one_namespace.lists["/api/v1/namespaces/shop/pods"]:
        for condition in each["status"].get("conditions", ()):
            condition["message"] = "0/30 nodes are available: 30 Insufficient nvidia.com/gpu."
    status, out, err = ask("why", "big-1", "-n", "shop", server=one_namespace)
    assert (status, err) == (1, "")
    assert "The cluster's scheduler said: 0/30 nodes are available: 30 Insufficient nvidia.com/gpu." in out
    assert "30 have too little nvidia.com/gpu" in out
    assert "Remedy: A pod there that requests nvidia.com/gpu ends" in out
    assert "Not read: nodes (forbidden): which nodes there are, and what each of them lacks." in out
    status, out, _ = ask("why", "runs", "-n", "shop", server=one_namespace)
    assert status == 0
    assert "It is bound to node-1 (status.phase Running)." in out
    one_namespace.lists["/api/v1/namespaces/shop/pods"][0]["status"]["phase"] = "Succeeded"
    out = ask("why", "runs", "-n", "shop", server=one_namespace).out
    assert "It has ended on node-1 (status.phase Succeeded)." in out
    answer = json.loads(ask("why", "big-1", "-n", "shop", "-o", "json", server=one_namespace).out)
    assert (answer["explain"], answer["whatif"]) == (None, None)
    status, out, _ = ask("pending", "-n", "shop", server=one_namespace)
    assert status == 1
    assert "3 pods were not tried; their cause is what the cluster's scheduler said last." in out
    assert "None of them fits" not in out
    # Who may list the pods of all namespaces asks about this one nevertheless.
    del one_namespace.answers[PODS]
    assert json.loads(ask("pending", "-n", "shop", "-o", "json", server=one_namespace).out)["count"] == 3
