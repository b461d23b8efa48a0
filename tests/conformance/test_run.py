"""Every recorded history of a cluster under kube-scheduler in run/ settles to the same state, step by step:
the bound pods and their nodes in order, the victims and their preemptors, and the messages of pending pods.
Those of the categories are v1.34.1's; a part of the same inputs is answered by v1.35.6 and v1.36.2, and
v1.36/podgroups by v1.36.2 with the gates of pod groups.
``make test`` runs a sample of each file."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from simulator.harness.settle import SettledHistory
from simulator.versions.features import read_features
from simulator.versions.kubernetes_version import V1_34_1
from tests.amounts import sample

FOLDER = Path(__file__).parent
CATEGORIES = ("affinity-spread", "arrivals", "config", "everything", "preemption", "wakeups")
FILES = {f"run/{category}": 30 for category in CATEGORIES} | {
    "run/v1.35": 18,
    "run/v1.36": 48,
    "v1.36/podgroups": 70,
}
"""The number of histories in each file."""


def recorded(file: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{file}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.sampled
@pytest.mark.parametrize("file", FILES)
def test_histories_settle_as_they_did_under_the_real_scheduler(file: str) -> None:
    histories = recorded(file)
    assert len(histories) == FILES[file]
    for recorded_history in sample(histories):
        gates = recorded_history.get("featureGates") or {}
        features = read_features(recorded_history.get("kubernetes", V1_34_1.patch), gates)
        history = SettledHistory(recorded_history["config"], features)
        for number, step in enumerate(recorded_history["steps"]):
            got = history.step(step["apply"], step["delete"])
            assert got == {"settled": step["settled"]}, f"{recorded_history['name']}, step {number}"


def named(api_version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def test_objects_of_every_built_in_kind_reach_the_scheduler() -> None:
    node = named("v1", "Node", "n1", spec={}, status={"allocatable": {"cpu": "4", "pods": "9"}})
    claim = named("v1", "PersistentVolumeClaim", "data", spec={"storageClassName": "fast"})
    claim["metadata"]["namespace"] = "default"
    pod = named("v1", "Pod", "web", spec={"containers": [{"name": "main"}]}, status={})
    pod["metadata"]["namespace"] = "default"
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    binding = {"provisioner": "csi.example", "volumeBindingMode": "WaitForFirstConsumer"}
    history = SettledHistory(None, read_features("v1.36", {}))
    first = history.step([node, claim, pod], [])["settled"]
    assert first["pending"]["default/web"]["message"].startswith(
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
    )
    second = history.step([named("storage.k8s.io/v1", "StorageClass", "fast", **binding)], [])["settled"]
    assert second["attempts"] == ["default/web"]
    assert second["pending"]["default/web"]["nominatedNodeName"] == "n1"  # it waits for its volume


def test_an_unknown_kind_in_a_history_is_refused() -> None:
    with pytest.raises(ValueError, match="Widget: unknown kind"):
        SettledHistory(None).step([named("v1", "Widget", "w")], [])
