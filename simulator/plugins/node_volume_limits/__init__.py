"""NodeVolumeLimits (pkg/scheduler/framework/plugins/nodevolumelimits, v1.34)."""

from simulator.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
