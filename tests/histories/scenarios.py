"""The bundled scenarios, and the examples of the ideas."""

from pathlib import Path

from simulator.apiserver.new_cluster import new_cluster
from simulator.scenario import load_scenario
from simulator.simulation import Options
from tests.histories.cluster import START, Cluster

FOLDER = Path(__file__).parents[2] / "schedviz" / "scenarios"
SECONDS = 240
"""Simulated time of each, long enough to show its purpose."""


def scenarios() -> list[str]:
    """Their names: ``gang``, ``ideas/queue``."""
    files = sorted(FOLDER.glob("**/*.yaml"))
    return [file.relative_to(FOLDER).with_suffix("").as_posix() for file in files]


def path(name: str) -> Path:
    return FOLDER / f"{name}.yaml"


def scenario(name: str) -> list[bytes]:
    loaded = load_scenario(path(name).read_text())
    options = Options(
        seed=loaded.seed,
        pace=loaded.pace,
        config=loaded.config,
        queue=loaded.queue,
        kubernetes=loaded.features.version.patch,
        feature_gates=loaded.features.gates,
    )
    cluster = Cluster(options, new_cluster(loaded.manifests, START, loaded.features))
    cluster.operation(f"run {SECONDS} s")
    cluster.run(SECONDS)
    return cluster.end()
