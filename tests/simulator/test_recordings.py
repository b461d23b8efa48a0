"""Recordings and exports of other simulators (KWOK, kube-scheduler-simulator, SimKube): what is read of them,
and that they are played."""

from typing import Any

import msgspec
import pytest

from simulator.api import SECOND, Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.resources import NODES, PODS
from simulator.arrivals.arrival import ArrivalError, encode
from simulator.arrivals.read import read_bytes
from simulator.compare.comparison_run import Side, SideRun
from simulator.compare.workload import ComparedWorkload
from simulator.memory_sandbox import START
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from tests.simulator.test_arrivals import play, workload

KWOK = b"""
apiVersion: v1
kind: Node
metadata: {name: node-0, uid: x, creationTimestamp: "2024-01-01T00:00:00Z"}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
---
{apiVersion: action.kwok.x-k8s.io/v1alpha1, kind: ResourcePatch, method: create,
 resource: {version: v1, resource: pods}, target: {name: job, namespace: default},
 durationNanosecond: 2000000000,
 template: {apiVersion: v1, kind: Pod, metadata: {name: job, namespace: default},
            spec: {nodeName: gone, containers: [{name: main, image: a, resources: {requests: {cpu: "1"}}}]}}}
---
{apiVersion: action.kwok.x-k8s.io/v1alpha1, kind: ResourcePatch, method: patch,
 resource: {version: v1, resource: pods}, target: {name: job, namespace: default},
 durationNanosecond: 9000000000,
 template: {status: {phase: Succeeded}}}
---
{apiVersion: action.kwok.x-k8s.io/v1alpha1, kind: ResourcePatch, method: delete,
 resource: {version: v1, resource: nodes}, target: {name: node-0}, durationNanosecond: 20000000000}
"""


def kinds(data: bytes) -> list[tuple[float, str, bool]]:
    """Return the time in seconds, the kind, and whether it is deleted, of each arrival."""
    return [
        (each.time / SECOND, each.object["kind"], each.delete)
        for each in read_bytes(data).arrivals
        if each.object is not None
    ]


def test_a_recording_of_kwok_is_read() -> None:
    assert kinds(KWOK) == [(0, "Node", False), (2, "Pod", False), (20, "Node", True)]
    pod = read_bytes(KWOK).arrivals[1].object
    assert pod is not None
    assert "nodeName" not in pod["spec"]
    assert pod["metadata"]["annotations"]["schedviz/run-seconds"] == "7"
    assert play(KWOK, b"", seconds=30).a.bound == 1


def records(*events: tuple[str, int, Manifest]) -> bytes:
    """Return a record of kube-scheduler-simulator: what happened in which second to an object."""
    lines = [
        {"time": f"2024-05-01T10:00:0{second}Z", "event": event, "resource": manifest}
        for event, second, manifest in events
    ]
    return b"\n".join(map(msgspec.json.encode, lines))


