"""What the containers of a pod do, as annotations of the pod say, and the status that a kubelet writes of it
(generateAPIPodStatus in pkg/kubelet/kubelet_pods.go and pkg/kubelet/status/generate.go).

All containers of a pod start, fail and terminate together."""

from simulator.api import SECOND, Manifest, Micros
from simulator.objects import container_status
from simulator.objects.conditions import condition, with_condition
from simulator.objects.durations import annotated_seconds
from simulator.objects.metadata import (
    annotations_of,
    finalizers_of,
    generation_of,
    is_terminating,
    with_metadata,
)
from simulator.objects.numbers import whole_number
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.status import with_status
from simulator.objects.timestamps import micros, timestamp

RUN_SECONDS = "schedviz/run-seconds"
"""The annotation after whose time the pod's containers succeed. Without it the pods of Jobs and those that
are hooks of Helm succeed after JOB_RUN_SECONDS, and other pods run until they are deleted."""
JOB_RUN_SECONDS = 10
"""The time after which the containers of a Job's pod succeed: work that ends by itself."""
HELM_HOOK = "helm.sh/hook"
"""The annotation of objects that Helm creates before or after a step, or for a test. It waits until a pod has
ended (WatchUntilReady in helm/pkg/kube/client.go)."""
FAIL_SECONDS = "schedviz/fail-after-seconds"
"""The annotation after whose time the pod's containers fail, each time that they run."""
EXIT_CODE = "schedviz/exit-code"
"""The annotation that sets the exit code of containers that fail and are not restarted, 1 without it, and of
those that stop within the grace period when their pod is deleted."""
READY_SECONDS = "schedviz/ready-after-seconds"
"""The annotation after whose time a started pod becomes ready; without it it is ready at once."""
STOP_SECONDS = "schedviz/stop-seconds"
"""The annotation that sets how long the containers of a deleted pod take to stop; without it they take all of
the grace period."""
TTL_SECONDS = "schedviz/ttl-seconds-after-finished"
"""The annotation after whose time a finished pod is removed, like a Job's ttlSecondsAfterFinished."""


def seconds_in(pod: Manifest, annotation: str) -> int | None:
    return annotated_seconds(annotations_of(pod), annotation)


def exit_code_in(pod: Manifest) -> int | None:
    return whole_number(annotations_of(pod).get(EXIT_CODE, ""))


def run_seconds(pod: Manifest) -> int | None:
    """Return the time after which the pod's containers succeed; None = they do not end by themselves, or
    fail before."""
    seconds = seconds_in(pod, RUN_SECONDS)
    if seconds is None and seconds_in(pod, FAIL_SECONDS) is None and _does_work_that_ends(pod):
        return JOB_RUN_SECONDS
    return seconds


def _does_work_that_ends(pod: Manifest) -> bool:
    """Whether the pod is a Job's or a hook of Helm, and its containers were started here: how long those of
    another cluster run is not known."""
    owner = controller_of(pod) or {}
    return (
        (owner.get("kind") == "Job" or (not owner and HELM_HOOK in annotations_of(pod)))
        and pod["spec"].get("restartPolicy") in ("Never", "OnFailure")
        and container_status.was_started_here(pod)
    )


def exit_code_of_stopped(pod: Manifest) -> int:
    """Return the exit code of the containers of a deleted pod: they end by SIGTERM, or are killed at the end
    of the grace period."""
    stop = seconds_in(pod, STOP_SECONDS)
    if stop is None or stop >= pod["metadata"].get("deletionGracePeriodSeconds", 0):
        return KILLED
    code = exit_code_in(pod)
    return TERMINATED if code is None else code


def stopped_at(pod: Pod) -> Micros | None:
    """Return the time at which the containers of a deleted pod have stopped; None = they have, and the pod
    has finalizers."""
    metadata = pod.manifest["metadata"]
    grace: int = metadata.get("deletionGracePeriodSeconds", 0)
    if pod.finished:
        return None if metadata.get("finalizers") and grace == 0 else 0
    stop = seconds_in(pod.manifest, STOP_SECONDS)
    needed = grace if stop is None or pod.phase != "Running" else min(stop, grace)
    return micros(metadata["deletionTimestamp"]) - (grace - needed) * SECOND


CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
"""The conditions that the kubelet writes, in its order. Those that others write come after them."""
KILLED = 137
"""The exit code of containers that are killed (128 + SIGKILL)."""
TERMINATED = 143
"""The exit code of containers that end by SIGTERM (128 + SIGTERM)."""


def started(pod: Manifest, now: Micros, addresses: dict[str, object], *, ready: bool) -> Manifest:
    """Return the pod whose containers start now for the first time. ``addresses`` are the fields of its
    status that have the addresses of the pod and its node."""
    init = container_status.init_statuses(pod, now)
    new = with_status(
        pod,
        **({"initContainerStatuses": init} if init else {}),
        observedGeneration=generation_of(pod),
        phase="Running",
        **addresses,
        startTime=timestamp(now),
        containerStatuses=container_status.started_statuses(pod, now, ready=ready),
    )
    for kind in ("PodReadyToStartContainers", "Initialized", "PodScheduled"):
        new = with_condition(new, now, kind, "True")
    return with_readiness(new, now, ready=ready)


def restarted(pod: Manifest, now: Micros, *, ready: bool) -> Manifest:
    statuses = container_status.started_statuses(pod, now, ready=ready)
    return with_readiness(_observed(pod, containerStatuses=statuses), now, ready=ready)


def became_ready(pod: Manifest, now: Micros) -> Manifest:
    statuses = container_status.statuses_with_readiness(pod, ready=True)
    return with_readiness(_observed(pod, containerStatuses=statuses), now, ready=True)


def failed(pod: Manifest, now: Micros, since: Micros) -> Manifest:
    """Return the pod whose containers fail now, having run ``since`` then, and wait for their restart."""
    statuses = container_status.waiting_statuses(pod, now, since)
    return with_readiness(_observed(pod, containerStatuses=statuses), now, ready=False)


def ended(pod: Manifest, now: Micros, since: Micros, *, exit_code: int) -> Manifest:
    """Return the pod whose containers end now for good, having run ``since`` then. A deleted one that waits
    for its finalizers needs no grace period any more."""
    statuses = container_status.terminated_statuses(pod, now, since, exit_code=exit_code)
    # A sidecar ends after the others, and well unless all are ended from outside.
    code = exit_code if exit_code in (KILLED, TERMINATED) else 0
    if init := container_status.ended_init_statuses(pod, now, exit_code=code):
        pod = with_status(pod, initContainerStatuses=init)
    return _ended(pod, now, statuses, succeeded=not exit_code)


def never_started(pod: Manifest, now: Micros) -> Manifest:
    """Return a deleted pod whose containers were not started before."""
    return _ended(pod, now, container_status.lost_statuses(pod), succeeded=False)


def _ended(pod: Manifest, now: Micros, statuses: list[Manifest], *, succeeded: bool) -> Manifest:
    phase, reason = ("Succeeded", "PodCompleted") if succeeded else ("Failed", "PodFailed")
    new = _observed(pod, phase=phase, containerStatuses=statuses)
    new = with_condition(new, now, "PodReadyToStartContainers", "False")
    if succeeded:
        new = with_condition(new, now, "Initialized", "True", reason=reason)
    for kind in ("Ready", "ContainersReady"):
        new = with_condition(new, now, kind, "False", reason=reason)
    new = _with_conditions_in_order(new)
    if is_terminating(new) and finalizers_of(new):
        # It is not removed with this status.
        return with_metadata(new, deletionGracePeriodSeconds=0)
    return new


def with_readiness(pod: Manifest, now: Micros, *, ready: bool) -> Manifest:
    status, reason = ("True", "") if ready else ("False", "ContainersNotReady")
    for kind in ("Ready", "ContainersReady"):
        pod = with_condition(pod, now, kind, status, reason=reason)
    return _with_conditions_in_order(pod)


def _observed(pod: Manifest, **fields: object) -> Manifest:
    return with_status(pod, observedGeneration=generation_of(pod), **fields)


def _with_conditions_in_order(pod: Manifest) -> Manifest:
    known = [found for kind in CONDITIONS if (found := condition(pod, kind)) is not None]
    rest = [each for each in pod["status"]["conditions"] if each["type"] not in CONDITIONS]
    return with_status(pod, conditions=[*known, *rest])
