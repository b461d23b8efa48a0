"""The kubelets: bound pods start, run, fail and are started again, end, and go when they are told to.

What a kubelet does next, and when, follows from the pod's manifest alone, so that nothing is lost when the
simulation is taken over by another worker. Only the start delay begins anew then."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros, timestamp
from simulator.objects import container_status
from simulator.objects.durations import annotated_seconds
from simulator.objects.node_conditions import condition_status, is_silent
from simulator.objects.pod import Pod
from simulator.objects.pod_status import condition, with_condition, with_status
from simulator.objects.volumes import PVCS, claim_references, fully_bound
from simulator.trace import ContainersFailed, ContainersRestarted, Event, PodFinished, PodReady, PodStarted
from simulator.world.agenda import Turn
from simulator.world.world import Mutate, World

START_DELAY: Micros = SECOND
"""From the binding to the running pod: images are taken to be there."""
RUN_SECONDS = "schedviz/run-seconds"
"""The annotation that ends a pod well after so long; without it a pod runs until it is deleted."""
FAIL_SECONDS = "schedviz/fail-after-seconds"
"""The annotation that has a pod's containers fail after so long, each time that they run."""
EXIT_CODE = "schedviz/exit-code"
"""The annotation that says with which code a pod's containers end that fail for good; 1 without it."""
READY_SECONDS = "schedviz/ready-after-seconds"
"""The annotation that makes a pod ready so long after its start; without it it is ready at once."""
STOP_SECONDS = "schedviz/stop-seconds"
"""The annotation that says how long a pod that is told to go needs for it; without it it takes all of its
grace period."""
TTL_SECONDS = "schedviz/ttl-seconds-after-finished"
"""The annotation that removes a pod that has ended after so long, as a Job's ttlSecondsAfterFinished
would."""

NOT_READY = ("ContainersNotReady", "NodeNotReady")
"""The reasons for which a pod is not ready that its kubelet, or the want of one, has given."""

Action = Callable[[Pod], None]


class Plan(NamedTuple):
    """``what`` is a text that is the same for the same plan."""

    time: Micros
    what: str
    action: Action


