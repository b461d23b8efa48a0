"""The arguments of DynamicResources (DynamicResourcesArgs in
pkg/scheduler/apis/config/types_pluginargs.go)."""

from collections.abc import Iterator, Mapping

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
        given = {"filterTimeout": self.filter_timeout, "bindingTimeout": self.binding_timeout}
        wrong = [*_wrong_durations(given)]
        yield from wrong
        if wrong:
            return
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


def _wrong_durations(given: Mapping[str, str | None]) -> Iterator[Cause]:
    for name, text in given.items():
        if text is None:
            continue
        try:
            durations.parse_duration(text)
        except ValueError as failure:
            yield name, str(failure)
