"""The binding cycle: the wait on Permit, PreBind, Bind, PostBind (bindingCycle in
pkg/scheduler/schedule_one.go, v1.34).

It goes on beside the scheduling cycles of other pods: each of its steps is a thing of its own in the agenda.
"""

from functools import partial
from typing import TYPE_CHECKING

from simulator import trace
from simulator.api import Change, Manifest, Micros
from simulator.apiserver.status import StatusError
from simulator.apiserver.subresources import admit_binding
from simulator.framework.binding import by, run_bind, run_post_bind, run_pre_bind, run_unreserve
from simulator.framework.interface import CycleState, PluginError, Status, error
from simulator.framework.runtime import Framework
from simulator.objects import durations
from simulator.objects.pod import Pod
from simulator.plugins.volume_binding import VolumeBinding
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import Move
from simulator.scheduler import extender_calls
from simulator.scheduler.bind_volumes import VolumesToBind, volumes_to_bind
from simulator.scheduler.event_recorder import SCHEDULED
from simulator.scheduler.extender import ExtenderError
from simulator.scheduler.failure_handler import binding_failed
from simulator.scheduler.pod_condition import SCHEDULER_ERROR, UNSCHEDULABLE, patch_status
from simulator.scheduler.points import Point, Points
from simulator.world.agenda import Turn
from simulator.world.world import Refused

if TYPE_CHECKING:
    from simulator.scheduler.scheduler import Scheduler


