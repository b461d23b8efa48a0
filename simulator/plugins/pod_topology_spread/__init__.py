"""PodTopologySpread (pkg/scheduler/framework/plugins/podtopologyspread, v1.34)."""

from simulator.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
