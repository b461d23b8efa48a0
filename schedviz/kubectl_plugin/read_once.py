"""The cluster with its scheduler, as the options say, for one answer."""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

from schedviz.kubectl_plugin.assumptions import Assumptions, name_gates
from schedviz.real_cluster.cluster import (
    ReadCluster,
    read_cluster,
    read_configuration,
    read_gates,
    read_group_gates,
    read_version,
)
from schedviz.real_cluster.reader import ClusterReader
from simulator.api import SECOND, Manifest, Micros
from simulator.command_line import files
from simulator.command_line.files import InputError
from simulator.command_line.version_options import features_of
from simulator.commands.clean import refusal_lines
from simulator.framework.runtime import Framework
from simulator.plugins.registry import load, profiles
from simulator.scheduler import extender_http
from simulator.versions.features import Features


class Scheduler:
    """The scheduler of the cluster: the version by which it is judged, its configuration and its gates."""

    def __init__(self, reader: ClusterReader, options: argparse.Namespace) -> None:
        """Raises ClusterError, InputError."""
        self.said, version = read_version(reader)
        if options.kubernetes:
            self.said = options.kubernetes
        stated = None if options.feature_gates else read_gates(reader, version)
        named = options.kubernetes or version.patch
        self.features: Features = features_of(named, options.feature_gates)
        if stated and not options.kubernetes:
            self.features = Features(version, stated)
        served: dict[str, bool] = {}
        if stated is None and not options.feature_gates and not options.kubernetes:
            served = read_group_gates(reader, version)
            self.features = Features(version, served) if served else self.features
        self.gates = name_gates(
            self.features, given=bool(options.feature_gates), reached=stated is not None, served=bool(served)
        )
        self._options = options
        self.configuration: Manifest | None
        self.configuration, self.source = self._configure(reader)

    def _configure(self, reader: ClusterReader) -> tuple[Manifest | None, str]:
        path: Path | None = self._options.config
        if path is not None and self._options.config_map:
            raise InputError("--config and --config-map: give one of them")
        if path is not None:
            return files.read_configuration(path), f"the configuration {path}"
        if named := self._options.config_map:
            return read_configuration(reader, named), f"the configuration of the ConfigMap {named}"
        return None, "its default configuration"

    def frameworks(self) -> Mapping[str, Framework]:
        """Return its profiles. Raises InputError."""
        try:
            transport = extender_http.HttpTransport(self._options.allow_extender_host)
            return profiles(load(self.configuration, features=self.features), transport=transport)
        except ValueError as failure:  # ConfigError
            raise InputError(f"{self.source}: {failure}") from None


def read_objects(
    reader: ClusterReader, scheduler: Scheduler, now: Micros, namespace: str = ""
) -> tuple[ReadCluster, Assumptions]:
    """Return the objects, and what an answer about them assumes. ``namespace``: see :func:`read_cluster`.
    Raises ClusterError."""
    found = read_cluster(reader, scheduler.features, now, namespace)
    return found, Assumptions(
        reader.context,
        reader.server,
        scheduler.said,
        scheduler.features.version.patch,
        scheduler.source,
        scheduler.gates,
        found.unknown,
        found.listed.report.kubelets,
        [*refusal_lines(found.listed.report)],
    )


def now() -> Micros:
    return int(time.time()) * SECOND
