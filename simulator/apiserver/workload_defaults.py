"""What is filled in of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs
(pkg/apis/apps/v1/defaults.go, pkg/apis/batch/v1/defaults.go and pkg/registry/batch/job/strategy.go,
v1.34)."""

from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver.pod_defaults import pod_spec

JOB_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
MANUAL_SELECTOR = "manualSelector"


def _template(manifest: Manifest) -> None:
    template = manifest["spec"].get("template")
    if template is not None:
        pod_spec(template.setdefault("spec", {}))


def _replica_set(manifest: Manifest) -> None:
    manifest.setdefault("spec", {}).setdefault("replicas", 1)
    _template(manifest)


def _deployment(manifest: Manifest) -> None:
    _replica_set(manifest)
    spec = manifest["spec"]
    strategy = spec.setdefault("strategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def _stateful_set(manifest: Manifest) -> None:
    _replica_set(manifest)
    spec = manifest["spec"]
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def _daemon_set(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    _template(manifest)
    strategy = spec.setdefault("updateStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def _job(manifest: Manifest) -> None:
    _job_spec(manifest.setdefault("spec", {}))


def _job_spec(spec: Manifest) -> None:
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    _template({"spec": spec})


def _cron_job(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    _job_spec(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))


WORKLOAD_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
}


def select_own_pods(job: Manifest) -> None:
    """A new Job selects the pods that bear its uid (generateSelector), unless it says otherwise."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get(MANUAL_SELECTOR):
        return
    labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    labels.update(dict.fromkeys(JOB_LABELS, metadata["uid"]))
    labels.update(dict.fromkeys(JOB_NAME_LABELS, metadata.get("name", "")))
    own = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    own["batch.kubernetes.io/controller-uid"] = metadata["uid"]
