"""The statuses of a pod's containers as the kubelet reports them (core/v1 ContainerStatus).

All containers of a pod start, fail and terminate together."""

import hashlib
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from simulator.api import SECOND, Manifest, Micros
from simulator.objects.metadata import uid_of
from simulator.objects.pod_requests import is_sidecar
from simulator.objects.status import status_of
from simulator.objects.timestamps import micros, timestamp

INITIAL_BACKOFF: Micros = 10 * SECOND
MAX_BACKOFF: Micros = 300 * SECOND
"""The longest delay between two restarts of a container that keeps failing (MaxContainerBackOff,
pkg/kubelet/kubelet.go)."""
BACKOFF_RESET_AFTER: Micros = 2 * MAX_BACKOFF
"""A container that ran for longer is restarted at once (client-go/util/flowcontrol/backoff.go)."""


class ContainerStateRunning(Struct, frozen=True, rename="camel"):
    started_at: str


class ContainerStateWaiting(Struct, frozen=True, rename="camel"):
    reason: str


class ContainerStateTerminated(Struct, frozen=True, kw_only=True, rename="camel"):
    exit_code: int
    reason: str
    message: str | UnsetType = UNSET
    started_at: str | None
    finished_at: str | None
    container_id: str | UnsetType = msgspec.field(name="containerID", default=UNSET)


class ContainerState(Struct, frozen=True, rename="camel"):
    """The state of a container. One of the fields is set."""

    running: ContainerStateRunning | UnsetType = UNSET
    waiting: ContainerStateWaiting | UnsetType = UNSET
    terminated: ContainerStateTerminated | UnsetType = UNSET


class ContainerStatus(Struct, frozen=True, kw_only=True):
    name: str
    image: str
    image_id: str = msgspec.field(name="imageID")
    container_id: str | UnsetType = msgspec.field(name="containerID", default=UNSET)
    ready: bool
    started: bool
    restart_count: int = msgspec.field(name="restartCount")
    state: ContainerState
    last_state: Any = msgspec.field(name="lastState", default_factory=dict)


def container_statuses(pod: Manifest) -> list[Manifest]:
    found: list[Manifest] = status_of(pod).get("containerStatuses") or []
    return found


def restart_count(pod: Manifest) -> int:
    """Return the highest restartCount of the pod's containers."""
    return max((status.get("restartCount", 0) for status in container_statuses(pod)), default=0)


def running_since(pod: Manifest) -> Micros | None:
    """Return the time since which a container has been running; None if none is."""
    for status in container_statuses(pod):
        running = (status.get("state") or {}).get("running") or {}
        if running.get("startedAt"):
            return micros(running["startedAt"])
    return None


def restart_time(pod: Manifest) -> Micros | None:
    """Return the time at which the failed containers are restarted; None if they do not wait for that.

    The first restart is immediate, the next one after 10 s; the delay doubles up to 5 minutes."""
    for status in container_statuses(pod):
        # A pod from an imported cluster may wait for something else: for its image, for example.
        ended = (status.get("lastState") or {}).get("terminated") or {}
        if "waiting" in (status.get("state") or {}) and ended.get("finishedAt"):
            finished, count = micros(ended["finishedAt"]), int(status.get("restartCount", 0))
            ran = finished - micros(ended.get("startedAt") or ended["finishedAt"])
            if count == 0 or ran > BACKOFF_RESET_AFTER:
                return finished
            return finished + min(INITIAL_BACKOFF << min(count - 1, 10), MAX_BACKOFF)
    return None


def was_started_here(pod: Manifest) -> bool:
    """Whether the simulated kubelet started the pod's containers: those of an imported pod may be another
    cluster's."""
    statuses = container_statuses(pod)
    return any(each.get("containerID") == _container_id(pod, each["name"], each) for each in statuses)


def started_statuses(pod: Manifest, now: Micros, *, ready: bool) -> list[Manifest]:
    """Return the statuses of containers that start now, for the first time or again."""
    known = {status["name"]: status for status in container_statuses(pod)}
    state = ContainerState(running=ContainerStateRunning(timestamp(now)))
    statuses = []
    for container in pod["spec"]["containers"]:
        status = _container_status(container, state, ready=ready)
        old = known.get(container["name"])
        if old is not None:
            count = old.get("restartCount", 0) + 1
            last = old.get("lastState", {})
            status = msgspec.structs.replace(status, restart_count=count, last_state=last)
        new_id = _container_id(pod, status.name, {"restartCount": status.restart_count})
        statuses.append(msgspec.structs.replace(status, container_id=new_id))
    return _encoded(statuses)


