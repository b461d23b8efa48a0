"""PodTopologySpread (pkg/scheduler/framework/plugins/podtopologyspread)."""

from simulator.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