class Kubelet:
    """All nodes' kubelets."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._planned: dict[str, tuple[str, str, int]] = {}
        """Pod -> its uid, what is planned for it, and the number of that in the agenda."""

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None, "a change has an object before or after it"
        planned = self._planned.get(pod.key)
        plan = self._plan(new) if new is not None else None
        if planned is not None:
            if plan is not None and planned[:2] == (pod.uid, plan.what):
                return
            self._world.agenda.cancel(planned[2])
            del self._planned[pod.key]
        if plan is not None:
            number = self._world.agenda.add(
                max(plan.time, self._world.now), Turn.KUBELET, lambda: self._act(pod.key, plan.action)
            )
            self._planned[pod.key] = pod.uid, plan.what, number

    def node_changed(self, name: str, pods: Iterable[Pod]) -> None:
        """A node has come, fell silent or is heard again: its pods start, stand still or go on."""
        for pod in pods:
            if pod.node_name == name:
                self.pod_changed(pod, pod)

    def claim_changed(self, key: str, pods: Iterable[Pod]) -> None:
        """Pods whose volumes were not there may start."""
        for pod in pods:
            if pod.node_name and pod.phase == "Pending" and key in _claims(pod):
                self.pod_changed(pod, pod)

    def _act(self, key: str, action: Action) -> None:
        del self._planned[key]
        manifest = self._world.informer.get("pods", key)
        if manifest is not None:
            action(Pod.parse(manifest))

    # What a pod's kubelet does next

    def _plan(self, pod: Pod) -> Plan | None:
        if not pod.node_name:
            return None
        node = self._world.informer.get("nodes", pod.node_name)
        if node is not None and is_silent(node):
            return None
        if pod.terminating:
            gone = _gone_at(pod)
            return None if gone is None else Plan(gone, f"remove at {gone}", self._remove)
        if node is None:
            return None
        if pod.finished:
            seconds = _seconds(pod, TTL_SECONDS)
            if seconds is None:
                return None
            gone = _finished_at(pod) + seconds * SECOND
            return Plan(gone, f"remove at {gone}", self._remove)
        if pod.phase == "Running":
            return min(self._of_running(pod), default=None, key=lambda plan: plan.time)
        if not all(self._is_bound(key) for key in _claims(pod)):
            return None
        # Whoever names a node himself, in a scenario, means a pod that runs there.
        delay = START_DELAY if condition(pod.manifest, "PodScheduled") else 0
        return Plan(self._world.now + delay, "start", self._start)

    def _of_running(self, pod: Pod) -> Iterable[Plan]:
        """Of things due at the same time the first counts."""
        again = container_status.restart_at(pod.manifest)
        if again is not None:
            yield Plan(again, f"restart at {again}", self._restart)
            return
        since = self._since(pod)
        ready = condition(pod.manifest, "Ready") or {}
        if ready.get("reason") in NOT_READY and self._is_ready(pod.node_name):
            time = since + (_seconds(pod, READY_SECONDS) or 0) * SECOND
            yield Plan(time, f"ready at {time}", self._ready)
        for annotation, what, action in (
            (FAIL_SECONDS, "fail", self._fail),
            (RUN_SECONDS, "finish", self._finish),
        ):
            seconds = _seconds(pod, annotation)
            if seconds is not None:
                time = since + seconds * SECOND
                yield Plan(time, f"{what} at {time}", action)

    def _is_ready(self, node: str) -> bool:
        manifest = self._world.informer.get("nodes", node)
        return manifest is not None and condition_status(manifest, "Ready") not in ("False", "Unknown")

    def _since(self, pod: Pod) -> Micros:
        since = container_status.running_since(pod.manifest)
        if since is None:
            since = micros(pod.start_time) if pod.start_time else self._world.now
        return since

    def _is_bound(self, claim: str) -> bool:
        manifest = self._world.informer.get(PVCS, claim)
        return manifest is not None and fully_bound(manifest)

    # What it does

    def _start(self, pod: Pod) -> None:
        now, ready = self._world.now, not _seconds(pod, READY_SECONDS)

        def running(manifest: Manifest) -> Manifest:
            new = with_status(
                manifest,
                phase="Running",
                startTime=timestamp(now),
                containerStatuses=container_status.started(manifest, now, ready=ready),
            )
            return self._with_readiness(with_condition(new, now, "Initialized", "True"), ready=ready)

        self._update(pod, running, PodStarted(t=now, pod=pod.key, node=pod.node_name))

    def _ready(self, pod: Pod) -> None:
        def ready(manifest: Manifest) -> Manifest:
            made = container_status.with_readiness(manifest, ready=True)
            return self._with_readiness(with_status(manifest, containerStatuses=made), ready=True)

        self._update(pod, ready, PodReady(t=self._world.now, pod=pod.key, node=pod.node_name))

    def _fail(self, pod: Pod) -> None:
        if pod.spec.get("restartPolicy", "Always") == "Never":
            code = (pod.manifest["metadata"].get("annotations") or {}).get(EXIT_CODE, "1")
            self._end(pod, exit_code=int(code) if code.isascii() and code.isdigit() else 1)
            return
        now, since = self._world.now, self._since(pod)

        def failed(manifest: Manifest) -> Manifest:
            made = container_status.waiting(manifest, now, since)
            return self._with_readiness(with_status(manifest, containerStatuses=made), ready=False)

        restart = container_status.restart_at(failed(pod.manifest)) or now
        event = ContainersFailed(t=now, pod=pod.key, node=pod.node_name, restart_at=max(now, restart))
        self._update(pod, failed, event)

    def _restart(self, pod: Pod) -> None:
        now, ready = self._world.now, not _seconds(pod, READY_SECONDS)

        def running(manifest: Manifest) -> Manifest:
            made = container_status.started(manifest, now, ready=ready)
            return self._with_readiness(with_status(manifest, containerStatuses=made), ready=ready)

        count = container_status.restarts(pod.manifest) + 1
        self._update(
            pod, running, ContainersRestarted(t=now, pod=pod.key, node=pod.node_name, restarts=count)
        )

    def _finish(self, pod: Pod) -> None:
        self._end(pod, exit_code=0)

    def _end(self, pod: Pod, *, exit_code: int) -> None:
        """All containers are over, and stay so."""
        now, since = self._world.now, self._since(pod)

        def ended(manifest: Manifest) -> Manifest:
            made = container_status.ended_containers(manifest, now, since, exit_code=exit_code)
            new = with_status(manifest, phase=phase, containerStatuses=made)
            for kind in ("ContainersReady", "Ready"):
                new = with_condition(new, now, kind, "False", reason=f"Pod{reason}")
            if "deletionTimestamp" in manifest["metadata"]:
                new = {**new, "metadata": {**manifest["metadata"], "deletionGracePeriodSeconds": 0}}
            return new

        phase, reason = ("Failed", "Failed") if exit_code else ("Succeeded", "Completed")
        event = PodFinished(t=now, pod=pod.key, node=pod.node_name, phase=phase)  # type: ignore[arg-type]  # one of the literals
        self._update(pod, ended, event)

    def _remove(self, pod: Pod) -> None:
        """The pod's containers have ended. Whoever put a finalizer there takes the pod away himself."""
        if not pod.manifest["metadata"].get("finalizers"):
            self._world.update("pods", pod.key, pod.uid, lambda manifest: None)
        elif not pod.finished:
            self._end(pod, exit_code=1)
        else:
            self._world.update("pods", pod.key, pod.uid, self._marked)

    def _marked(self, manifest: Manifest) -> Manifest:
        metadata = manifest["metadata"]
        now = timestamp(self._world.now)
        marked = {"deletionTimestamp": now, **metadata, "deletionGracePeriodSeconds": 0}
        return manifest if marked == metadata else {**manifest, "metadata": marked}

    def _with_readiness(self, manifest: Manifest, *, ready: bool) -> Manifest:
        for kind in ("ContainersReady", "Ready"):
            status, reason = ("True", "") if ready else ("False", "ContainersNotReady")
            manifest = with_condition(manifest, self._world.now, kind, status, reason=reason)
        return manifest

    def _update(self, pod: Pod, mutate: Mutate, event: Event) -> None:
        self._world.update("pods", pod.key, pod.uid, mutate, event=lambda: event)


def _claims(pod: Pod) -> list[str]:
    return [f"{pod.namespace}/{reference.name}" for reference in claim_references(pod)]


def _seconds(pod: Pod, annotation: str) -> int | None:
    return annotated_seconds(pod.manifest["metadata"].get("annotations") or {}, annotation)


def _gone_at(pod: Pod) -> Micros | None:
    """When the containers of a pod that was told to go are over; None = they are, and it waits for its
    finalizers."""
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
