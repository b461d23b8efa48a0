"""The extension points after a node is chosen: Reserve, Permit, PreBind, Bind, PostBind.

pkg/scheduler/framework/runtime/framework.go, v1.34. A plugin that raises gives an Error status here: by now
the pod is assumed, and what was noted for it must be taken back in any case."""

from contextlib import suppress

from simulator.api import SECOND, Micros
from simulator.framework.interface import CycleState, Status, error
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod

MAX_PERMIT_TIMEOUT: Micros = 15 * 60 * SECOND
"""No plugin may keep a pod waiting for longer."""


def run_reserve(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """The first plugin's refusal or fault; None = all have reserved."""
    for plugin in framework.reserve_plugins:
        try:
            status = plugin.reserve(state, pod, node_name)
        except Exception as fault:  # whatever it is: see above
            status = broken(fault)
        if status is not None:
            return by("Reserve", plugin.name, status)
    return None


def run_unreserve(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> None:
    """In reverse order; one that raises does not keep the others from it."""
    for plugin in reversed(framework.reserve_plugins):
        with suppress(Exception):
            plugin.unreserve(state, pod, node_name)


def run_permit(
    framework: Framework, state: CycleState, pod: Pod, node_name: str
) -> tuple[Status | None, dict[str, Micros]]:
    """A refusal or a fault; or else the plugins that want the pod to wait, and for how long at most."""
    waits: dict[str, Micros] = {}
    for plugin in framework.permit_plugins:
        try:
            status, timeout = plugin.permit(state, pod, node_name)
        except Exception as fault:  # whatever it is: see above
            status, timeout = broken(fault), 0
        if status is not None and status.code == "Wait":
            waits[plugin.name] = min(timeout, MAX_PERMIT_TIMEOUT)
        elif status is not None:
            return by("Permit", plugin.name, status), {}
    return None, waits


def run_pre_bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> Status | None:
    for plugin in framework.pre_bind_plugins:
        try:
            status = plugin.pre_bind(state, pod, node_name)
        except Exception as fault:  # whatever it is: see above
            status = broken(fault)
        if status is not None:
            return by("PreBind", plugin.name, status)
    return None


def run_bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """The first plugin that does not skip the pod settles it. The write itself is the caller's."""
    for plugin in framework.bind_plugins:
        try:
            status = plugin.bind(state, pod, node_name)
        except Exception as fault:  # whatever it is: see above
            status = broken(fault)
        if status is None:
            return None
        if status.code != "Skip":
            return by("Bind", plugin.name, status)
    return error("no Bind plugin binds this pod")


def run_post_bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> None:
    """The pod is bound, whatever a plugin makes of it."""
    for plugin in framework.post_bind_plugins:
        with suppress(Exception):
            plugin.post_bind(state, pod, node_name)


def broken(fault: Exception) -> Status:
    return error(f"{type(fault).__name__}: {fault}")


def by(point: str, plugin: str, status: Status) -> Status:
    if status.rejected:
        return status._replace(plugin=plugin)
    return error(f'running {point} plugin "{plugin}": {status.message}')._replace(plugin=plugin)
