"""Loading of a KubeSchedulerConfiguration (staging/src/k8s.io/kube-scheduler/config/v1/types.go).

Defaults follow pkg/scheduler/apis/config/v1/defaults.go and default_plugins.go, validation follows
pkg/scheduler/apis/config/validation/validation.go. Fields that only concern the process of kube-scheduler
(leader election, client connection, ...) are accepted and ignored.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from simulator.api import Manifest
from simulator.config import extenders
from simulator.config.args import Cause, TakesArgs, decode_args, to_cause
from simulator.config.extenders import ExtenderConfig
from simulator.kernel.prepared_types import prepared
from simulator.versions.features import Features

API_VERSION = "kubescheduler.config.k8s.io/v1"
DEFAULT_SCHEDULER_NAME = "default-scheduler"

ALL_NODES_PERCENT = 100
"""The default of percentageOfNodesToScore here: the scheduler filters all nodes."""

ADAPTIVE_PERCENT = 0
"""The default of percentageOfNodesToScore in kube-scheduler: a share that is smaller in larger clusters."""

MAX_PROFILES = 16
"""Maximum number of profiles, a bound on the work that one configuration can cause."""
MAX_PLUGIN_WEIGHT = (1 << 63) // 100 // 100
"""Maximum weight, so that the weighted sum of 100 plugins' scores (at most 100 each) fits into an int64."""


class ConfigError(ValueError):
    """The configuration is not valid; ``causes`` are (field path, message)."""

    def __init__(self, causes: list[Cause]) -> None:
        super().__init__("; ".join(f"{path}: {message}" if path else message for path, message in causes))
        self.causes = causes


