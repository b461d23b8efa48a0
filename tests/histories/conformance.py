"""The inputs of two conformance suites (tests/conformance), and the whole output for them. The suites compare
the answers with the real scheduler's; here every line of output is compared with what it was. The suite of
the queue compares every field itself."""

import gzip
import json
from itertools import dropwhile
from pathlib import Path
from typing import Any

from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.resources import find_by_kind
from simulator.simulation import Options
from tests.histories.cluster import Cluster

FOLDER = Path(__file__).parents[1] / "conformance"
ATTEMPTS = 0.9
"""Seconds in which pods are tried: shorter than any backoff, so that each has one attempt but for events."""
BETWEEN_STEPS = 30 * SECOND
"""As in the ``settle`` command: longer than any backoff."""

VECTORS, RUNS = slice(None, None, 2), slice(None, None, 5)
"""To save time, every second vector of a category, and every fifth of its 30 long histories."""


def categories(suite: str) -> list[str]:
    """Return the categories that v1.34.1 answered."""
    names = (file.name.removesuffix(".jsonl.gz") for file in (FOLDER / suite).glob("*.jsonl.gz"))
    return sorted(name for name in names if not name.startswith("v1."))


def cycle(category: str) -> list[bytes]:
    """Each vector's cluster, led by a scheduler without controllers."""
    lines: list[bytes] = []
    for vector in _read("cycle", category)[VECTORS]:
        objects = [manifest for listed in vector["objects"].values() for manifest in listed]
        changes = {
            (change.resource, change.key): change for change in map(_creation, [*objects, vector["pod"]])
        }
        options = Options(config=vector["config"], controllers=False)
        cluster = Cluster(options, [*changes.values()])
        cluster.operation(vector["name"])
        cluster.run(ATTEMPTS)
        lines += dropwhile(_is_input, cluster.end())
    return lines


def run(category: str) -> list[bytes]:
    """Each history of applied and deleted objects, with a scheduler without controllers."""
    lines: list[bytes] = []
    for history in _read("run", category)[RUNS]:
        cluster = Cluster(Options(config=history["config"], controllers=False))
        for number, step in enumerate(history["steps"]):
            cluster.operation(f"{history['name']}, step {number}")
            cluster.write(*(_applied(cluster, manifest) for manifest in step["apply"]))
            for target in step["delete"]:
                _delete(cluster, target)
            cluster.run(ATTEMPTS)
            cluster.now += BETWEEN_STEPS
        lines += dropwhile(_is_input, cluster.end())
    return lines


def _read(suite: str, category: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / suite / f"{category}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def _creation(manifest: Manifest) -> Change:
    return Change(*_place(manifest), manifest, expected=0)


def _place(manifest: Manifest) -> tuple[str, str]:
    kind = find_by_kind(manifest["apiVersion"], manifest["kind"])
    assert kind, f"{manifest['kind']} is not known"
    metadata = manifest["metadata"]
    return kind.id, kind.key(metadata.get("namespace", ""), metadata["name"])


def _applied(cluster: Cluster, manifest: Manifest) -> Change:
    """Created, or replaced: what the server keeps of the old object stays."""
    resource, key = _place(manifest)
    old = cluster.objects(resource).get(key)
    if old is None:
        return _creation(manifest)
    kept = {
        field: old["metadata"][field] for field in ("uid", "creationTimestamp") if field in old["metadata"]
    }
    new = {**manifest, "metadata": {**manifest["metadata"], **kept}}
    if resource == "pods":
        new["spec"] = {**manifest["spec"], "nodeName": old["spec"].get("nodeName", "")}
        new["status"] = old.get("status", {})
    return Change(resource, key, new)


def _delete(cluster: Cluster, target: str) -> None:
    """``target`` is ``Kind/namespace/name``. A missing pod was a victim."""
    kind, namespace, name = target.split("/")
    api_version = "policy/v1" if kind == "PodDisruptionBudget" else "v1"
    metadata = {"namespace": namespace, "name": name}
    resource, key = _place({"apiVersion": api_version, "kind": kind, "metadata": metadata})
    if key in cluster.objects(resource):
        cluster.write(Change(resource, key, None))


def _is_input(line: bytes) -> bool:
    """Whether a line has nothing that the suite's own file lacks."""
    return line.startswith((b'{"kind":"Recording"', b'{"kind":"Snapshot"', b'{"kind":"Write"'))