def init_statuses(pod: Manifest, now: Micros) -> list[Manifest]:
    """Return the statuses of the init containers of a pod whose containers start now: they have ended,
    sidecars run."""
    statuses = []
    for container in pod["spec"].get("initContainers") or ():
        new_id = _container_id(pod, container["name"], {})
        if is_sidecar(container):
            state = ContainerState(running=ContainerStateRunning(timestamp(now)))
        else:
            state = _terminated_state(now, now, exit_code=0, container_id=new_id)
        status = _container_status(container, state, ready=True)
        statuses.append(msgspec.structs.replace(status, container_id=new_id))
    return _encoded(statuses)


def ended_init_statuses(pod: Manifest, now: Micros, *, exit_code: int) -> list[Manifest]:
    """Return the statuses of the init containers of a pod whose containers end now: sidecars that run end
    with this code."""

    def end(status: Manifest) -> Manifest:
        running = (status.get("state") or {}).get("running")
        if running is None:
            return status
        since = micros(running["startedAt"]) if running.get("startedAt") else now
        own_id = status.get("containerID") or UNSET
        state = _terminated_state(since, now, exit_code=exit_code, container_id=own_id)
        return {**status, "ready": False, "started": False, "state": msgspec.to_builtins(state)}

    return [end(status) for status in status_of(pod).get("initContainerStatuses") or ()]


def statuses_with_readiness(pod: Manifest, *, ready: bool) -> list[Manifest]:
    return [{**status, "ready": ready} for status in container_statuses(pod)]


def waiting_statuses(pod: Manifest, now: Micros, since: Micros) -> list[Manifest]:
    """Return the statuses of containers that fail now, having run ``since`` then, and wait for their
    restart."""
    waiting = ContainerState(waiting=ContainerStateWaiting("CrashLoopBackOff"))
    return _encoded(
        [
            msgspec.structs.replace(ended, state=waiting, last_state=ended.state)
            for ended in _terminated(pod, now, since, exit_code=1)
        ]
    )


def terminated_statuses(pod: Manifest, now: Micros, since: Micros, *, exit_code: int) -> list[Manifest]:
    """Return the statuses of containers that terminate now for good, having run ``since`` then."""
    return _encoded(_terminated(pod, now, since, exit_code=exit_code))


def lost_statuses(pod: Manifest) -> list[Manifest]:
    """Return the statuses of containers that have never run, of a pod that is deleted (TerminatePod in
    pkg/kubelet/status/status_manager.go)."""
    message = "The container could not be located when the pod was terminated"
    lost = ContainerStateTerminated(
        exit_code=137,
        reason="ContainerStatusUnknown",
        message=message,
        started_at=None,
        finished_at=None,
    )
    state = ContainerState(terminated=lost)
    return _encoded([_container_status(each, state, ready=False) for each in pod["spec"]["containers"]])


def _terminated(pod: Manifest, now: Micros, since: Micros, *, exit_code: int) -> list[ContainerStatus]:
    known = {status["name"]: status for status in container_statuses(pod)}
    statuses = []
    for container in pod["spec"]["containers"]:
        old = known.get(container["name"]) or {}
        own_id = old.get("containerID") or UNSET
        state = _terminated_state(since, now, exit_code=exit_code, container_id=own_id)
        status = _container_status(container, state, ready=False)
        count = old.get("restartCount", 0)
        statuses.append(msgspec.structs.replace(status, restart_count=count, container_id=own_id))
    return statuses


def _terminated_state(
    since: Micros, now: Micros, *, exit_code: int, container_id: str | UnsetType
) -> ContainerState:
    return ContainerState(
        terminated=ContainerStateTerminated(
            exit_code=exit_code,
            reason="Error" if exit_code else "Completed",
            started_at=timestamp(since),
            finished_at=timestamp(now),
            container_id=container_id,
        )
    )


def _container_status(container: Manifest, state: ContainerState, *, ready: bool) -> ContainerStatus:
    image = container.get("image") or ""
    return ContainerStatus(
        name=container["name"],
        image=image,
        image_id=image,
        ready=ready,
        started=state.running is not UNSET,
        restart_count=0,
        state=state,
    )


def _container_id(pod: Manifest, container: str, status: Manifest) -> str:
    """Return the id of a pod's container after its restarts so far, the same in each run, as containerd
    writes it."""
    text = f"{uid_of(pod)}/{container}/{status.get('restartCount', 0)}"
    return f"containerd://{hashlib.sha256(text.encode()).hexdigest()}"


def _encoded(statuses: list[ContainerStatus]) -> list[Manifest]:
    encoded: list[Manifest] = msgspec.to_builtins(statuses)
    return encoded
