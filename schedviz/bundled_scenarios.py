"""The scenarios that schedviz brings along."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from simulator.api import Manifest
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import DEFAULT_PACE, Scenario, load_scenario
from simulator.versions.features import DEFAULT_FEATURES

FOLDER: Final = Path(__file__).resolve().parent / "scenarios"
FIRST: Final = "online-vs-offline"
"""The scenario that is first in the list."""
STANDARD_CLASS: Final[Manifest] = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "rancher.io/local-path",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "WaitForFirstConsumer",
}
"""The default class of an empty sandbox, as kind has it."""
EMPTY: Final = Scenario(
    name="sandbox",
    title="",
    summary="",
    seed=1,
    pace=DEFAULT_PACE,
    config=None,
    queue=QueueVersion.KUBERNETES,
    features=DEFAULT_FEATURES,
    manifests=[STANDARD_CLASS],
)


def with_manifests(made: Scenario, further: Sequence[Manifest], *, keeps_class: bool) -> Scenario:
    """Return the scenario with further objects. ``keeps_class``: whether an empty sandbox still has
    STANDARD_CLASS, if these bring no class of their own."""
    own = made.manifests
    if not keeps_class or any(each.get("kind") == "StorageClass" for each in further):
        own = [each for each in own if each is not STANDARD_CLASS]
    return replace(made, manifests=[*own, *further])


@cache
def scenarios() -> dict[str, Scenario]:
    """Return all scenarios by name. The files are read once."""
    found = [load_scenario(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))]
    return {each.name: each for each in sorted(found, key=lambda each: each.name != FIRST)}
