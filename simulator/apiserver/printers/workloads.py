"""The rows of workloads: apps and batch, ReplicationControllers and pod templates."""

from typing import Any

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.printers.column import (
    AGE,
    NAME,
    NONE,
    Column,
    Printer,
    age_of,
    human_duration,
    labels_text,
    since,
)
from simulator.apiserver.resource import SCALES
from simulator.objects.conditions import conditions_of
from simulator.objects.labels import selector_text
from simulator.objects.metadata import is_terminating
from simulator.objects.status import status_of
from simulator.objects.timestamps import micros

CONTAINERS = Column("Containers", "Names of each container in the template.", wide=1)
IMAGES = Column("Images", "Images referenced by each container in the template.", wide=1)
READY_PODS = Column("Ready", "Number of the pod with ready state")
_LABELS = (
    "More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"
)


def _selector(description: str) -> Column:
    return Column("Selector", description, wide=1)


def format_label_selector(selector: Manifest | None) -> str:
    """Format a label selector (FormatLabelSelector)."""
    return selector_text(selector) or NONE


def _template_cells(template: Manifest) -> list[str]:
    """Return the names and the images of the containers."""
    containers = (template.get("spec") or {}).get("containers") or ()
    return [",".join(str(each.get(field, "")) for each in containers) for field in ("name", "image")]


def _pod_template(item: Manifest, now: Micros) -> list[Any]:
    template = item.get("template") or {}
    labels = labels_text((template.get("metadata") or {}).get("labels"))
    return [item["metadata"]["name"], *_template_cells(template), labels]


def _controller_revision(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], _controller(item), item["revision"], age_of(item, now)]


