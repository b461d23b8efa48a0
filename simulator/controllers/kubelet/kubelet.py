"""The kubelets' pod lifecycle: bound pods start, run, fail and restart, finish, and are removed when they are
deleted (pkg/kubelet: kubelet.go, pod_workers.go, v1.34).

The next step of a pod and its time follow from the manifests of the pod, its node and its claims alone, so
that a new leader continues with the same step. Only the start delay begins again then."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.work_queue import ObjectKey
from simulator.kernel.environment import Turn
from simulator.objects import container_status
from simulator.objects.conditions import condition, condition_status, with_condition
from simulator.objects.durations import annotated_seconds
from simulator.objects.metadata import annotations_of, finalizers_of, is_terminating, with_metadata
from simulator.objects.node_conditions import is_unreachable
from simulator.objects.numbers import whole_number
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.status import with_status
from simulator.objects.timestamps import micros, timestamp
from simulator.objects.volumes import PVCS, claim_references, is_fully_bound
from simulator.trace import ContainersFailed, ContainersRestarted, PodFinished, PodReady, PodStarted

START_DELAY: Micros = SECOND
"""The time from the binding to the running pod. Images are not pulled."""
RUN_SECONDS = "schedviz/run-seconds"
"""The annotation after whose time the pod's containers succeed; without it the pod runs until it is
deleted."""
FAIL_SECONDS = "schedviz/fail-after-seconds"
"""The annotation after whose time the pod's containers fail, each time that they run."""
EXIT_CODE = "schedviz/exit-code"
"""The annotation that sets the exit code of containers that fail and are not restarted; 1 without it."""
READY_SECONDS = "schedviz/ready-after-seconds"
"""The annotation after whose time a started pod becomes ready; without it it is ready at once."""
STOP_SECONDS = "schedviz/stop-seconds"
"""The annotation that sets how long the containers of a deleted pod take to stop; without it they take all of
the grace period."""
TTL_SECONDS = "schedviz/ttl-seconds-after-finished"
"""The annotation after whose time a finished pod is removed, like a Job's ttlSecondsAfterFinished."""

NOT_READY = ("ContainersNotReady", "NodeNotReady")
"""The reasons of a Ready condition that the kubelet sets to True again."""


class Step(NamedTuple):
    """The next step of a pod. ``what`` is the same text for the same step."""

    time: Micros
    what: str
    action: Callable[[Pod], None]


