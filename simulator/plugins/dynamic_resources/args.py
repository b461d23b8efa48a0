"""The arguments of DynamicResources (DynamicResourcesArgs in
pkg/scheduler/apis/config/types_pluginargs.go)."""

from collections.abc import Iterator

from simulator.api import SECOND, Micros
from simulator.config.args import Args, Cause
from simulator.objects import durations
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.versions.features import Features


class DynamicResourcesArgs(Args):
    filter_timeout: str = "10s"
    binding_timeout: str | None = None
    """10 minutes by default."""

    def validate(self) -> Iterator[Cause]:
        if durations.parse_duration(self.filter_timeout) < 0:
            yield "filterTimeout", "must be greater than or equal to 0"
        if self.timeout_of_binding < SECOND:
            yield "bindingTimeout", "must be at least 1 second"

    def validate_features(self, features: Features) -> Iterator[Cause]:
        if self.binding_timeout is not None and not allocator_rules(features).binding_conditions:
            yield (
                "bindingTimeout",
                "requires feature gates DRADeviceBindingConditions and DRAResourceClaimDeviceStatus",
            )

    @property
    def timeout_of_binding(self) -> Micros:
        return durations.parse_duration(self.binding_timeout or "600s")
