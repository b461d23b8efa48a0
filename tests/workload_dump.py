"""A cluster in which all workloads are settled, with the objects as the controllers of a real cluster write
them (v1.34)."""

import copy
from typing import Any

from simulator.api import Manifest
from tests.dumps import BORN

NAMESPACE = "shop"
STARTED = "2025-05-20T09:00:09Z"
HASHES = {"web": "7d4b9c6f5", "db": "5c9f6b7d8", "agent": "6b8c7d9f4", "legacy": "", "report-29391040": ""}
REVISION_LABEL = "controller-revision-hash"


def workload_dump() -> list[Manifest]:
    """Two nodes, and on them the pods of each kind of workload."""
    deployment = _workload("Deployment", "web", replicas=2, **_rollout())
    replica_set = _workload("ReplicaSet", f"web-{HASHES['web']}", "web", replicas=2)
    _set_hash(replica_set, {"pod-template-hash": HASHES["web"]})
    stateful_set = _stateful_set()
    daemon_set = _daemon_set()
    controller = _replication_controller()
    running, cron_job = _job("import", "running"), _cron_job()
    finished = _job("report-29391040", "report", cron_job)
    pods = [
        _pod(f"web-{HASHES['web']}-{end}", replica_set, on, {"pod-template-hash": HASHES["web"]})
        for end, on in (("x2x7q", "n1"), ("b9k4d", "n2"))
    ]
    pods += [_stateful_pod(stateful_set, ordinal, on) for ordinal, on in enumerate(("n1", "n2"))]
    pods += [_daemon_pod(daemon_set, on) for on in ("n1", "n2")]
    pods.append(_pod("legacy-7mm2c", controller, "n1", {}))
    pods += [_job_pod(running, "import-hh8zk"), _job_pod(finished, "report-29391040-q5tzl")]
    objects = [deployment, _owned(replica_set, deployment), stateful_set, _revision(stateful_set)]
    objects += [daemon_set, _revision(daemon_set), controller, running, cron_job, finished]
    return [*map(_node, ("n1", "n2")), *objects, *pods, *_storage(), _budget()]


def _node(name: str) -> Manifest:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    number = name[-1]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "creationTimestamp": BORN,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {"podCIDR": f"10.244.{number}.0/24", "podCIDRs": [f"10.244.{number}.0/24"]},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": f"10.0.0.{number}"},
                {"type": "Hostname", "address": name},
            ],
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "KubeletReady",
                    "message": "kubelet is posting ready status",
                    "lastHeartbeatTime": STARTED,
                    "lastTransitionTime": BORN,
                }
            ],
            "nodeInfo": {"kubeletVersion": "v1.34.2", "operatingSystem": "linux", "architecture": "amd64"},
        },
    }


def _meta(name: str, app: str, **rest: Any) -> Manifest:
    made = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "creationTimestamp": BORN}
    return {**made, "generation": 1, "labels": {"app": app}, **rest}


def _template(app: str, policy: str = "Always") -> Manifest:
    """With the defaults of the API server, and with what an import leaves out."""
    return {
        "metadata": {"labels": {"app": app}, "creationTimestamp": None},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": f"registry.example.com/{app}:1.4.2",
                    "imagePullPolicy": "IfNotPresent",
                    "env": [{"name": "MODE", "value": "live"}],
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                }
            ],
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": policy,
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
        },
    }


def _workload(kind: str, name: str, app: str = "", **spec: Any) -> Manifest:
    app = app or name
    replicas = spec.get("replicas", 0)
    status = {"observedGeneration": 1, "replicas": replicas, "readyReplicas": replicas}
    status |= {"availableReplicas": replicas}
    template = _template(app)
    made = {"selector": {"matchLabels": {"app": app}}, "template": template, **spec}
    if kind == "ReplicaSet":
        status["fullyLabeledReplicas"] = replicas
        status["terminatingReplicas"] = 0
    meta = _meta(name, app)
    if kind in ("Deployment", "ReplicaSet"):
        meta["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    if kind == "ReplicaSet":
        meta["annotations"] |= {
            "deployment.kubernetes.io/desired-replicas": "2",
            "deployment.kubernetes.io/max-replicas": "3",
        }
    if kind == "Deployment":
        status |= {"updatedReplicas": replicas, "conditions": _progress()}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": made, "status": status}


def _progress() -> list[Manifest]:
    times = {"lastTransitionTime": BORN, "lastUpdateTime": BORN}
    available = {"reason": "MinimumReplicasAvailable", "message": "Deployment has minimum availability."}
    message = f'ReplicaSet "web-{HASHES["web"]}" has successfully progressed.'
    progressing = {"reason": "NewReplicaSetAvailable", "message": message}
    return [
        {"type": "Available", "status": "True", **times, **available},
        {"type": "Progressing", "status": "True", **times, **progressing},
    ]


def _rollout() -> Manifest:
    rolling = {"maxSurge": "25%", "maxUnavailable": "25%"}
    return {
        "progressDeadlineSeconds": 600,
        "revisionHistoryLimit": 10,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    }


def _set_hash(manifest: Manifest, label: dict[str, str]) -> None:
    """Of a ReplicaSet: its own, its template's and its selector's."""
    manifest["metadata"]["labels"] |= label
    manifest["spec"]["template"]["metadata"]["labels"] |= label
    manifest["spec"]["selector"]["matchLabels"] |= label


def _owned(manifest: Manifest, owner: Manifest) -> Manifest:
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    reference |= {"uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    manifest["metadata"]["ownerReferences"] = [reference]
    return manifest


def _stateful_set() -> Manifest:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "creationTimestamp": None},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "fast",
            "volumeMode": "Filesystem",
        },
        "status": {"phase": "Pending"},
    }
    made = _workload(
        "StatefulSet",
        "db",
        replicas=2,
        serviceName="db",
        podManagementPolicy="OrderedReady",
        revisionHistoryLimit=10,
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"},
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        volumeClaimTemplates=[claim],
    )
    name = f"db-{HASHES['db']}"
    made["status"] |= {"collisionCount": 0, "currentReplicas": 2, "updatedReplicas": 2}
    made["status"] |= {"currentRevision": name, "updateRevision": name}
    return made


