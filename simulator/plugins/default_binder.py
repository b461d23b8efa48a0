"""DefaultBinder (pkg/scheduler/framework/plugins/defaultbinder/default_binder.go)."""

from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import BindPlugin
from simulator.framework.status import Status
from simulator.objects.pod import Pod


class DefaultBinder(BindPlugin):
    """Binds every pod. The caller of the plugin writes the binding to the API server."""

    name = "DefaultBinder"

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None