class PluginRef(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    weight: int = 0


class PluginSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    enabled: list[PluginRef] = []
    disabled: list[PluginRef] = []


class Plugins(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()

    def at(self, point: str) -> PluginSet:
        """Return the plugin set of an extension point by its name in the configuration ("preFilter")."""
        found: PluginSet = getattr(self, "".join(f"_{c.lower()}" if c.isupper() else c for c in point))
        return found


class PluginConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    args: Any = None


class ProfileManifest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: list[PluginConfig] = []


class ConfigurationManifest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    api_version: str = API_VERSION
    kind: str = "KubeSchedulerConfiguration"
    parallelism: int = 16
    percentage_of_nodes_to_score: int | None = None
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: list[ProfileManifest] = []
    extenders: list[ExtenderConfig] = []
    leader_election: Any = None
    client_connection: Any = None
    enable_profiling: Any = None
    enable_contention_profiling: Any = None
    delay_cache_until_active: Any = None


class Profile(msgspec.Struct, frozen=True):
    """One profile, merged with the defaults."""

    scheduler_name: str
    percentage_of_nodes_to_score: int
    """The percentage of nodes that must be found feasible before the search stops; 0 = adaptive, which is the
    default of kube-scheduler. The default here is ALL_NODES_PERCENT, so that every node has a verdict."""
    multi_point: PluginSet
    plugins: Plugins
    """The plugins that are enabled and disabled at single extension points."""
    args: dict[str, Any]
    """The arguments of the plugins, as :func:`simulator.config.args.decode_args` returns them."""
    features: Features


class Configuration(msgspec.Struct, frozen=True):
    profiles: list[Profile]
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    extenders: list[ExtenderConfig]
    """The extenders, in the order in which they are called."""
    features: Features


def load_configuration(
    manifest: Manifest | None,
    plugins: Mapping[str, type[TakesArgs]],
    default: PluginSet,
    default_percentage: int,
    features: Features,
) -> Configuration:
    """Load a configuration from its manifest; None = all defaults. ``plugins`` are the plugin classes by
    name, for the types of their arguments. ``default`` are the plugins that a profile enables unless it says
    otherwise, ``default_percentage`` is that of nodes to score. Raises :class:`ConfigError`."""
    try:
        read = msgspec.convert(manifest or {}, prepared(ConfigurationManifest))
    except msgspec.ValidationError as failure:
        raise ConfigError([to_cause(failure)]) from None
    causes: list[Cause] = []
    if read.api_version != API_VERSION:
        causes.append(("apiVersion", f"expected {API_VERSION}"))
    if read.kind != "KubeSchedulerConfiguration":
        causes.append(("kind", "expected KubeSchedulerConfiguration"))
    causes += _validate_percentage("", read.percentage_of_nodes_to_score)
    if read.parallelism <= 0:
        causes.append(("parallelism", "should be an integer value greater than zero"))
    if read.pod_initial_backoff_seconds <= 0:
        causes.append(("podInitialBackoffSeconds", "must be greater than 0"))
    if read.pod_max_backoff_seconds < read.pod_initial_backoff_seconds:
        causes.append(("podMaxBackoffSeconds", "must be greater than or equal to PodInitialBackoffSeconds"))
    if len(read.profiles) > MAX_PROFILES:
        raise ConfigError([*causes, ("profiles", f"at most {MAX_PROFILES} profiles")])
    profiles = []
    percentage = read.percentage_of_nodes_to_score
    everywhere = default_percentage if percentage is None else percentage
    for i, profile in enumerate(read.profiles or [ProfileManifest()]):
        profiles.append(
            _merge_profile(
                f"profiles[{i}].", profile, everywhere, plugins, default, features=features, causes=causes
            )
        )
        if not profile.scheduler_name:
            causes.append((f"profiles[{i}].schedulerName", "Required value"))
        if any(p.scheduler_name == profile.scheduler_name for p in read.profiles[:i]):
            causes.append((f"profiles[{i}].schedulerName", f'Duplicate value: "{profile.scheduler_name}"'))
    causes += extenders.validate_extenders(read.extenders)
    if causes:
        raise ConfigError(causes)
    ignored = extenders.ignored_resources(read.extenders)
    if ignored:
        for made in profiles:
            # Upstream also replaces the resources in the plugin's own arguments.
            made.args["NodeResourcesFit"].ignored_resources = ignored
    return Configuration(
        profiles,
        read.pod_initial_backoff_seconds,
        read.pod_max_backoff_seconds,
        extenders.in_call_order(read.extenders),
        features,
    )


def _validate_percentage(path: str, percentage: int | None) -> list[Cause]:
    if percentage is None or 0 <= percentage <= 100:
        return []
    return [(f"{path}percentageOfNodesToScore", "not in valid range [0-100]")]


def _merge_profile(
    path: str,
    read: ProfileManifest,
    percentage: int,
    plugins: Mapping[str, type[TakesArgs]],
    default: PluginSet,
    *,
    features: Features,
    causes: list[Cause],
) -> Profile:
    causes += _validate_percentage(path, read.percentage_of_nodes_to_score)
    given: dict[str, Any] = {}
    for i, entry in enumerate(read.plugin_config):
        if entry.name in given:
            causes.append((f"{path}pluginConfig[{i}]", f'Duplicate value: "{entry.name}"'))
        given[entry.name] = entry.args
        _, wrong = decode_args(entry.name, entry.args, plugins, features)
        causes += [(f"{path}pluginConfig[{i}].args" + (f".{p}" if p else ""), m) for p, m in wrong]
    args = {name: decode_args(name, given.get(name), plugins, features)[0] for name in {*plugins, *given}}
    for point in ("score", "multiPoint"):
        for i, plugin in enumerate(read.plugins.at(point).enabled):
            if not 0 <= plugin.weight <= MAX_PLUGIN_WEIGHT:
                causes.append((f"{path}plugins.{point}.enabled[{i}].weight", "not in valid range"))
    return Profile(
        read.scheduler_name,
        percentage if read.percentage_of_nodes_to_score is None else read.percentage_of_nodes_to_score,
        merge_plugin_sets(default, read.plugins.multi_point),
        read.plugins,
        args,
        features,
    )


def merge_plugin_sets(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Merge a profile's plugin set with the default one (mergePluginSet): an enabled plugin replaces the
    default of the same name at its position; other plugins are appended."""
    disabled = {plugin.name for plugin in custom.disabled}
    customized = {plugin.name: plugin for plugin in custom.enabled}
    kept = [] if "*" in disabled else [p for p in default.enabled if p.name not in disabled]
    replaced = {p.name for p in kept} & customized.keys()
    enabled = [customized.get(p.name, p) for p in kept] + [
        p for p in custom.enabled if p.name not in replaced
    ]
    return PluginSet(enabled=enabled, disabled=custom.disabled)


def expand_plugins(profile: Profile, point: str, implements: set[str]) -> list[str]:
    """Return the names of the plugins at an extension point, in order (expandMultiPointPlugins in
    pkg/scheduler/framework/runtime/framework.go). ``implements`` are the plugins that implement it."""
    own = profile.plugins.at(point)
    enabled = [plugin.name for plugin in own.enabled]
    disabled = {plugin.name for plugin in own.disabled}
    if "*" in disabled:
        return enabled
    everywhere = [
        p.name for p in profile.multi_point.enabled if p.name in implements and p.name not in disabled
    ]
    overriding = [name for name in enabled if name in everywhere]
    return [
        *overriding,
        *(name for name in everywhere if name not in enabled),
        *(name for name in enabled if name not in overriding),
    ]


def score_weights(profile: Profile, point: str = "score") -> dict[str, int]:
    """Return the score weights by plugin: a weight at the extension point takes precedence over one at
    ``multiPoint``; the default is 1."""
    weights: dict[str, int] = {}
    for plugin in [*profile.plugins.at(point).enabled, *profile.multi_point.enabled]:
        weights.setdefault(plugin.name, plugin.weight or 1)
    return weights
