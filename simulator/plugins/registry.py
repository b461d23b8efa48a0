"""The in-tree plugins by name (pkg/scheduler/framework/plugins/registry.go, v1.34)."""

from collections.abc import Mapping

from simulator.framework.interface import Plugin

IN_TREE: Mapping[str, type[Plugin]] = {plugin.name: plugin for plugin in tuple[type[Plugin], ...]()}
