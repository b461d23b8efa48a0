"""NodeResourcesFit and NodeResourcesBalancedAllocation (pkg/scheduler/framework/plugins/noderesources)."""

from simulator.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from simulator.plugins.node_resources.fit import NodeResourcesFit

__all__ = ["NodeResourcesBalancedAllocation", "NodeResourcesFit"]