def test_a_recorded_change_of_scale_and_a_cordon_are_played() -> None:
    pod = {"metadata": {"labels": {"app": "web"}}, "spec": recorded_pod("web")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": pod}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    node = {**NODE, "metadata": {"name": "node-0", "labels": {"disk": "ssd", "old": "1"}}}
    labelled = {**NODE, "metadata": {"name": "node-0", "labels": {"disk": "ssd"}}}
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    data = records(
        ("Add", 0, node),
        ("Add", 1, web),
        ("Update", 2, {**web, "status": {"replicas": 2}}),
        ("Update", 3, {**web, "spec": {**spec, "replicas": 3, "paused": True}}),
        ("Update", 4, labelled),
        ("Update", 5, {**labelled, "spec": {"unschedulable": True, "taints": [taint]}}),
        ("Update", 6, {**web, "spec": {**spec, "replicas": 4, "paused": True}}),
    )
    read = read_bytes(data)
    assert read.notes == ["line 4: left out: spec.paused of Deployment web"]
    changes = [each.object for each in read.arrivals if each.change and each.object]
    assert [{**each["metadata"], **each.get("spec", {})} for each in changes] == [
        {"name": "web", "replicas": 3},
        {"name": "node-0", "labels": {"old": None}},
        {"name": "node-0", "unschedulable": True, "taints": []},
        {"name": "web", "replicas": 4},
    ]
    made = workload(b"\n".join(map(encode, read.arrivals)), b"")
    assert made.pods == 4
    run = SideRun(ComparedWorkload(made.cluster(START), START, 0), Side(seed=1), START + 30 * SECOND, {})
    while not run.over:
        run.step()
    pods = [Pod.parse(each) for each in run.objects()[PODS.id].values()]
    assert sorted(pod.node_name for pod in pods) == ["", "node-0", "node-0", "node-0"]
    labels = Node.parse(run.objects()[NODES.id]["node-0"]).labels
    assert labels["disk"] == "ssd"
    assert "old" not in labels


def recorded_pod(name: str, **metadata: Any) -> Manifest:
    container = {"name": "main", "image": "a", "resources": {"requests": {"cpu": "1"}}}
    named = {"name": name, "namespace": "default", **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": {"containers": [container]}}


NODE: Manifest = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-0"}}
NODE |= {"status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}}}


def test_records_and_exports_of_kube_scheduler_simulator_are_read() -> None:
    data = records(("Add", 0, NODE), ("Add", 3, recorded_pod("a")), ("Delete", 8, recorded_pod("a")))
    assert kinds(data) == [(0, "Node", False), (3, "Pod", False), (8, "Pod", True)]
    export = {
        "pods": [recorded_pod("a")],
        "nodes": [NODE],
        "schedulerConfig": {"kind": "X"},
        "namespaces": None,
    }
    read = read_bytes(msgspec.json.encode(export))
    assert [each.object["kind"] for each in read.arrivals if each.object] == ["Node", "Pod"]
    assert read.config == {"kind": "X"}


EXPORT_YAML = b"""\
pods:
  - metadata: {name: db, namespace: default, uid: a}
    spec:
      nodeName: node-0
      containers: [{name: main, image: a, resources: {requests: {cpu: "1"}}}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
    status: {phase: Running}
  - metadata: {name: done, namespace: default}
    spec: {nodeName: node-0, containers: [{name: main, image: a, resources: {requests: {cpu: "4"}}}]}
    status: {phase: Succeeded}
nodes:
  - metadata: {name: node-0}
    status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
pvs:
  - metadata: {name: disk, annotations: {pv.kubernetes.io/bound-by-controller: "yes"}}
    spec:
      capacity: {storage: 1Gi}
      hostPath: {path: /tmp}
      accessModes: [ReadWriteOnce]
      claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data, uid: old, resourceVersion: "5"}
    status: {phase: Bound}
pvcs:
  - metadata:
      name: data
      namespace: default
      uid: old
      annotations: {pv.kubernetes.io/bind-completed: "yes", pv.kubernetes.io/bound-by-controller: "yes"}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeName: disk}
    status: {phase: Bound}
storageClasses: []
schedulerConfig:
  healthzBindAddress: 0.0.0.0:10251
  profiles:
    - plugins: {filter: {enabled: [{name: NodeResourcesFit}, {name: EBSLimits}]}, permit: {}}
namespaces: []
"""


def test_an_export_of_the_page_of_kube_scheduler_simulator_is_read() -> None:
    read = read_bytes(EXPORT_YAML)
    assert read.notes == [
        "left out of schedulerConfig, no longer in Kubernetes: healthzBindAddress, the plugin EBSLimits",
        "pods 2: left out: Pod default/done, which has ended",
    ]
    enabled = [{"name": "NodeResourcesFit"}]
    assert read.config == {"profiles": [{"plugins": {"filter": {"enabled": enabled}, "permit": {}}}]}
    # The pod runs with its volume, whose claim has another UID than the exported one.
    assert play(EXPORT_YAML, b"", seconds=10).a.bound == 1
    with pytest.raises(ArrivalError, match=r"^pvcs 1: no manifest with apiVersion"):
        read_bytes(EXPORT_YAML.replace(b"name: data\n", b"name: 5\n"))
    with pytest.raises(ManifestError, match=r"^line 12, "):
        read_bytes(EXPORT_YAML.replace(b"  - metadata: {name: node-0}\n", b"  - metadata: {name: node-0]\n"))


def test_a_recording_of_kwok_without_changes_is_read() -> None:
    assert kinds(KWOK.partition(b"---")[0]) == [(0, "Node", False)]


def test_a_trace_of_simkube_is_read_with_the_lifetimes_of_its_pods() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"}}
    job |= {"spec": {"parallelism": 2, "completions": 2, "template": {"spec": {**recorded_pod("x")["spec"]}}}}
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    owner = {"controller": True, "kind": "Job", "name": "train", "apiVersion": "batch/v1", "uid": "x"}
    # SimKube drops the service account of a pod, but not the volume with its token.
    token = {"name": "kube-api-access-x", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
    mounted = recorded_pod("alone")
    mounted["spec"]["volumes"] = [token]
    mounted["spec"]["containers"][0]["volumeMounts"] = [{"name": token["name"], "mountPath": "/token"}]
    trace = {
        "version": 2,
        "config": {},
        "events": [
            {"ts": 1000, "applied_objs": [NODE, mounted, job], "deleted_objs": []},
            {
                "ts": 1010,
                "applied_objs": [recorded_pod("train-1", ownerReferences=[owner])],
                "deleted_objs": [],
            },
            {"ts": 1090, "applied_objs": [], "deleted_objs": [job]},
        ],
        "index": {},
        "pod_lifecycles": {("batch/v1.Job", "default/train"): {5: [{"Finished": [1000, 1030]}, "Empty"]}},
    }
    data = msgspec.msgpack.encode(trace)
    assert kinds(data) == [(0, "Node", False), (0, "Pod", False), (0, "Job", False), (90, "Job", True)]
    template = read_bytes(data).arrivals[2].object
    assert template is not None
    annotations = template["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"schedviz/run-seconds": "30"}
    assert play(data, b"", seconds=100).a.bound == 3
