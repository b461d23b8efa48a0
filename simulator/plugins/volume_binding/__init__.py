"""pkg/scheduler/framework/plugins/volumebinding, v1.34."""

from simulator.plugins.volume_binding.volume_binding import VolumeBinding

__all__ = ["VolumeBinding"]
