"""Output of kubectl for real clusters: fields that servers set, secrets in all usual places, kinds that
schedviz does not know. All secrets contain SECRET."""

import json
from typing import Any

from simulator.api import Manifest

SECRET = "hunter2"
BORN = "2026-03-01T08:00:00Z"
MANAGED = [{"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {SECRET: {}}}}]
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def meta(name: str, uid: str, namespace: str = "shop", **rest: Any) -> Manifest:
    found = {"name": name, "uid": uid, "creationTimestamp": BORN, "resourceVersion": "81234", **rest}
    found["managedFields"] = MANAGED
    return {**found, "namespace": namespace} if namespace else found


def owned(kind: str, name: str, uid: str) -> list[Manifest]:
    api = {"Node": "v1", "Rollout": "argoproj.io/v1alpha1"}.get(kind, "apps/v1")
    return [{"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True}]


def node(name: str, **labels: str) -> Manifest:
    """A node as kubeadm and clouds create it."""
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting"}
    times = {"lastHeartbeatTime": BORN, "lastTransitionTime": BORN}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta(
            name,
            f"uid-{name}",
            "",
            labels={"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **labels},
            annotations={
                "kubeadm.alpha.kubernetes.io/cri-socket": "unix:///run/containerd/containerd.sock",
                "projectcalico.org/IPv4Address": "10.0.0.7/24",
            },
        ),
        "spec": {"podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24"], "providerID": f"aws:///a/{name}"},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.0.0.7"}],
            "allocatable": {"cpu": "3920m", "memory": "15155332Ki", "pods": "58", "hugepages-2Mi": "0"},
            "capacity": {"cpu": "4", "memory": "16172164Ki", "pods": "58", "hugepages-2Mi": "0"},
            "conditions": [{**ready, **times}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [{"names": ["shop/web:3"], "sizeBytes": 123456789}],
            "nodeInfo": {"kubeletVersion": "v1.35.0", "swap": {"capacity": 1}, **NODE_INFO},
            "runtimeHandlers": [{"name": "runc", "features": {"recursiveReadOnlyMounts": True}}],
            "fieldOfTheFuture": ["value"],
        },
    }


NODE_INFO = dict.fromkeys(
    (
        *("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion"),
        *("machineID", "operatingSystem", "osImage", "systemUUID"),
    ),
    "x",
)


def pod_spec(env: str = SECRET) -> Manifest:
    return {
        "containers": [
            {
                "name": "web",
                "image": "shop/web:3",
                "command": ["serve", f"--password={SECRET}"],
                "args": [SECRET],
                "env": [{"name": "PASSWORD", "value": env}],
                "envFrom": [{"secretRef": {"name": "db"}}],
                "livenessProbe": {
                    "httpGet": {"path": f"/?token={SECRET}", "port": 80, "scheme": "HTTP"},
                    "periodSeconds": 10,
                },
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}},
                "securityContext": {"readOnlyRootFilesystem": True},
                "volumeMounts": [{"name": "token", "mountPath": f"/run/{SECRET}"}],
                "startupPolicyFromTheFuture": "Always",
            }
        ],
        "volumes": [
            {"name": "token", "secret": {"secretName": "db", "defaultMode": 420}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "inline", "csi": {"driver": "x", "volumeAttributes": {"key": SECRET}}},
        ],
        "serviceAccountName": "web",
        "serviceAccount": "web",
        "hostAliases": [{"ip": "10.0.0.9", "hostnames": [SECRET]}],
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def pod(name: str, on: str = "", owner: list[Manifest] | None = None, **spec: Any) -> Manifest:
    running = {
        "phase": "Running",
        "startTime": BORN,
        "message": SECRET,
        "conditions": [
            {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": BORN}
        ],
        "containerStatuses": [
            {
                "name": "web",
                "ready": True,
                "restartCount": 2,
                "image": "shop/web:3",
                "imageID": "sha256:1",
                "state": {"running": {"startedAt": BORN}},
                "lastState": {"terminated": {"exitCode": 1, "message": f"could not log in: {SECRET}"}},
            }
        ],
    }
    labels = {"app": "web", "pod-template-hash": name.split("-")[1]} if name.startswith("web-") else {}
    metadata = meta(name, f"uid-{name}", labels=labels, annotations={"vault.example.com/token": SECRET})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, **({"ownerReferences": owner} if owner else {})},
        "spec": {**pod_spec(), "priority": 0, **({"nodeName": on} if on else {}), **spec},
        "status": running if on else {"phase": "Pending"},
    }


def template(env: str) -> Manifest:
    return {
        "metadata": {
            "creationTimestamp": None,
            "labels": {"app": "web"},
            "annotations": {"kubectl.kubernetes.io/restartedAt": BORN, "checksum/config": SECRET},
        },
        "spec": pod_spec(env),
    }


def workload(kind: str, name: str, replicas: int, env: str = SECRET, **rest: Any) -> Manifest:
    selector: Manifest = {"matchLabels": {"app": "web"}}
    made = template(env)
    if kind == "ReplicaSet":
        of_revision = {"pod-template-hash": name.rpartition("-")[2]}
        made["metadata"]["labels"] |= of_revision
        selector["matchLabels"] |= of_revision
    spec = {"replicas": replicas, "selector": selector, "template": made}
    applied = {APPLIED: json.dumps(pod_spec())}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": meta(name, f"uid-{name}", labels=made["metadata"]["labels"], annotations=applied, **rest),
        "spec": spec,
        "status": {"replicas": replicas, "observedGeneration": 4},
    }


