"""The extension points after a node is chosen: Reserve, Permit, PreBind, Bind, PostBind.

pkg/scheduler/framework/runtime/framework.go. A plugin that raises counts as one that returns an Error
status: the pod is assumed by now, and Unreserve must be run for it in any case."""

from collections.abc import Generator
from contextlib import suppress
from typing import NamedTuple

from simulator.api import SECOND, Micros
from simulator.framework.cycle_state import CycleState
from simulator.framework.runtime import Framework
from simulator.framework.status import SKIP, PluginError, Status, error
from simulator.kernel.requests import Due, Signal, Steps, Wait
from simulator.objects.pod import Pod

MAX_PERMIT_TIMEOUT: Micros = 15 * 60 * SECOND
"""The longest time for which a plugin may keep a pod waiting (maxTimeout)."""


def run_reserve(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """Return the first plugin's refusal or fault; None = all have reserved."""
    for plugin in framework.reserve_plugins:
        try:
            status = plugin.reserve(state, pod, node_name)
        except Exception as fault:  # a plugin may raise anything
            status = broken(fault)
        if status is not None:
            return by("Reserve", plugin.name, status)
    return None


def run_unreserve(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> None:
    """Run the Reserve plugins' unreserve in reverse order. The others are run even if one raises."""
    for plugin in reversed(framework.reserve_plugins):
        with suppress(Exception):
            plugin.unreserve(state, pod, node_name)


class PermitResult(NamedTuple):
    """The result of the Permit plugins. ``status`` is the first refusal or fault; else ``waits`` has the
    plugins for which the pod has to wait, each with its timeout, and ``reasons`` what they say."""

    status: Status | None
    waits: dict[str, Micros]
    reasons: tuple[str, ...] = ()

    @property
    def wait_message(self) -> str:
        """The message of the status Wait; "" if the pod need not wait."""
        asked = "one or more plugins asked to wait and no plugin rejected pod"
        return ", ".join((*self.reasons, asked)) if self.waits else ""


def run_permit(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
    waits: dict[str, Micros] = {}
    reasons: tuple[str, ...] = ()
    for plugin in framework.permit_plugins:
        try:
            status, timeout = plugin.permit(state, pod, node_name)
        except Exception as fault:  # a plugin may raise anything
            status, timeout = broken(fault), 0
        if status is not None and status.code == "Wait":
            waits[plugin.name] = min(timeout, MAX_PERMIT_TIMEOUT)
            reasons += status.reasons
        elif status is not None:
            return PermitResult(by("Permit", plugin.name, status), {})
    return PermitResult(None, waits, reasons)


def run_pre_bind_pre_flights(
    framework: Framework, state: CycleState, pod: Pod, node_name: str
) -> Status | None:
    """Return SKIP if no PreBind plugin has anything to do for the pod, None if one has, or the first fault
    (RunPreBindPreFlights). A refusal counts as a fault."""
    skipped = set()
    for plugin in framework.pre_bind_plugins:
        try:
            status = plugin.pre_bind_pre_flight(state, pod, node_name)
        except Exception as fault:  # a plugin may raise anything
            status = broken(fault)
        if status is not None and status.code != "Skip":
            return error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
        if status is not None:
            skipped.add(plugin.name)
    state.skip_pre_bind = frozenset(skipped)
    return SKIP if len(skipped) == len(framework.pre_bind_plugins) else None


def run_pre_bind(
    framework: Framework, state: CycleState, pod: Pod, cancelled: Signal
) -> Steps[Status | None]:
    """Run the PreBind plugins on the pod's node, and return the first refusal or fault; None = all have
    succeeded. When ``cancelled`` is fired, a plugin that waits gets a PluginError."""
    for plugin in framework.pre_bind_plugins:
        if plugin.name in state.skip_pre_bind:
            continue
        try:
            result = plugin.pre_bind(state, pod, pod.node_name)
            status = (yield from _cancellable(result, cancelled)) if isinstance(result, Generator) else result
        except Exception as fault:  # a plugin may raise anything
            status = broken(fault)
        if status is not None:
            return by("PreBind", plugin.name, status)
    return error(str(cancelled.value)) if cancelled.fired else None


def _cancellable(steps: Steps[Status | None], cancelled: Signal) -> Steps[Status | None]:
    answer: object = None
    try:
        while True:
            request = steps.send(answer)
            if isinstance(request, Wait) and request.signal is None:
                answer = yield Wait(request.until, cancelled)
                if not isinstance(answer, Due):
                    steps.throw(PluginError("context canceled"))
            else:
                answer = yield request
    except StopIteration as end:
        status: Status | None = end.value
        return status


class BindResult(NamedTuple):
    """The result of the Bind plugins. ``plugin`` is the name of the plugin that did not skip the pod, ""
    where all did, or where an extender bound it. ``status`` None = the pod is to be bound."""

    plugin: str
    status: Status | None


def run_bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> BindResult:
    """Run the Bind plugins until one does not skip the pod. The caller writes the binding."""
    for plugin in framework.bind_plugins:
        try:
            status = plugin.bind(state, pod, node_name)
        except Exception as fault:  # a plugin may raise anything
            status = broken(fault)
        if status is None:
            return BindResult(plugin.name, None)
        if status.code != "Skip":
            return BindResult(plugin.name, by("Bind", plugin.name, status))
    return BindResult("", error("no Bind plugin binds this pod"))


def run_post_bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> None:
    """Run the PostBind plugins. The pod is bound, even if a plugin raises."""
    for plugin in framework.post_bind_plugins:
        with suppress(Exception):
            plugin.post_bind(state, pod, node_name)


def broken(fault: Exception) -> Status:
    return error(f"{type(fault).__name__}: {fault}")


def by(point: str, plugin: str, status: Status) -> Status:
    if status.rejected:
        return status._replace(plugin=plugin)
    return error(f'running {point} plugin "{plugin}": {status.message}')._replace(plugin=plugin)
