"""The extension point PostFilter (pkg/scheduler/framework/runtime/framework.go, v1.34)."""

from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.runtime import Framework
from simulator.framework.status import PluginError, PostFilterResult, Status, error
from simulator.objects.pod import Pod


def run_post_filter(
    framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis
) -> tuple[PostFilterResult | None, Status]:
    """Return the result of the first plugin that succeeds; if none does, the last result that is not empty,
    and a status with the reasons of all plugins (RunPostFilterPlugins)."""
    result: PostFilterResult | None = None
    reasons: list[str] = []
    rejector = ""
    for plugin in framework.post_filter_plugins:
        try:
            found, status = plugin.post_filter(state, pod, diagnosis)
        except PluginError as fault:
            found, status = None, error(str(fault))
        if status is None:
            return found, Status("Success")
        if status.code == "UnschedulableAndUnresolvable":
            return found, status._replace(plugin=plugin.name)
        if not status.rejected:
            return None, error(status.message)._replace(plugin=plugin.name)
        if found is not None and found.nominated_node is not None:
            result = found
        reasons += status.reasons
        rejector = rejector or plugin.name
    return result, Status("Unschedulable", tuple(reasons), rejector)
