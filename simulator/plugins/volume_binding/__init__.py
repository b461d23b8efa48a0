"""VolumeBinding (pkg/scheduler/framework/plugins/volumebinding)."""

from simulator.plugins.volume_binding.volume_binding import VolumeBinding

__all__ = ["VolumeBinding"]
