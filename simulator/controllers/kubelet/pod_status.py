"""The status that a kubelet writes of a pod (generateAPIPodStatus in pkg/kubelet/kubelet_pods.go and
pkg/kubelet/status/generate.go, v1.34).

All containers of a pod start, fail and terminate together."""

from simulator.api import Manifest, Micros
from simulator.objects import container_status
from simulator.objects.conditions import condition, with_condition
from simulator.objects.metadata import finalizers_of, generation_of, is_terminating, with_metadata
from simulator.objects.status import with_status
from simulator.objects.timestamps import timestamp

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
