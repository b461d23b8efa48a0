"""What an import takes over of a dump, for the tests."""

import json
from itertools import pairwise
from typing import Any

from simulator.api import SECOND, Manifest
from simulator.dumps.dump import Dump
from simulator.dumps.imported import Import, ImportReport, import_dump

NOW = 1_780_000_000 * SECOND


def imported(text: str | bytes) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    taken = Import(NOW, b"salt")
    for manifest in Dump(text.encode() if isinstance(text, str) else text).manifests():
        taken.take(manifest)
    return result_of(taken)


def taken_of(dump: Dump) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    return result_of(import_dump(dump, NOW, b"salt"))


def result_of(taken: Import) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    changes = [*taken.changes()]
    return {(change.resource, change.key): change.object or {} for change in changes}, taken.report


def named(kind: str, name: str, api_version: str = "v1", **fields: Any) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


QUOTA = named(
    "ResourceQuota", "q", spec={"hard": {"pods": "3"}}, status={"hard": {"pods": "3"}, "used": {"pods": "1"}}
)
LIMITS = named("LimitRange", "l", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]})
KATA = named("RuntimeClass", "kata", "node.k8s.io/v1", handler="kata", overhead={"podFixed": {"cpu": "250m"}})


def with_value(manifest: Manifest, path: tuple[str | int, ...], value: object) -> Manifest:
    """A copy in which a field has the value."""
    changed = json.loads(json.dumps(manifest))
    place = changed
    for step, following in pairwise(path):
        if isinstance(step, str) and step not in place:
            place[step] = [{}] if following == 0 else {}
        place = place[step]
    place[path[-1]] = value
    return changed