def _controller(item: Manifest) -> str:
    """Return the controller's kind with its group, and its name: ``statefulset.apps/web``."""
    owners = item["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


def _counts(item: Manifest, *fields: str) -> list[int]:
    return [status_of(item).get(field) or 0 for field in fields]


def _deployment(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    ready, updated, available = _counts(item, "readyReplicas", "updatedReplicas", "availableReplicas")
    return [
        item["metadata"]["name"],
        f"{ready}/{spec.get('replicas') or 0}",
        updated,
        available,
        age_of(item, now),
        *_template_cells(spec["template"]),
        format_label_selector(spec.get("selector")),
    ]


def _replica_set(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    selector = spec.get("selector")
    return [
        item["metadata"]["name"],
        spec.get("replicas") or 0,
        *_counts(item, "replicas", "readyReplicas"),
        age_of(item, now),
        *_template_cells(spec.get("template") or {}),
        labels_text(selector) if item["kind"] == "ReplicationController" else format_label_selector(selector),
    ]


def _stateful_set(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    [ready] = _counts(item, "readyReplicas")
    return [
        item["metadata"]["name"],
        f"{ready}/{spec.get('replicas') or 0}",
        age_of(item, now),
        *_template_cells(spec["template"]),
    ]


def _daemon_set(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    return [
        item["metadata"]["name"],
        *_counts(
            item,
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "numberReady",
            "updatedNumberScheduled",
            "numberAvailable",
        ),
        labels_text((spec["template"].get("spec") or {}).get("nodeSelector")),
        age_of(item, now),
        *_template_cells(spec["template"]),
        format_label_selector(spec.get("selector")),
    ]


def _job(item: Manifest, now: Micros) -> list[Any]:
    spec, status = item["spec"], status_of(item)
    succeeded, parallelism = status.get("succeeded") or 0, spec.get("parallelism") or 0
    completions = f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"
    if spec.get("completions") is not None:
        completions = f"{succeeded}/{spec['completions']}"
    duration = ""
    if status.get("startTime"):
        end = micros(status["completionTime"]) if status.get("completionTime") else now
        duration = human_duration((end - micros(status["startTime"])) // SECOND)
    return [
        item["metadata"]["name"],
        _job_status(item),
        completions,
        duration,
        age_of(item, now),
        *_template_cells(spec["template"]),
        format_label_selector(spec.get("selector")),
    ]


def _job_status(item: Manifest) -> str:
    true = {each["type"] for each in conditions_of(item) if each["status"] == "True"}
    for name in ("Complete", "Failed"):
        if name in true:
            return name
    if is_terminating(item):
        return "Terminating"
    for name in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if name in true:
            return name
    return "Running"


def _cron_job(item: Manifest, now: Micros) -> list[Any]:
    spec, status = item["spec"], status_of(item)
    job, last = spec["jobTemplate"]["spec"], status.get("lastScheduleTime")
    return [
        item["metadata"]["name"],
        spec["schedule"],
        spec.get("timeZone") or NONE,
        str(bool(spec.get("suspend"))),
        len(status.get("active") or ()),
        since(last, now) if last else NONE,
        age_of(item, now),
        *_template_cells(job["template"]),
        format_label_selector(job.get("selector")),
    ]


def _scale(item: Manifest, now: Micros) -> list[Any]:
    return [
        item["metadata"]["name"],
        (item.get("spec") or {}).get("replicas") or 0,
        *_counts(item, "replicas"),
        age_of(item, now),
    ]


_JOB_SELECTOR = Column("Selector", "JobSpec.selector", wide=1)

WORKLOAD_PRINTERS = {
    SCALES.id: Printer(
        (
            Column("Name", "ObjectMeta.name"),
            Column("Desired", "ScaleSpec.replicas", "integer"),
            Column("Available", "ScaleStatus.replicas", "integer"),
            AGE,
        ),
        _scale,
    ),
    "podtemplates": Printer(
        (
            NAME,
            Column("Containers", CONTAINERS.field),
            Column("Images", IMAGES.field),
            Column("Pod Labels", "The labels for the pod template."),
        ),
        _pod_template,
    ),
    "controllerrevisions.apps": Printer(
        (
            NAME,
            Column("Controller", "Controller of the object"),
            # The description is that of v1beta1.
            Column("Revision", "revision indicates the revision of the state represented by Data."),
            AGE,
        ),
        _controller_revision,
    ),
    "deployments.apps": Printer(
        (
            NAME,
            READY_PODS,
            Column("Up-to-date", "DeploymentStatus.updatedReplicas"),
            Column("Available", "DeploymentStatus.availableReplicas"),
            AGE,
            CONTAINERS,
            IMAGES,
            _selector(
                "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the "
                "ones affected by this deployment."
            ),
        ),
        _deployment,
    ),
    "replicasets.apps": Printer(
        (
            NAME,
            Column("Desired", "ReplicaSetSpec.replicas", "integer"),
            Column("Current", "ReplicaSetStatus.replicas", "integer"),
            Column("Ready", "ReplicaSetStatus.readyReplicas", "integer"),
            AGE,
            CONTAINERS,
            IMAGES,
            _selector(
                "Selector is a label query over pods that should match the replica count. If the selector is "
                "empty, it is defaulted to the labels present on the pod template. Label keys and values "
                f"that must match in order to be controlled by this replica set. {_LABELS}"
            ),
        ),
        _replica_set,
    ),
    "replicationcontrollers": Printer(
        (
            NAME,
            Column("Desired", "ReplicationControllerSpec.replicas", "integer"),
            Column("Current", "ReplicationControllerStatus.replicas", "integer"),
            Column("Ready", "ReplicationControllerStatus.readyReplicas", "integer"),
            AGE,
            CONTAINERS,
            IMAGES,
            Column("Selector", "ReplicationControllerSpec.selector", wide=1),
        ),
        _replica_set,
    ),
    "statefulsets.apps": Printer((NAME, READY_PODS, AGE, CONTAINERS, IMAGES), _stateful_set),
    "daemonsets.apps": Printer(
        (
            NAME,
            Column("Desired", "DaemonSetStatus.desiredNumberScheduled", "integer"),
            Column("Current", "DaemonSetStatus.currentNumberScheduled", "integer"),
            Column(
                "Ready",
                "The number of nodes that should be running the daemon pod and have one or more of the "
                "daemon pod running and ready.",
                "integer",
            ),
            Column("Up-to-date", "DaemonSetStatus.updatedNumberScheduled", "integer"),
            Column("Available", "DaemonSetStatus.numberAvailable", "integer"),
            Column("Node Selector", "PodSpec.nodeSelector"),
            AGE,
            CONTAINERS,
            IMAGES,
            _selector(
                "A label query over pods that are managed by the daemon set. Must match in order to be "
                f"controlled. If empty, defaulted to labels on Pod template. {_LABELS}"
            ),
        ),
        _daemon_set,
    ),
    "jobs.batch": Printer(
        (
            NAME,
            Column("Status", "Status of the job."),
            Column("Completions", "JobStatus.succeeded"),
            Column("Duration", "Time required to complete the job."),
            AGE,
            CONTAINERS,
            IMAGES,
            _JOB_SELECTOR,
        ),
        _job,
    ),
    "cronjobs.batch": Printer(
        (
            NAME,
            Column("Schedule", "CronJobSpec.schedule"),
            Column("Timezone", "CronJobSpec.timeZone"),
            Column("Suspend", "CronJobSpec.suspend", "boolean"),
            Column("Active", "CronJobStatus.active", "integer"),
            Column("Last Schedule", "CronJobStatus.lastScheduleTime"),
            AGE,
            CONTAINERS,
            IMAGES,
            _JOB_SELECTOR,
        ),
        _cron_job,
    ),
}
