"""Defaults of Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs, CronJobs and
PodTemplates.

Upstream: pkg/apis/apps/v1/defaults.go, pkg/apis/batch/v1/defaults.go and pkg/registry/batch/job/strategy.go,
v1.34."""

from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver.kinds.volumes.source_defaults import set_claim_spec_defaults
from simulator.apiserver.pod_defaults import set_pod_spec_defaults

JOB_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
MANUAL_SELECTOR = "manualSelector"
MOST_FAILURES = 2**31 - 1
"""The backoffLimit of a Job whose indexes have limits of their own."""
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _template(manifest: Manifest) -> None:
    """Set the defaults of a template. Upstream it is not a pointer: a missing template is an empty one."""
    template = manifest["spec"].setdefault("template", {})
    template.setdefault("metadata", {})
    set_pod_spec_defaults(template.setdefault("spec", {}))


def _replica_set(manifest: Manifest) -> None:
    manifest.setdefault("spec", {}).setdefault("replicas", 1)
    _template(manifest)


def _default_replication_controller(manifest: Manifest) -> None:
    """Set the defaults of a ReplicationController, whose template may be missing. The selector defaults to
    the template's labels."""
    spec = manifest.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    if "template" in spec:
        _template(manifest)
        labels = spec["template"]["metadata"].get("labels", {})
        if labels and not spec.get("selector"):
            spec["selector"] = dict(labels)
        if labels and not manifest["metadata"].get("labels"):
            manifest["metadata"]["labels"] = dict(labels)


def _default_deployment(manifest: Manifest) -> None:
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


def _default_stateful_set(manifest: Manifest) -> None:
    _replica_set(manifest)
    spec = manifest["spec"]
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("serviceName", "")
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("metadata", {})
        set_claim_spec_defaults(claim.setdefault("spec", {}))
        claim.setdefault("status", {}).setdefault("phase", "Pending")


def _default_daemon_set(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    _template(manifest)
    strategy = spec.setdefault("updateStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def number_template(daemon_set: Manifest) -> None:
    """Note that the template of a new DaemonSet is the first. The field of older versions is an
    annotation now (pkg/apis/apps/v1/conversion.go)."""
    daemon_set["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def number_next_template(old: Manifest, new: Manifest) -> None:
    """Number the template of a DaemonSet that is updated: one more if it has changed."""
    number = old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION)
    if number is None:
        return
    if old["spec"].get("template") != new["spec"].get("template"):
        number = str(int(number) + 1) if number.isdecimal() else "1"
    new["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = number


def _default_job(manifest: Manifest) -> None:
    """Give a Job without labels those of its template: upstream the same map, to which PrepareForCreate adds
    what selects the pods."""
    spec = manifest.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", MOST_FAILURES if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault(MANUAL_SELECTOR, False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    _default_job_template(spec)
    labels = spec["template"]["metadata"].get("labels")
    if labels and not manifest["metadata"].get("labels"):
        manifest["metadata"]["labels"] = labels


def _default_job_template(spec: Manifest) -> None:
    """Set the defaults that are also set in the Jobs of a CronJob."""
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        policy["rules"] = policy.get("rules") or None
    for rule in (policy or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions", ()):
            pattern["status"] = pattern.get("status") or "True"
    _template({"spec": spec})


def _default_cron_job(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    _default_job_template(template.setdefault("spec", {}))


def _default_pod_template(manifest: Manifest) -> None:
    template = manifest.setdefault("template", {})
    template.setdefault("metadata", {})
    set_pod_spec_defaults(template.setdefault("spec", {}))


WORKLOAD_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "deployments.apps": _default_deployment,
    "replicasets.apps": _replica_set,
    "replicationcontrollers": _default_replication_controller,
    "statefulsets.apps": _default_stateful_set,
    "daemonsets.apps": _default_daemon_set,
    "jobs.batch": _default_job,
    "cronjobs.batch": _default_cron_job,
    "podtemplates": _default_pod_template,
}


def select_own_pods(job: Manifest) -> None:
    """Set the selector of a new Job, and the labels of its template, to the Job's UID (generateSelector).
    A Job with manualSelector is not changed."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get(MANUAL_SELECTOR):
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    # Validation refuses other values that the labels have already.
    for label in JOB_LABELS:
        labels.setdefault(label, metadata["uid"])
    for label in JOB_NAME_LABELS:
        labels.setdefault(label, metadata.get("name", ""))
    own = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    own.setdefault("batch.kubernetes.io/controller-uid", metadata["uid"])
    if not metadata.get("labels"):
        metadata["labels"] = dict(labels)
