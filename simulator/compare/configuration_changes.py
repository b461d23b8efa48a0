"""What differs in decisions between two KubeSchedulerConfigurations, and the configurations between them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from simulator.config import Configuration, Profile
from simulator.config.configuration import PluginRef, Plugins, PluginSet, expand_plugins, score_weights
from simulator.framework.interface import EXTENSION_POINTS, Plugin
from simulator.kernel.prepared_types import prepared
from simulator.versions.changes import SchedulerChange
from simulator.words import CONFIGURATION_CHANGES

Aspect = Literal[
    "extenders", "profile", "percentageOfNodesToScore", "order", "extensionPoints", "weight", "args"
]
WEIGHED: Final = ("score", "placementScore")
"""The extension points whose plugins have weights."""
UNORDERED: Final = ("preScore", *WEIGHED)
"""The extension points at which the order of the plugins decides nothing: their scores are added."""


class ConfigurationPart(NamedTuple):
    """A part of a configuration that can be changed alone."""

    aspect: Aspect
    profile: str = ""
    """The schedulerName; "" = all profiles."""
    plugin: str = ""
    """"" = all plugins of the profile."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.profile, self.plugin, self.aspect)))


def make_explicit(configuration: Configuration, plugins: Mapping[str, type[Plugin]]) -> Configuration:
    """Return the configuration with each profile's plugins listed at each extension point, and none at
    multiPoint. plugins: the plugin classes by name."""
    implementing = {
        point: {name for name, plugin in plugins.items() if issubclass(plugin, kind)}
        for point, kind in EXTENSION_POINTS.items()
    }

    def at(profile: Profile, point: str) -> list[PluginRef]:
        weights = score_weights(profile, point) if point in WEIGHED else {}
        names = expand_plugins(profile, point, implementing[point])
        return [PluginRef(name, weights.get(name, 0)) for name in names]

    profiles = [
        _with_plugins(profile, {point: at(profile, point) for point in EXTENSION_POINTS})
        for profile in configuration.profiles
    ]
    return replace(configuration, profiles=profiles)


def configuration_changes(
    one: Configuration, other: Configuration
) -> Iterator[tuple[ConfigurationPart, SchedulerChange]]:
    """Yield the parts in which two explicit configurations differ, and what changes with each."""
    before, after = _parts(one), _parts(other)
    for part in dict.fromkeys((*before, *after)):
        if part.profile and part.aspect != "profile" and not _both_have(part, before, after):
            continue
        if before.get(part) != after.get(part):
            yield part, _change(part, before.get(part), after.get(part))


def with_part(of: Configuration, part: ConfigurationPart, like: Configuration) -> Configuration:
    """Return an explicit configuration with one part as another one has it."""
    if part.aspect == "extenders":
        return replace(of, extenders=like.extenders)
    theirs = next((each for each in like.profiles if each.scheduler_name == part.profile), None)
    if part.aspect == "profile":
        kept = [each for each in of.profiles if each.scheduler_name != part.profile]
        return replace(of, profiles=[*kept, theirs] if theirs else kept)
    assert theirs is not None, "only profiles that both have differ in a part"
    profiles = [
        _profile_with_part(each, part, theirs) if each.scheduler_name == part.profile else each
        for each in of.profiles
    ]
    return replace(of, profiles=profiles)


def _parts(configuration: Configuration) -> dict[ConfigurationPart, Any]:
    """Return the parts of an explicit configuration with what can be compared and shown of them."""
    found: dict[ConfigurationPart, Any] = {
        ConfigurationPart("extenders"): msgspec.to_builtins(configuration.extenders)
    }
    for profile in configuration.profiles:
        name, enabled = profile.scheduler_name, _enabled(profile)
        found[ConfigurationPart("profile", name)] = name
        percentage = ConfigurationPart("percentageOfNodesToScore", name)
        found[percentage] = profile.percentage_of_nodes_to_score
        found[ConfigurationPart("order", name)] = {
            point: [each.name for each in plugins]
            for point, plugins in enabled.items()
            if point not in UNORDERED
        }
        for point, plugins in enabled.items():
            for plugin in plugins:
                points = ConfigurationPart("extensionPoints", name, plugin.name)
                found.setdefault(points, []).append(point)
                args = profile.args.get(plugin.name)
                found[ConfigurationPart("args", name, plugin.name)] = msgspec.to_builtins(args)
                if point == "score":
                    found[ConfigurationPart("weight", name, plugin.name)] = plugin.weight
    return found


