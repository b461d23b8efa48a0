"""pkg/scheduler/framework/plugins/defaultbinder/default_binder.go, v1.34."""

from simulator.framework.interface import BindPlugin, CycleState, Status
from simulator.objects.pod import Pod


class DefaultBinder(BindPlugin):
    """Binds every pod; the write itself is the caller's, as all writes are."""

    name = "DefaultBinder"

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None
