"""Whether the plugins of a profile exist and extend the points at which they are enabled (NewFramework and
expandMultiPointPlugins in pkg/scheduler/framework/runtime/framework.go)."""

from collections.abc import Mapping

from simulator.config.configuration import ConfigError, Profile
from simulator.framework.interface import EXTENSION_POINTS, Plugin
from simulator.framework.status import go_list


def check_plugins(profile: Profile, registry: Mapping[str, type[Plugin]]) -> None:
    """Raise ConfigError for a plugin that is not in ``registry``, or that is enabled at an extension point
    which it does not implement."""
    causes = []
    for point in (*EXTENSION_POINTS, "multiPoint"):
        enabled = profile.plugins.at(point).enabled
        for i, plugin in enumerate(enabled):
            kind = registry.get(plugin.name)
            path = f"plugins.{point}.enabled[{i}].name"
            if kind is None:
                causes.append((path, f"plugin {plugin.name!r} does not exist"))
            elif point in EXTENSION_POINTS and not issubclass(kind, EXTENSION_POINTS[point]):
                causes.append((path, f"plugin {plugin.name!r} does not extend {point} plugin"))
            elif any(plugin.name == other.name for other in enabled[:i]):
                causes.append((path, f"plugin {plugin.name!r} is already registered"))
    defaults = {p.name for p in profile.multi_point.enabled} - registry.keys()
    if causes or defaults:
        raise ConfigError(causes or [("plugins.multiPoint", f"no such plugins: {go_list(defaults)}")])