def _daemon_set() -> Manifest:
    rolling = {"maxSurge": 0, "maxUnavailable": 1}
    made = _workload(
        "DaemonSet",
        "agent",
        revisionHistoryLimit=10,
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling},
    )
    made["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "1"}
    counts = ("currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberReady")
    made["status"] = {"observedGeneration": 1, "numberMisscheduled": 0, "updatedNumberScheduled": 2}
    made["status"] |= dict.fromkeys(counts, 2)
    return made


def _revision(owner: Manifest) -> Manifest:
    name = owner["metadata"]["name"]
    label = REVISION_LABEL if owner["kind"] == "DaemonSet" else "controller.kubernetes.io/hash"
    data = {"spec": {"template": {**copy.deepcopy(owner["spec"]["template"]), "$patch": "replace"}}}
    labels = {"app": name, label: HASHES[name]}
    made = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {**_meta(f"{name}-{HASHES[name]}", name), "labels": labels},
        "data": data,
        "revision": 1,
    }
    del made["metadata"]["generation"]
    return _owned(made, owner)


def _replication_controller() -> Manifest:
    made = _workload("ReplicationController", "legacy", replicas=1)
    made["apiVersion"], made["spec"]["selector"] = "v1", {"app": "legacy"}
    made["status"]["fullyLabeledReplicas"] = 1
    return made


def _pod(name: str, owner: Manifest, on: str, labels: dict[str, str]) -> Manifest:
    app = owner["metadata"]["labels"]["app"]
    made: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": _meta(name, app)}
    made["metadata"] |= {"generateName": f"{owner['metadata']['name']}-"}
    made["metadata"]["labels"] |= labels
    template = copy.deepcopy((owner["spec"].get("template") or _template(app))["spec"])
    tolerations = [
        {
            "effect": "NoExecute",
            "key": f"node.kubernetes.io/{key}",
            "operator": "Exists",
            "tolerationSeconds": 300,
        }
        for key in ("not-ready", "unreachable")
    ]
    made["spec"] = {**template, "nodeName": on, "tolerations": tolerations, "enableServiceLinks": True}
    made["spec"] |= {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    started = {"lastProbeTime": None, "lastTransitionTime": STARTED, "observedGeneration": 1}
    address = f"10.244.{on[-1]}.{len(name)}"
    made["status"] = {
        "phase": "Running",
        "qosClass": "Burstable",
        "observedGeneration": 1,
        "conditions": [{"type": kind, "status": "True", **started} for kind in kinds],
        "hostIP": f"10.0.0.{on[-1]}",
        "hostIPs": [{"ip": f"10.0.0.{on[-1]}"}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": STARTED,
        "containerStatuses": [
            {
                "name": "main",
                "image": f"registry.example.com/{app}:1.4.2",
                "imageID": f"registry.example.com/{app}@sha256:1",
                "containerID": f"containerd://{name}",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "lastState": {},
                "state": {"running": {"startedAt": STARTED}},
            }
        ],
    }
    return _owned(made, owner)


def _stateful_pod(owner: Manifest, ordinal: int, on: str) -> Manifest:
    name = f"db-{ordinal}"
    labels = {REVISION_LABEL: f"db-{HASHES['db']}", "apps.kubernetes.io/pod-index": str(ordinal)}
    made = _pod(name, owner, on, {**labels, "statefulset.kubernetes.io/pod-name": name})
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}
    made["spec"] |= {"hostname": name, "subdomain": "db", "volumes": [claim]}
    return made


def _daemon_pod(owner: Manifest, on: str) -> Manifest:
    labels = {REVISION_LABEL: HASHES["agent"], "pod-template-generation": "1"}
    made = _pod(f"agent-{on}abc", owner, on, labels)
    field = {"key": "metadata.name", "operator": "In", "values": [on]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    made["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    tolerated = (
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    )
    made["spec"]["tolerations"] = [
        {
            "effect": "NoExecute" if key in tolerated[:2] else "NoSchedule",
            "key": f"node.kubernetes.io/{key}",
            "operator": "Exists",
        }
        for key in tolerated
    ]
    return made


def _job(name: str, app: str, owner: Manifest | None = None) -> Manifest:
    uid = f"uid-{name}"
    own = {"controller-uid": uid, "job-name": name}
    own |= {f"batch.kubernetes.io/{key}": value for key, value in own.items()}
    template = _template(app, "OnFailure")
    template["metadata"]["labels"] |= own
    spec = {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "manualSelector": False,
        "parallelism": 1,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}},
        "suspend": False,
        "template": template,
    }
    status: Manifest = {"startTime": STARTED, "terminating": 0, "uncountedTerminatedPods": {}}
    made = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _meta(name, app),
        "spec": spec,
        "status": status,
    }
    if owner is None:
        status |= {"active": 1, "ready": 1}
        return made
    times = {"lastProbeTime": "2025-05-20T09:01:00Z", "lastTransitionTime": "2025-05-20T09:01:00Z"}
    reached = {"reason": "CompletionsReached", "message": "Reached expected number of succeeded pods"}
    status |= {"succeeded": 1, "ready": 0, "completionTime": "2025-05-20T09:01:00Z"}
    status["conditions"] = [
        {"type": kind, "status": "True", **times, **reached} for kind in ("SuccessCriteriaMet", "Complete")
    ]
    made["metadata"]["annotations"] = {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2025-05-20T09:00:00Z"
    }
    return _owned(made, owner)


