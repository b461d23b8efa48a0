"""The kubelets' pod lifecycle: bound pods start, run, fail and restart, finish, and are removed when they are
deleted (pkg/kubelet: kubelet.go, pod_workers.go).

The next step of a pod and its time follow from the manifests of the pod, its node and its claims alone, so
that a new leader continues with the same step. Only the start delay begins again then."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal, NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.kubelet import pod_status
from simulator.controllers.kubelet.pod_addresses import PodAddresses
from simulator.controllers.kubelet.pod_status import (
    FAIL_SECONDS,
    READY_SECONDS,
    TTL_SECONDS,
    exit_code_in,
    exit_code_of_stopped,
    run_seconds,
    seconds_in,
    stopped_at,
)
from simulator.controllers.work_queue import ObjectKey
from simulator.kernel.environment import Turn
from simulator.objects import container_status
from simulator.objects.addresses import internal_addresses
from simulator.objects.conditions import condition, condition_status
from simulator.objects.metadata import finalizers_of
from simulator.objects.node_status import is_unreachable
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.timestamps import micros, timestamp
from simulator.objects.volumes import PVCS, claim_references, is_fully_bound
from simulator.trace import ContainersFailed, ContainersRestarted, PodFinished, PodReady, PodStarted

START_DELAY: Micros = SECOND
"""The time from the binding to the running pod. Images are not pulled."""
NOT_READY = ("ContainersNotReady", "NodeNotReady")
"""The reasons of a Ready condition that the kubelet sets to True again."""


class PodStep(NamedTuple):
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
        self._steps: dict[str, tuple[str, PodStep]] = {}
        """Pod in the work queue -> its uid and next step."""
        self._addresses = PodAddresses()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == "pods":
            self._addresses.pod_changed(old, new)
            self._plan(key)
        elif resource == "nodes":
            self._addresses.node_changed(old, new)
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

    def _next_step(self, pod: Pod) -> PodStep | None:
        if not pod.node_name:
            return None
        node = self._world.informer.get("nodes", pod.node_name)
        if node is not None and is_unreachable(node):
            return None
        if pod.terminating:
            stopped = stopped_at(pod)
            return None if stopped is None else PodStep(stopped, f"remove at {stopped}", self._remove)
        if node is None or not internal_addresses(node):
            # Its kubelet has not joined yet.
            return None
        if pod.finished:
            seconds = seconds_in(pod.manifest, TTL_SECONDS)
            if seconds is None:
                return None
            due = _finished_at(pod) + seconds * SECOND
            return PodStep(due, f"remove at {due}", self._remove)
        if pod.phase == "Running":
            return min(self._steps_of_running(pod), default=None, key=lambda step: step.time)
        if not all(self._is_bound(key) for key in _claims(pod)):
            return None
        # A pod that a scenario created with a node is to run there from the beginning.
        created_bound = not condition(pod.manifest, "PodScheduled") and controller_of(pod.manifest) is None
        delay = 0 if created_bound else START_DELAY
        return PodStep(self._world.now + delay, "start", self._start)

    def _steps_of_running(self, pod: Pod) -> Iterable[PodStep]:
        """Yield the next steps of a running pod. The first of those due at the same time is done."""
        restart = container_status.restart_time(pod.manifest)
        if restart is not None:
            yield PodStep(restart, f"restart at {restart}", self._restart)
            return
        since = self._running_since(pod)
        ready = condition(pod.manifest, "Ready") or {}
        if ready.get("reason") in NOT_READY and self._is_node_ready(pod.node_name):
            time = since + (seconds_in(pod.manifest, READY_SECONDS) or 0) * SECOND
            yield PodStep(time, f"ready at {time}", self._make_ready)
        for seconds, what, action in (
            (seconds_in(pod.manifest, FAIL_SECONDS), "fail", self._fail),
            (run_seconds(pod.manifest), "finish", self._succeed),
        ):
            if seconds is not None:
                time = since + seconds * SECOND
                yield PodStep(time, f"{what} at {time}", action)

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
        now, ready = self._world.now, not seconds_in(pod.manifest, READY_SECONDS)

        def running(manifest: Manifest) -> Manifest:
            node = self._world.informer.get("nodes", pod.node_name) or {}
            return pod_status.started(manifest, now, self._addresses.fields(manifest, node), ready=ready)

        self.patch("pods", pod.manifest, running, PodStarted(t=now, pod=pod.key, node=pod.node_name))

    def _make_ready(self, pod: Pod) -> None:
        now = self._world.now
        event = PodReady(t=now, pod=pod.key, node=pod.node_name)
        self.patch("pods", pod.manifest, lambda manifest: pod_status.became_ready(manifest, now), event)

    def _fail(self, pod: Pod) -> None:
        if pod.spec.get("restartPolicy", "Always") == "Never":
            code = exit_code_in(pod.manifest)
            self._finish(pod, exit_code=1 if code is None else code)
            return
        now, since = self._world.now, self._running_since(pod)

        def failed(manifest: Manifest) -> Manifest:
            return pod_status.failed(manifest, now, since)

        restart = container_status.restart_time(failed(pod.manifest)) or now
        event = ContainersFailed(t=now, pod=pod.key, node=pod.node_name, restart_at=max(now, restart))
        self.patch("pods", pod.manifest, failed, event)

    def _restart(self, pod: Pod) -> None:
        now, ready = self._world.now, not seconds_in(pod.manifest, READY_SECONDS)
        restarts = container_status.restart_count(pod.manifest) + 1
        event = ContainersRestarted(t=now, pod=pod.key, node=pod.node_name, restarts=restarts)
        self.patch(
            "pods", pod.manifest, lambda manifest: pod_status.restarted(manifest, now, ready=ready), event
        )

    def _succeed(self, pod: Pod) -> None:
        self._finish(pod, exit_code=0)

    def _finish(self, pod: Pod, *, exit_code: int) -> None:
        """Terminate all containers, which are not restarted."""
        now, since = self._world.now, self._running_since(pod)
        phase: Literal["Failed", "Succeeded"] = "Failed" if exit_code else "Succeeded"
        event = PodFinished(t=now, pod=pod.key, node=pod.node_name, phase=phase)
        self.patch(
            "pods",
            pod.manifest,
            lambda manifest: pod_status.ended(manifest, now, since, exit_code=exit_code),
            event,
        )

    def _remove(self, pod: Pod) -> None:
        """Remove a pod whose containers have stopped: first its last status is written, then it is removed,
        both in one commit (SyncTerminatedPod in kubelet.go). One with finalizers only gets a grace period of
        0; it is removed by the component that takes away the last finalizer."""
        now, since = self._world.now, self._running_since(pod)
        has_run, exit_code = pod.phase == "Running", exit_code_of_stopped(pod.manifest)

        def stopped(manifest: Manifest) -> Manifest:
            if has_run:
                return pod_status.ended(manifest, now, since, exit_code=exit_code)
            return pod_status.never_started(manifest, now)

        if pod.finished and finalizers_of(pod.manifest):
            self.patch("pods", pod.manifest, self._with_deletion_time)
        elif pod.finished:
            self.write("pods", pod.manifest, partial(self._world.server.remove_by_component, "pods"))
        elif finalizers_of(pod.manifest):
            phase: Literal["Failed", "Succeeded"] = "Failed" if exit_code or not has_run else "Succeeded"
            event = PodFinished(t=now, pod=pod.key, node=pod.node_name, phase=phase)
            self.patch("pods", pod.manifest, stopped, event)
        else:
            server = self._world.server
            self.write(
                "pods", pod.manifest, lambda old: server.remove_by_component("pods", old, stopped(old))
            )

    def _with_deletion_time(self, manifest: Manifest) -> Manifest:
        metadata = manifest["metadata"]
        deletion = {"deletionTimestamp": timestamp(self._world.now)}
        new = {**deletion, **metadata, "deletionGracePeriodSeconds": 0}
        return manifest if new == metadata else {**manifest, "metadata": new}


def _reachability(node: Manifest) -> tuple[bool, str, bool]:
    """Return the facts of a node that its pods' next steps depend on."""
    return is_unreachable(node), condition_status(node, "Ready"), bool(internal_addresses(node))


def _claims(pod: Pod) -> list[str]:
    return [f"{pod.namespace}/{reference.name}" for reference in claim_references(pod)]


def _waits_for_claim(pod: Pod, claim: str) -> bool:
    return bool(pod.node_name) and pod.phase == "Pending" and claim in _claims(pod)


def _finished_at(pod: Pod) -> Micros:
    ready = condition(pod.manifest, "Ready") or {}
    return micros(ready.get("lastTransitionTime") or pod.start_time or "1970-01-01T00:00:00Z")