class Kubelet(Controller):
    component = "Kubelet"
    resource = "pods"
    watches = ("pods", "nodes", PVCS)
    turn = Turn.KUBELET

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._steps: dict[str, tuple[str, Step]] = {}
        """Pod in the work queue -> its uid and next step."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == "pods":
            self._plan(key)
        elif resource == "nodes":
            if new is not None and (old is None or _reachability(old) != _reachability(new)):
                self._plan_all(pod for pod in self._pods.values() if pod.node_name == key)
        else:
            self._plan_all(pod for pod in self._pods.values() if _waits_for_claim(pod, key))

    def sync(self, key: str, manifest: Manifest) -> None:
        _, step = self._steps.pop(key, ("", None))
        if step is not None:
            step.action(self._pods[key])
        else:
            # The last step failed.
            self._plan(key)

    # The next step of a pod

    def _plan_all(self, pods: Iterable[Pod]) -> None:
        for pod in pods:
            self._plan(pod.key)

    def _plan(self, key: str) -> None:
        """Replace the pod's entry in the work queue, unless its next step is in there already."""
        pod = self._pods.get(key)
        step = self._next_step(pod) if pod is not None else None
        uid, planned = self._steps.pop(key, ("", None))
        if pod is not None and step is not None:
            if planned is not None and (uid, planned.what) == (pod.uid, step.what):
                self._steps[key] = uid, planned
                return
            self._steps[key] = pod.uid, step
        self._queue.remove(ObjectKey("pods", key))
        if step is not None:
            self.enqueue(key, step.time)

    def _next_step(self, pod: Pod) -> Step | None:
        if not pod.node_name:
            return None
        node = self._world.informer.get("nodes", pod.node_name)
        if node is not None and is_unreachable(node):
            return None
        if pod.terminating:
            stopped = _stopped_at(pod)
            return None if stopped is None else Step(stopped, f"remove at {stopped}", self._remove)
        if node is None:
            return None
        if pod.finished:
            seconds = _seconds(pod, TTL_SECONDS)
            if seconds is None:
                return None
            due = _finished_at(pod) + seconds * SECOND
            return Step(due, f"remove at {due}", self._remove)
        if pod.phase == "Running":
            return min(self._steps_of_running(pod), default=None, key=lambda step: step.time)
        if not all(self._is_bound(key) for key in _claims(pod)):
            return None
        # A pod that a scenario created with a node is to run there from the beginning.
        created_bound = not condition(pod.manifest, "PodScheduled") and controller_of(pod.manifest) is None
        delay = 0 if created_bound else START_DELAY
        return Step(self._world.now + delay, "start", self._start)

    def _steps_of_running(self, pod: Pod) -> Iterable[Step]:
        """Yield the next steps of a running pod. The first of those due at the same time is done."""
        restart = container_status.restart_time(pod.manifest)
        if restart is not None:
            yield Step(restart, f"restart at {restart}", self._restart)
            return
        since = self._running_since(pod)
        ready = condition(pod.manifest, "Ready") or {}
        if ready.get("reason") in NOT_READY and self._is_node_ready(pod.node_name):
            time = since + (_seconds(pod, READY_SECONDS) or 0) * SECOND
            yield Step(time, f"ready at {time}", self._make_ready)
        for annotation, what, action in (
            (FAIL_SECONDS, "fail", self._fail),
            (RUN_SECONDS, "finish", self._succeed),
        ):
            seconds = _seconds(pod, annotation)
            if seconds is not None:
                time = since + seconds * SECOND
                yield Step(time, f"{what} at {time}", action)

    def _is_node_ready(self, name: str) -> bool:
        node = self._world.informer.get("nodes", name)
        return node is not None and condition_status(node, "Ready") not in ("False", "Unknown")

    def _running_since(self, pod: Pod) -> Micros:
        since = container_status.running_since(pod.manifest)
        if since is None:
            since = micros(pod.start_time) if pod.start_time else self._world.now
        return since

    def _is_bound(self, claim: str) -> bool:
        manifest = self._world.informer.get(PVCS, claim)
        return manifest is not None and is_fully_bound(manifest)

    # The steps

    def _start(self, pod: Pod) -> None:
        now, ready = self._world.now, not _seconds(pod, READY_SECONDS)

        def running(manifest: Manifest) -> Manifest:
            new = with_status(
                manifest,
                phase="Running",
                startTime=timestamp(now),
                containerStatuses=container_status.started_statuses(manifest, now, ready=ready),
            )
            for kind in ("PodScheduled", "Initialized"):
                new = with_condition(new, now, kind, "True")
            return self._with_readiness(new, ready=ready)

        self.patch("pods", pod.manifest, running, PodStarted(t=now, pod=pod.key, node=pod.node_name))

    def _make_ready(self, pod: Pod) -> None:
        def ready(manifest: Manifest) -> Manifest:
            statuses = container_status.statuses_with_readiness(manifest, ready=True)
            return self._with_readiness(with_status(manifest, containerStatuses=statuses), ready=True)

        event = PodReady(t=self._world.now, pod=pod.key, node=pod.node_name)
        self.patch("pods", pod.manifest, ready, event)

    def _fail(self, pod: Pod) -> None:
        if pod.spec.get("restartPolicy", "Always") == "Never":
            code = whole_number(annotations_of(pod.manifest).get(EXIT_CODE, ""))
            self._finish(pod, exit_code=1 if code is None else code)
            return
        now, since = self._world.now, self._running_since(pod)

        def failed(manifest: Manifest) -> Manifest:
            statuses = container_status.waiting_statuses(manifest, now, since)
            return self._with_readiness(with_status(manifest, containerStatuses=statuses), ready=False)

        restart = container_status.restart_time(failed(pod.manifest)) or now
        event = ContainersFailed(t=now, pod=pod.key, node=pod.node_name, restart_at=max(now, restart))
        self.patch("pods", pod.manifest, failed, event)

    def _restart(self, pod: Pod) -> None:
        now, ready = self._world.now, not _seconds(pod, READY_SECONDS)

        def running(manifest: Manifest) -> Manifest:
            statuses = container_status.started_statuses(manifest, now, ready=ready)
            return self._with_readiness(with_status(manifest, containerStatuses=statuses), ready=ready)

        restarts = container_status.restart_count(pod.manifest) + 1
        event = ContainersRestarted(t=now, pod=pod.key, node=pod.node_name, restarts=restarts)
        self.patch("pods", pod.manifest, running, event)

    def _succeed(self, pod: Pod) -> None:
        self._finish(pod, exit_code=0)

    def _finish(self, pod: Pod, *, exit_code: int) -> None:
        """Terminate all containers, which are not restarted."""
        now, since = self._world.now, self._running_since(pod)

        def finished(manifest: Manifest) -> Manifest:
            statuses = container_status.terminated_statuses(manifest, now, since, exit_code=exit_code)
            new = with_status(manifest, phase=phase, containerStatuses=statuses)
            for kind in ("ContainersReady", "Ready"):
                new = with_condition(new, now, kind, "False", reason=f"Pod{reason}")
            return with_metadata(new, deletionGracePeriodSeconds=0) if is_terminating(manifest) else new

        phase, reason = ("Failed", "Failed") if exit_code else ("Succeeded", "Completed")
        event = PodFinished(t=now, pod=pod.key, node=pod.node_name, phase=phase)  # type: ignore[arg-type]  # one of the literals
        self.patch("pods", pod.manifest, finished, event)

    def _remove(self, pod: Pod) -> None:
        """Remove a pod whose containers have stopped. One with finalizers only gets a grace period of 0; it
        is removed by the component that takes away the last finalizer."""
        if not finalizers_of(pod.manifest):
            self.patch("pods", pod.manifest, lambda _: None)
        elif not pod.finished:
            self._finish(pod, exit_code=1)
        else:
            self.patch("pods", pod.manifest, self._with_deletion_time)

    def _with_deletion_time(self, manifest: Manifest) -> Manifest:
        metadata = manifest["metadata"]
        deletion = {"deletionTimestamp": timestamp(self._world.now)}
        new = {**deletion, **metadata, "deletionGracePeriodSeconds": 0}
        return manifest if new == metadata else {**manifest, "metadata": new}

    def _with_readiness(self, manifest: Manifest, *, ready: bool) -> Manifest:
        for kind in ("ContainersReady", "Ready"):
            status, reason = ("True", "") if ready else ("False", "ContainersNotReady")
            manifest = with_condition(manifest, self._world.now, kind, status, reason=reason)
        return manifest


