"""The property that a healthy pod is bound beside any stored objects, in any order; and its long form.

    python -m tests.canary --objects 20000

Objects of every kind are drawn from the API's schemas. Some go through admission, as a user's would; others
are stored as they are, and some of those have a value of another type at some place, so that nothing that
admission makes sure of holds. After them a node and a pod are created that fit each other: the canary.
"""

import argparse
import copy
import logging
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Final, NamedTuple

import hypothesis.strategies as st
import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings

from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.admission import admit
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.resources import BUILT_IN, find_by_kind
from simulator.decision_columns import stored_encoder
from simulator.memory import MemoryStorage
from simulator.objects.timestamps import timestamp
from tests.schema_objects import objects
from tests.simulator.lab import START, Lab, node, pod

KINDS: Final = (
    "Pod", "Node", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob",
    "PodDisruptionBudget", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode",
    "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "Service", "ReplicationController", "Namespace",
    "PriorityClass", "ResourceClaim", "Timetable", "ControllerRevision", "CustomResourceDefinition", "Event",
)  # fmt: skip
"""Kinds that a component reads."""
MOST: Final = 12
"""Objects of one cluster."""
FEW: Final = 5
"""The maximum of pods of a workload. More pods take longer and test nothing more."""
COUNTS: Final = ("replicas", "parallelism", "completions")
WRONG: Final = (None, [], {}, "", "x", -1, 1 << 40, 1.5, True, ["x"], {"x": "y"}, [{}])
SECONDS: Final = 90
"""Seconds for one cluster on a slow machine. Without this bound a component that never returns would not be
found."""


class Act(NamedTuple):
    """What is done with an object: ``admit``, ``store`` past admission, or ``delete``; and how many seconds
    pass then."""

    verb: str
    object: Manifest
    seconds: int


class Strict(MemoryStorage):
    """Stores what can be written as JSON, as a real store does."""

    def commit(self, changes: Sequence[Change]) -> list[int]:
        msgspec.json.encode(changes)
        return super().commit(changes)


class Cluster(Lab):
    def collect(self) -> None:
        before = len(self.trace), len(self.decisions)
        super().collect()
        stored_encoder.encode([self.trace[before[0] :], self.decisions[before[1] :], self.lanes])

    def act(self, number: int, act: Act) -> None:
        manifest = act.object
        kind = find_by_kind(manifest["apiVersion"], manifest["kind"])
        assert kind is not None, "one of KINDS"
        metadata = manifest.get("metadata")
        if act.verb == "admit":
            # Objects that admission refuses are not stored. Another test checks the refusals.
            with suppress(Exception):
                admission = admit([manifest], self.api, self.now, source=f"canary/{number}")
                self.api.commit(admission.changes)
        elif isinstance(metadata, dict):
            # The least without which nothing can be stored: a key, and what the server itself fills in.
            metadata["name"] = name = str(metadata.get("name") or "a")
            metadata.setdefault("uid", f"uid-{number}")
            metadata.setdefault("creationTimestamp", timestamp(self.now))
            if kind.namespaced:
                metadata["namespace"] = "default"
            key = kind.key("default", name)
            known = self.api.get(kind.id, key)
            if act.verb == "store":
                self.api.commit([Change(kind.id, key, manifest, None if known else 0)])
            elif known:
                self.api.commit([Change(kind.id, key, None)])
        self.simulation.observe(self.api.take_events())
        self.run(act.seconds)


def check(acts: Sequence[Act]) -> None:
    """Apply all acts to a cluster, and check that the canary is bound and time continues."""
    api = Strict()
    api.commit(bootstrap(START))
    lab = Cluster(api=api)
    lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "canary"}})
    lab.create(node("worker", cpu="16"))
    for number, act in enumerate(acts):
        lab.act(number, copy.deepcopy(act))
    perch = node("perch", cpu="64", taints=[{"key": "canary", "effect": "NoSchedule"}])
    perch["metadata"]["labels"] = {"canary": "yes"}
    canary = pod(
        "canary",
        nodeSelector={"canary": "yes"},
        tolerations=[{"key": "canary", "operator": "Exists"}],
        priorityClassName="system-node-critical",
    )
    canary["metadata"]["namespace"] = "canary"
    began = lab.now
    lab.create(perch, canary)
    lab.run(5)
    assert lab.now >= began + 5 * SECOND
    bound = api.objects["pods"]["canary/canary"]
    assert bound["spec"].get("nodeName") == "perch", bound.get("status")
    assert bound["status"]["phase"] == "Running", "and its kubelet starts it"


@st.composite
def acts(draw: st.DrawFn) -> list[Act]:
    kinds = [resource for resource in BUILT_IN if resource.kind in KINDS and not resource.stored_as]
    drawn = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=MOST))
    return [_act(draw, draw(objects(kind))) for kind in drawn]


def _act(draw: st.DrawFn, manifest: Manifest) -> Act:
    verb = draw(st.sampled_from(("admit", "store", "store", "store", "delete")))
    _tame(manifest)
    if verb == "store" and draw(st.integers(0, 3)):
        _spoil(draw, manifest)
    return Act(verb, manifest, draw(st.sampled_from((0, 0, 1, 40))))


def _tame(value: Any) -> None:
    """Remove what may rightly keep the canary from its node: pods that tolerate every taint; and make
    workloads small."""
    if isinstance(value, list):
        for item in value:
            _tame(item)
    if not isinstance(value, dict):
        return
    tolerations = value.get("tolerations")
    if isinstance(tolerations, list):
        value["tolerations"] = [t for t in tolerations if isinstance(t, dict) and t.get("key")]
    for field in COUNTS:
        if isinstance(value.get(field), int):
            value[field] = min(value[field], FEW)
    for item in value.values():
        _tame(item)


def _spoil(draw: st.DrawFn, manifest: Manifest) -> None:
    """Put a value of another type at a random place, except where the store itself needs the value."""
    place: Any = manifest
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        keys = [key for key in keys if place is not manifest or key not in ("apiVersion", "kind")]
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
            place = place[key]
        else:
            if place is manifest and key == "metadata":
                return
            place[key] = copy.deepcopy(draw(st.sampled_from(WRONG)))
            return


def main() -> int:
    parser = argparse.ArgumentParser(description="Store objects, and see whether a healthy pod is bound.")
    parser.add_argument("--objects", type=int, default=20_000, help="how many to store (default 20,000)")
    parser.add_argument("--seed", type=int, default=0, help="draws other objects (default 0)")
    wanted = parser.parse_args()
    seen, began = [0, 0], time.monotonic()

    def too_long(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"a component did not return within {SECONDS} s")

    logging.getLogger("simulator").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGALRM, too_long)

    def one(acts: list[Act]) -> None:
        seen[0] += len(acts)
        seen[1] += 1
        signal.alarm(SECONDS)
        try:
            check(acts)
        finally:
            signal.alarm(0)
        if seen[1] % 100 == 0:
            rate = seen[0] / (time.monotonic() - began)
            print(f"{seen[0]:,} objects in {seen[1]:,} clusters, {rate:.0f} a second", flush=True)

    batch = 0
    while seen[0] < wanted.objects:
        run = settings(
            max_examples=500,
            database=None,
            deadline=None,
            suppress_health_check=[*HealthCheck],
            phases=(Phase.generate, Phase.shrink),
        )(given(acts())(one))
        seed(wanted.seed + batch)(run)()
        batch += 1
    print(f"{seen[0]:,} objects in {seen[1]:,} clusters: the canary was bound in each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
