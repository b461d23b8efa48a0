"""The place of pkg/scheduler/framework/plugins/dynamicresources, v1.34.

Resource claims are not simulated: the plugin stands where upstream's stands, and says what upstream's says of
pods without claims.
"""

from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import (
    SKIP,
    CycleState,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterPlugin,
    PreFilterResult,
    Status,
    unschedulable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod

STATE = "PreFilterDynamicResources"


class DynamicResources(PreFilterPlugin, PostFilterPlugin):
    name = "DynamicResources"

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        state.write(STATE, True)
        return SKIP

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        """An Error where an earlier plugin's PreFilter ended the cycle before this one's was run, as
        upstream."""
        state.read(STATE)
        return None, unschedulable("no new claims to deallocate")
