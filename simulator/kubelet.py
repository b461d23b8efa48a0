"""The kubelets: bound pods start, run, end, and go when they are told to.

What a kubelet does next, and when, follows from the pod's manifest alone, so that nothing is lost when the
simulation is taken over by another worker. Only the start delay begins anew then."""

from collections.abc import Callable

from simulator.agenda import Turn
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.admission import micros, timestamp
from simulator.pod import Pod
from simulator.pod_status import condition, with_condition, with_status
from simulator.trace import PodFinished, PodStarted
from simulator.world import World

START_DELAY: Micros = SECOND
"""From the binding to the running pod: images are taken to be there."""
RUN_SECONDS = "schedviz/run-seconds"
"""The annotation that ends a pod well after so long; without it a pod runs until it is deleted."""
TTL_SECONDS = "schedviz/ttl-seconds-after-finished"
"""The annotation that removes a pod that has ended after so long, as a Job's ttlSecondsAfterFinished
would."""
MAX_SECONDS = 366 * 24 * 3600
"""A year; larger annotations count as that."""

Action = Callable[[Pod], None]


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
            if plan is not None and planned[:2] == (pod.uid, plan[1]):
                return
            self._world.agenda.cancel(planned[2])
            del self._planned[pod.key]
        if plan is not None:
            time, what, action = plan
            number = self._world.agenda.add(
                max(time, self._world.now), Turn.KUBELET, lambda: self._act(pod.key, action)
            )
            self._planned[pod.key] = pod.uid, what, number

    def node_added(self, name: str, pods: dict[str, Pod]) -> None:
        """A node has come: pods that were bound to it before start now."""
        for pod in pods.values():
            if pod.node_name == name:
                self.pod_changed(pod, pod)

    def _act(self, key: str, action: Action) -> None:
        del self._planned[key]
        manifest = self._world.informer.get("pods", key)
        if manifest is not None:
            action(Pod.parse(manifest))

    def _plan(self, pod: Pod) -> tuple[Micros, str, Action] | None:
        """What the pod's kubelet does next: when, what (a text that is the same for the same plan), and
        how."""
        if not pod.node_name:
            return None
        if pod.terminating:
            gone = 0 if pod.finished else micros(pod.manifest["metadata"]["deletionTimestamp"])
            return gone, f"remove at {gone}", self._remove
        if self._world.informer.get("nodes", pod.node_name) is None:
            return None
        if pod.finished:
            seconds = _seconds(pod, TTL_SECONDS)
            if seconds is None:
                return None
            gone = _finished_at(pod) + seconds * SECOND
            return gone, f"remove at {gone}", self._remove
        if pod.phase == "Running":
            seconds = _seconds(pod, RUN_SECONDS)
            if seconds is None:
                return None
            end = (micros(pod.start_time) if pod.start_time else self._world.now) + seconds * SECOND
            return end, f"finish at {end}", self._finish
        # Whoever names a node himself, in a scenario, means a pod that runs there.
        delay = START_DELAY if condition(pod.manifest, "PodScheduled") else 0
        return self._world.now + delay, "start", self._start

    def _start(self, pod: Pod) -> None:
        now = self._world.now

        def running(manifest: Manifest) -> Manifest:
            statuses = [_container(c, now, None) for c in manifest["spec"]["containers"]]
            new = with_status(manifest, phase="Running", startTime=timestamp(now), containerStatuses=statuses)
            for kind in ("Initialized", "ContainersReady", "Ready"):
                new = with_condition(new, now, kind, "True")
            return new

        event = PodStarted(t=now, pod=pod.key, node=pod.node_name)
        self._world.update("pods", pod.key, pod.uid, running, event=lambda: event)

    def _finish(self, pod: Pod) -> None:
        now = self._world.now

        def succeeded(manifest: Manifest) -> Manifest:
            statuses = [_container(c, micros(pod.start_time), now) for c in manifest["spec"]["containers"]]
            new = with_status(manifest, phase="Succeeded", containerStatuses=statuses)
            for kind in ("ContainersReady", "Ready"):
                new = with_condition(new, now, kind, "False", reason="PodCompleted")
            return new

        event = PodFinished(t=now, pod=pod.key, node=pod.node_name, phase="Succeeded")
        self._world.update("pods", pod.key, pod.uid, succeeded, event=lambda: event)

    def _remove(self, pod: Pod) -> None:
        """The pod's containers have ended; finalizers are not waited for, as nobody here would lift them."""
        self._world.update("pods", pod.key, pod.uid, lambda manifest: None)


def _seconds(pod: Pod, annotation: str) -> int | None:
    """None where there is no such annotation, or no whole number in it."""
    text = (pod.manifest["metadata"].get("annotations") or {}).get(annotation)
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 18:
        return None
    return min(int(text), MAX_SECONDS)


def _finished_at(pod: Pod) -> Micros:
    ready = condition(pod.manifest, "Ready") or {}
    return micros(ready.get("lastTransitionTime") or pod.start_time or "1970-01-01T00:00:00Z")


def _container(container: Manifest, started: Micros, finished: Micros | None) -> Manifest:
    """A container's status: running, or ended well."""
    state: Manifest = {"running": {"startedAt": timestamp(started)}}
    if finished is not None:
        terminated = {"startedAt": timestamp(started), "finishedAt": timestamp(finished)}
        state = {"terminated": {"exitCode": 0, "reason": "Completed", **terminated}}
    image = container.get("image") or ""
    return {
        "name": container["name"],
        "image": image,
        "imageID": image,
        "ready": finished is None,
        "started": finished is None,
        "restartCount": 0,
        "state": state,
    }
