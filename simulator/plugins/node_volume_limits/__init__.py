"""NodeVolumeLimits (pkg/scheduler/framework/plugins/nodevolumelimits)."""

from simulator.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