def _reachability(node: Manifest) -> tuple[bool, str]:
    """Return the facts of a node that its pods' next steps depend on."""
    return is_unreachable(node), condition_status(node, "Ready")


def _claims(pod: Pod) -> list[str]:
    return [f"{pod.namespace}/{reference.name}" for reference in claim_references(pod)]


def _waits_for_claim(pod: Pod, claim: str) -> bool:
    return bool(pod.node_name) and pod.phase == "Pending" and claim in _claims(pod)


def _seconds(pod: Pod, annotation: str) -> int | None:
    return annotated_seconds(annotations_of(pod.manifest), annotation)


def _stopped_at(pod: Pod) -> Micros | None:
    """Return the time at which the containers of a deleted pod have stopped; None = they have, and the pod
    has finalizers."""
    metadata = pod.manifest["metadata"]
    grace: int = metadata.get("deletionGracePeriodSeconds", 0)
    if pod.finished:
        return None if metadata.get("finalizers") and grace == 0 else 0
    stop = _seconds(pod, STOP_SECONDS)
    needed = grace if stop is None or pod.phase != "Running" else min(stop, grace)
    return micros(metadata["deletionTimestamp"]) - (grace - needed) * SECOND


def _finished_at(pod: Pod) -> Micros:
    ready = condition(pod.manifest, "Ready") or {}
    return micros(ready.get("lastTransitionTime") or pod.start_time or "1970-01-01T00:00:00Z")