def _job_pod(job: Manifest, name: str) -> Manifest:
    labels = job["spec"]["template"]["metadata"]["labels"]
    made = _pod(name, job, "n2", {key: text for key, text in labels.items() if key != "app"})
    if not job["status"].get("succeeded"):
        made["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
        return made
    ended = {
        "startedAt": STARTED,
        "finishedAt": "2025-05-20T09:00:59Z",
        "containerID": f"containerd://{name}",
    }
    [container] = made["status"]["containerStatuses"]
    container |= {"ready": False, "started": False}
    container["state"] = {"terminated": {"exitCode": 0, "reason": "Completed", **ended}}
    made["status"]["phase"] = "Succeeded"
    for each in made["status"]["conditions"]:
        if each["type"] in ("Ready", "ContainersReady"):
            each |= {"status": "False", "reason": "PodCompleted"}
    return made


def _cron_job() -> Manifest:
    spec = {
        "concurrencyPolicy": "Allow",
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "metadata": {"creationTimestamp": None},
            "spec": {"template": {**_template("report", "OnFailure")}},
        },
        "schedule": "0 9 * * *",
        "successfulJobsHistoryLimit": 3,
        "suspend": False,
    }
    status = {"lastScheduleTime": "2025-05-20T09:00:00Z", "lastSuccessfulTime": "2025-05-20T09:01:00Z"}
    meta = _meta("report", "report")
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": spec, "status": status}


def _storage() -> list[Manifest]:
    made: list[Manifest] = [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "fast", "uid": "uid-fast", "creationTimestamp": BORN},
            "provisioner": "ebs.csi.aws.com",
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    ]
    for ordinal in (0, 1):
        name, volume = f"data-db-{ordinal}", f"pvc-{ordinal}"
        size = {"storage": "1Gi"}
        shared = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeMode": "Filesystem"}
        annotations = {
            "pv.kubernetes.io/bind-completed": "yes",
            "pv.kubernetes.io/bound-by-controller": "yes",
        }
        meta = {
            **_meta(name, "db"),
            "annotations": annotations,
            "finalizers": ["kubernetes.io/pvc-protection"],
        }
        del meta["generation"]
        claim = {**shared, "resources": {"requests": size}, "volumeName": volume}
        bound = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": size}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": meta,
                "spec": claim,
                "status": bound,
            }
        )
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "name": name,
            "namespace": NAMESPACE,
        }
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {
                    "name": volume,
                    "uid": f"uid-{volume}",
                    "creationTimestamp": BORN,
                    "annotations": {"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"},
                    "finalizers": ["kubernetes.io/pv-protection"],
                },
                "spec": {
                    **shared,
                    "capacity": size,
                    "claimRef": {**reference, "uid": f"uid-{name}"},
                    "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{ordinal}"},
                    "persistentVolumeReclaimPolicy": "Delete",
                },
                "status": {"phase": "Bound", "lastPhaseTransitionTime": BORN},
            }
        )
    return made


def _budget() -> Manifest:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    allowed = {
        "type": "DisruptionAllowed",
        "status": "True",
        "reason": "SufficientPods",
        "message": "",
        "observedGeneration": 1,
        "lastTransitionTime": BORN,
    }
    status = {"currentHealthy": 2, "desiredHealthy": 1, "disruptionsAllowed": 1, "expectedPods": 2}
    status |= {"observedGeneration": 1, "conditions": [allowed]}
    meta = _meta("web", "web")
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": spec,
        "status": status,
    }