def cluster() -> list[Manifest]:
    """A shop on three nodes: a Deployment between two revisions that differ in an environment, a static pod,
    a pod of an owner that is not known, one that waits, and much that no scheduler reads."""
    new, old = (
        owned("ReplicaSet", "web-7d4b9c6f5", "uid-web-7d4b9c6f5"),
        owned("ReplicaSet", "web-5bb9d7c4f", "uid-web-5bb9d7c4f"),
    )
    of_web = owned("Deployment", "web", "uid-web")
    data = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "8Gi"}}}}
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta("db", "uid-s"), "data": {"password": SECRET}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("c", "uid-c"), "data": {"ini": SECRET}},
        node("cp-1", **{"node-role.kubernetes.io/control-plane": ""}),
        node("ip-10-0-1-17.ec2.internal", **{"eks.amazonaws.com/nodegroup": "blue", ZONE: "eu-west-1a"}),
        node("gke-main-pool-1", **{"cloud.google.com/gke-nodepool": "main", ZONE: "eu-west-1b"}),
        pod("web-7d4b9c6f5-aaaaa", "gke-main-pool-1", new),
        pod("web-5bb9d7c4f-bbbbb", "ip-10-0-1-17.ec2.internal", old),
        pod("kube-apiserver-cp-1", "cp-1", owned("Node", "cp-1", "uid-cp-1")),
        pod("canary", "gke-main-pool-1", owned("Rollout", "canary", "uid-rollout")),
        pod("waits", nodeSelector={"disk": "ssd"}),
        workload("Deployment", "web", 2),
        workload("ReplicaSet", "web-7d4b9c6f5", 1, ownerReferences=of_web),
        workload("ReplicaSet", "web-5bb9d7c4f", 1, env="another", ownerReferences=of_web),
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("data", "uid-d"), **data},
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": meta("fast", "uid-f", ""),
            "provisioner": "x.example.com",
            "parameters": {"restuserkey": SECRET},
        },
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": meta("canary", "uid-rollout")},
        {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": meta("web", "uid-b")},
        {"apiVersion": "v1", "kind": "Event", "metadata": meta("e", "uid-e"), "message": SECRET},
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta("broken", "uid-x"), "spec": {"containers": 3}},
    ]


ZONE = "topology.kubernetes.io/zone"


def as_list(items: list[Manifest]) -> str:
    """kubectl get ... -o json."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)
