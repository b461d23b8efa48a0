"""The places of a profile of the scheduler's configuration: which plugins are enabled, the weights of their
scores, and their arguments."""

from collections.abc import Mapping
from typing import Any

from schedviz.web.forms import notation
from schedviz.web.forms.base import FieldPlace
from schedviz.web.manifests.paths import Path, get, mapping, put
from simulator.api import Manifest
from simulator.framework.interface import EXTENSION_POINTS
from simulator.plugins.registry import default_plugins
from simulator.versions.features import Features

Defaults = Mapping[str, int]
"""The plugins that are enabled by default, with their weights (0 = 1, if the plugin scores)."""


def defaults_of(features: Features) -> Defaults:
    return {plugin.name: weight for plugin, weight in default_plugins(features)}


def names(entries: Any) -> list[str]:
    """Return the names in a list of plugins; invalid entries are ignored."""
    found = entries if isinstance(entries, list) else []
    return [str(entry["name"]) for entry in found if isinstance(entry, dict) and "name" in entry]


class Plugin(FieldPlace):
    """The base class of the places in ``plugins`` of a profile."""

    def __init__(self, profile: Path, defaults: Defaults, name: str, notes: notation.Notation) -> None:
        self.plugins = (*profile, "plugins")
        self.defaults = defaults
        self.name = name
        super().__init__(*self.plugins, "multiPoint", notation=notes)

    def entries(self, manifest: Manifest, point: str, which: str) -> list[Any]:
        found = get(manifest, (*self.plugins, point, which))
        return found if isinstance(found, list) else []

    def put_entries(self, manifest: Manifest, point: str, which: str, entries: list[Any]) -> None:
        put(manifest, (*self.plugins, point, which), entries or None)

    def drop(self, manifest: Manifest, point: str, which: str) -> None:
        kept = [entry for entry in self.entries(manifest, point, which) if names([entry]) != [self.name]]
        self.put_entries(manifest, point, which, kept)

    def on(self, manifest: Manifest) -> bool:
        """Whether the plugin is enabled at any extension point (see merge and expand in simulator/config)."""
        disabled = names(self.entries(manifest, "multiPoint", "disabled"))
        by_default = self.name in self.defaults and not {self.name, "*"} & {*disabled}
        points = ("multiPoint", *EXTENSION_POINTS)
        return by_default or any(
            self.name in names(self.entries(manifest, point, "enabled")) for point in points
        )


class PluginSwitch(Plugin):
    """Whether a plugin is enabled."""

    def __init__(self, profile: Path, defaults: Defaults, name: str) -> None:
        super().__init__(profile, defaults, name, notation.FLAG)

    def value(self, manifest: Manifest) -> Any:
        return self.on(manifest) or None

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        if value:
            self.drop(manifest, "multiPoint", "disabled")
        else:
            for point in ("multiPoint", *EXTENSION_POINTS):
                self.drop(manifest, point, "enabled")
        if self.on(manifest) != bool(value):
            which = "enabled" if value else "disabled"
            entries = [*self.entries(manifest, "multiPoint", which), {"name": self.name}]
            self.put_entries(manifest, "multiPoint", which, entries)


class Weight(Plugin):
    """The weight of a plugin's scores. It is written where the plugin is enabled in the profile, otherwise in
    ``multiPoint``, which does not change the order of the plugins."""

    def __init__(self, profile: Path, manifest: Manifest, defaults: Defaults, name: str) -> None:
        super().__init__(profile, defaults, name, notation.NUMBER)
        point = self.place(manifest)
        at = names(self.entries(manifest, point, "enabled"))
        if name in at:
            self.paths = ((*self.plugins, point, "enabled", at.index(name)),)

    def place(self, manifest: Manifest) -> str:
        return "score" if self.name in names(self.entries(manifest, "score", "enabled")) else "multiPoint"

    def value(self, manifest: Manifest) -> Any:
        for point in ("score", "multiPoint"):
            for entry in self.entries(manifest, point, "enabled"):
                if names([entry]) == [self.name]:
                    return entry.get("weight") or 1
        return (self.defaults.get(self.name, 0) or 1) if self.on(manifest) else None

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        point = self.place(manifest)
        entries = [*self.entries(manifest, point, "enabled")]
        at = names(entries).index(self.name) if self.name in names(entries) else len(entries)
        usual = (
            self.name in self.defaults
            and value in (None, self.defaults[self.name] or 1)
            and point == "multiPoint"
        )
        entries[at : at + 1] = [] if usual else [{"name": self.name} | ({"weight": value} if value else {})]
        self.put_entries(manifest, point, "enabled", entries)


class PluginArgument(FieldPlace):
    """An argument of a plugin, in ``pluginConfig`` of the profile."""

    def __init__(
        self,
        profile: Path,
        manifest: Manifest,
        plugin: str,
        *path: str,
        notes: notation.Notation = notation.TEXT,
    ) -> None:
        self.list = (*profile, "pluginConfig")
        self.plugin = plugin
        self.rest = path
        super().__init__(*self.place(manifest), notation=notes)

    def place(self, manifest: Manifest) -> Path:
        known = names(get(manifest, self.list))
        at = known.index(self.plugin) if self.plugin in known else len(known)
        return (*self.list, at, "args", *self.rest)

    def write(self, manifest: Manifest, value: Any, root: Path = ()) -> None:
        path = self.place(manifest)
        entry = path[: len(self.list) + 1]
        if value is not None and get(manifest, entry) is None:
            put(manifest, (*entry, "name"), self.plugin)
        put(manifest, path, value)
        if value is None and mapping(get(manifest, entry)).keys() == {"name"}:
            rest = [each for each in get(manifest, self.list) if each != {"name": self.plugin}]
            put(manifest, self.list, rest or None)
