"""The metrics of kube-scheduler, by its names, labels and buckets (pkg/scheduler/metrics/metrics.go).

They are those of all sandboxes together. docs/OPERATIONS.md says which are in real seconds, which in
simulated ones, and how they differ from upstream's.
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from schedviz.metrics.registry import OTHER, REGISTRY

DEFAULT_PROFILE: Final = "default-scheduler"


def profile_label(profile: str) -> str:
    """Return the value of the label ``profile``: users choose the names of all other profiles."""
    return profile if profile == DEFAULT_PROFILE else OTHER


def _exponential(start: float, factor: float, count: int) -> list[float]:
    """Return the bounds of ExponentialBuckets of Prometheus' Go client, without the errors of its
    multiplications."""
    return [float(f"{start * factor**i:.6g}") for i in range(count)]


SCHEDULE_ATTEMPTS: Final = Counter(
    "scheduler_schedule_attempts_total",
    "Number of attempts to schedule pods, by the result.",
    ["result", "profile"],
    registry=REGISTRY,
)
ATTEMPT_SECONDS: Final = Histogram(
    "scheduler_scheduling_attempt_duration_seconds",
    "Real seconds of a worker's work for one scheduling cycle, from PreFilter to the choice of the node.",
    ["result", "profile"],
    buckets=_exponential(0.001, 2, 15),
    registry=REGISTRY,
)
POINT_SECONDS: Final = Histogram(
    "scheduler_framework_extension_point_duration_seconds",
    "Real seconds of running all plugins of an extension point for one pod and all nodes.",
    ["extension_point", "status", "profile"],
    buckets=_exponential(0.0001, 2, 12),
    registry=REGISTRY,
)
PLUGIN_SECONDS: Final = Histogram(
    "scheduler_plugin_execution_duration_seconds",
    "Real seconds of running a plugin at an extension point for one pod and all nodes, in one of ten cycles.",
    ["plugin", "extension_point", "status"],
    buckets=_exponential(0.00001, 1.5, 20),
    registry=REGISTRY,
)
SLI_SECONDS: Final = Histogram(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "Simulated seconds from the time a pod enters the scheduling queue until it is bound.",
    ["attempts"],
    buckets=_exponential(0.01, 2, 20),
    registry=REGISTRY,
)
POD_ATTEMPTS: Final = Histogram(
    "scheduler_pod_scheduling_attempts",
    "Number of attempts to successfully schedule a pod.",
    buckets=_exponential(1, 2, 5),
    registry=REGISTRY,
)
PREEMPTION_ATTEMPTS: Final = Counter(
    "scheduler_preemption_attempts_total", "Total preemption attempts.", registry=REGISTRY
)
PREEMPTION_VICTIMS: Final = Histogram(
    "scheduler_preemption_victims",
    "Number of selected preemption victims.",
    buckets=_exponential(1, 2, 7),
    registry=REGISTRY,
)
INCOMING_PODS: Final = Counter(
    "scheduler_queue_incoming_pods_total",
    "Number of pods added to scheduling queues by event and queue type.",
    ["queue", "event"],
    registry=REGISTRY,
)
PENDING_PODS: Final = Gauge(
    "scheduler_pending_pods",
    "Number of pending pods, by the queue type, in the sandboxes that a worker leads.",
    ["queue"],
    registry=REGISTRY,
)
UNSCHEDULABLE_PODS: Final = Gauge(
    "scheduler_unschedulable_pods",
    "Number of unschedulable pods by each plugin that rejected them, in the sandboxes that a worker leads.",
    ["plugin", "profile"],
    registry=REGISTRY,
)