def _both_have(
    part: ConfigurationPart,
    before: Mapping[ConfigurationPart, Any],
    after: Mapping[ConfigurationPart, Any],
) -> bool:
    """Whether a part can differ by itself: its profile is in both, and so is its plugin."""
    if not all(ConfigurationPart("profile", part.profile) in each for each in (before, after)):
        return False
    if part.aspect == "order":
        one, other = before[part], after[part]
        return any(_common(one[point], other[point]) != _common(other[point], one[point]) for point in one)
    return part.aspect == "extensionPoints" or (part in before and part in after)


def _common(names: list[str], others: list[str]) -> list[str]:
    return [name for name in names if name in others]


def _change(part: ConfigurationPart, before: Any, after: Any) -> SchedulerChange:
    text, values = str(part.aspect), {"profile": part.profile, "plugin": part.plugin}
    match part.aspect:
        case "profile":
            text += " added" if after else " removed"
        case "extensionPoints" if not (before and after):
            text += " added" if after else " removed"
        case "extensionPoints":
            values |= {"before": ", ".join(before), "after": ", ".join(after)}
        case "args":
            values |= _values_of_fields(before, after)
        case "percentageOfNodesToScore" | "weight":
            values |= {"before": str(before), "after": str(after)}
    return SchedulerChange(str(part), "configuration", CONFIGURATION_CHANGES[text], values)


def _values_of_fields(before: Any, after: Any) -> dict[str, str]:
    """Return the fields that differ in the arguments of a plugin, as text."""
    one, other = dict(_fields("", before)), dict(_fields("", after))
    differing = [path for path in dict.fromkeys((*one, *other)) if one.get(path) != other.get(path)]
    return {
        name: ", ".join(f"{path} {fields.get(path, 'null')}" for path in differing)
        for name, fields in (("before", one), ("after", other))
    }


def _fields(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the paths of all values in an object, and each as JSON; a list is one value."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _fields(f"{path}.{name}" if path else name, each)
    else:
        yield path, msgspec.json.encode(value).decode()


def _enabled(profile: Profile) -> dict[str, list[PluginRef]]:
    return {point: profile.plugins.at(point).enabled for point in EXTENSION_POINTS}


def _with_plugins(profile: Profile, enabled: Mapping[str, list[PluginRef]]) -> Profile:
    sets = {point: PluginSet(enabled=each, disabled=[PluginRef("*")]) for point, each in enabled.items()}
    plugins = msgspec.convert(msgspec.to_builtins(sets), prepared(Plugins))
    return replace(profile, multi_point=PluginSet(), plugins=plugins)


def _profile_with_part(of: Profile, part: ConfigurationPart, like: Profile) -> Profile:
    if part.aspect == "percentageOfNodesToScore":
        return replace(of, percentage_of_nodes_to_score=like.percentage_of_nodes_to_score)
    if part.aspect == "args":
        return replace(of, args={**of.args, part.plugin: like.args.get(part.plugin)})
    own, theirs = _enabled(of), _enabled(like)
    change = {"order": _in_order, "weight": _with_weight, "extensionPoints": _with_plugin}[part.aspect]
    return _with_plugins(of, {point: change(own[point], theirs[point], part.plugin) for point in own})


def _in_order(own: list[PluginRef], theirs: list[PluginRef], _: str) -> list[PluginRef]:
    """The plugins in the order of the others; those that only these have come last."""
    order = {each.name: place for place, each in enumerate(theirs)}
    return sorted(own, key=lambda each: order.get(each.name, len(order)))


def _with_weight(own: list[PluginRef], theirs: list[PluginRef], plugin: str) -> list[PluginRef]:
    weights = {each.name: each for each in theirs}
    return [weights.get(plugin, each) if each.name == plugin else each for each in own]


def _with_plugin(own: list[PluginRef], theirs: list[PluginRef], plugin: str) -> list[PluginRef]:
    """The plugins with this one exactly if the others have it: there after the same plugin as here."""
    kept = [each for each in own if each.name != plugin]
    names = [each.name for each in theirs]
    if plugin not in names:
        return kept
    place = names.index(plugin)
    before = next((name for name in reversed(names[:place]) if any(name == each.name for each in kept)), "")
    at = next((number for number, each in enumerate(kept, 1) if each.name == before), 0)
    return [*kept[:at], theirs[place], *kept[at:]]