class BindingCycle:
    """Of one assumed pod, from Permit's word on."""

    def __init__(
        self,
        scheduler: "Scheduler",
        info: QueuedPod,
        assumed: Pod,
        state: CycleState,
        cycle: int,
    ) -> None:
        self._scheduler = scheduler
        self._world = scheduler.world
        self._framework: Framework = scheduler.frameworks[assumed.scheduler_name]
        self._info = info
        self._assumed = assumed
        self._state = state
        self._cycle = cycle
        self._timers: list[int] = []

    def start(self, waits: dict[str, Micros]) -> None:
        """Wait for the plugins that want it (each with its timeout), then bind."""
        if not waits:
            self._go_on(None)
            return
        until = self._world.now + min(waits.values())
        waiting = self._framework.waiting_pods.add(
            self._assumed, waits, self._go_on, attempt=self._info.attempts, until=until
        )
        self._info.lane = "waiting"
        self._scheduler.lanes.moved(Move(self._info, "inFlight", "waiting", "Permit", next(iter(waits))))
        for plugin, timeout in waits.items():
            message = f"rejected due to timeout after waiting {durations.text(timeout)} at plugin {plugin}"
            reject = partial(waiting.reject, plugin, message)
            self._timers.append(self._world.agenda.add(self._world.now + timeout, Turn.BINDING, reject))

    def _go_on(self, status: Status | None) -> None:
        for timer in self._timers:
            self._world.agenda.cancel(timer)
        self._world.agenda.add(self._world.now, Turn.BINDING, partial(self._permitted, status))

    def _permitted(self, status: Status | None) -> Points | None:
        if status is None:
            return self._pre_bind()
        self._failed(status, on_permit=True)
        return None

    def _pre_bind(self) -> Points:
        """What fails from here on is an error, no verdict: events that came meanwhile matter no more."""
        self._scheduler.queue.done(self._assumed.uid)
        pod, framework, faults = self._assumed, self._framework, self._scheduler.faults
        if framework.pre_bind_plugins or faults.aims(pod, "PreBind"):
            yield self._point("PreBind")
            status = faults.strike(pod, "PreBind")
            status = status or run_pre_bind(framework, self._state, pod, pod.node_name)
            if status is not None:
                self._failed(status)
                return
            volumes = volumes_to_bind(self._world, framework, self._state, pod)
            if volumes is not None:
                self._bind_volumes(volumes)
                return
        yield from self._bind()

    def _bind_volumes(self, volumes: VolumesToBind) -> None:
        try:
            volumes.write()
        except PluginError as fault:
            self._failed(by("PreBind", VolumeBinding.name, error(str(fault))))
            return
        pod = self._assumed
        self._world.emit(
            trace.VolumesAwaited(
                t=self._world.now, cycle=self._cycle, pod=pod.key, node=pod.node_name, claims=volumes.claims
            )
        )
        self._look_later(volumes)

    def _look_later(self, volumes: VolumesToBind) -> None:
        self._world.agenda.add(volumes.next_look(), Turn.BINDING, partial(self._look, volumes))

    def _look(self, volumes: VolumesToBind) -> Points | None:
        try:
            if volumes.look():
                return self._bind()
        except PluginError as fault:
            self._failed(by("PreBind", VolumeBinding.name, error(str(fault))))
        else:
            self._look_later(volumes)
        return None

    def _bind(self) -> Points:
        pod, framework, faults = self._assumed, self._framework, self._scheduler.faults
        yield self._point("Bind")
        status = faults.strike(pod, "Bind") or self._extenders()
        status = status or run_bind(framework, self._state, pod, pod.node_name)
        if status is not None:
            self._failed(status)
            return
        self._world.update(
            "pods", pod.key, pod.uid, self._binding, self._written, event=self._bound, record=self._recorded
        )

    def _extenders(self) -> Status | None:
        """An extender written for a real cluster has no way into this one: its word is taken, and what it
        would have written is written here."""
        try:
            extender_calls.bind(self._framework.extenders, self._assumed, self._assumed.node_name)
        except ExtenderError as fault:
            return error(str(fault))
        return None

    def _binding(self, pod: Manifest) -> Manifest | None:
        target = {"target": {"kind": "Node", "name": self._assumed.node_name}}
        try:
            return admit_binding(pod, target, self._world.now).object
        except StatusError as refusal:
            raise Refused(str(refusal)) from None

    def _bound(self) -> trace.Bound:
        pod = self._assumed
        return trace.Bound(t=self._world.now, cycle=self._cycle, pod=pod.key, node=pod.node_name)

    def _recorded(self) -> list[Change]:
        pod = self._assumed
        note = f"Successfully assigned {pod.key} to {pod.node_name}"
        return self._world.events.event(SCHEDULED, note, pod)

    def _written(self, problem: str) -> None:
        if problem:
            self._failed(error(f'running Bind plugin "{self._framework.bind_plugins[0].name}": {problem}'))
        elif self._framework.post_bind_plugins:
            self._world.agenda.add(self._world.now, Turn.BINDING, self._post_bind)
        else:
            self._scheduler.activate(self._state)

    def _post_bind(self) -> Points:
        yield self._point("PostBind")
        run_post_bind(self._framework, self._state, self._assumed, self._assumed.node_name)
        self._scheduler.activate(self._state)

    def _point(self, name: str) -> Point:
        return Point(name, self._cycle, self._assumed.key)

    def _failed(self, status: Status, *, on_permit: bool = False) -> None:
        """handleBindingCycleError. Only what a plugin says on Permit is a verdict on the pod."""
        pod, info = self._assumed, self._info
        run_unreserve(self._framework, self._state, pod, pod.node_name)
        verdict = on_permit and status.rejected
        info.unschedulable_plugins = {status.plugin} if verdict and status.code != "Pending" else set()
        info.pending_plugins = {status.plugin} if verdict and status.code == "Pending" else set()
        message = message_for_one_node(status) if verdict else status.message
        now, plugins = self._world.now, sorted(info.unschedulable_plugins)
        self._world.emit(
            trace.Unschedulable(t=now, cycle=self._cycle, pod=pod.key, message=message, plugins=plugins)
            if verdict
            else trace.BindFailed(t=now, cycle=self._cycle, pod=pod.key, node=pod.node_name, message=message)
        )
        binding_failed(self._scheduler.cache, self._scheduler.queue, info, pod, rejected=status.rejected)
        reason = UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR
        patch_status(self._scheduler, pod, reason, message, nominated_node="")


def message_for_one_node(status: Status) -> str:
    """FitError's text where the pod had its node already, and some plugin turned it away from there."""
    reasons = ", ".join(sorted(f"1 {reason}" for reason in status.reasons))
    return f"0/1 nodes are available: {reasons}."
