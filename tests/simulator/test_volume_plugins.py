"""What the four volume plugins have in common, each case as an attempt in a small cluster. The recorded
results of the real scheduler (tests/conformance) cover the others."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.volumes import CSI_NODES, PVCS, PVS
from simulator.plugins.registry import in_tree, load
from simulator.scheduler.attempt import Attempt
from tests.simulator.volume_objects import (
    VOLUME_PLUGINS,
    claim,
    csi_node,
    decided,
    node,
    pod,
    volume,
)


def test_pods_without_claims_or_disks_pass_all_four_plugins_by() -> None:
    answer = decided(pod("p", {"emptyDir": {}}), nodes=[node("a")])
    assert set(answer["preFilter"]["skipped"]) >= VOLUME_PLUGINS


def test_a_missing_claim_is_reported_by_the_first_volume_plugin_and_an_ephemeral_one_by_volume_binding() -> (
    None
):
    missing = decided(pod("p", "data"), nodes=[node("a")])["preFilter"]
    assert (missing["plugin"], missing["reasons"]) == (
        "VolumeRestrictions",
        ['persistentvolumeclaim "data" not found'],
    )
    ephemeral = decided(pod("p", {"ephemeral": {"volumeClaimTemplate": {}}}), nodes=[node("a")])["preFilter"]
    assert (ephemeral["plugin"], ephemeral["reasons"]) == (
        "VolumeBinding",
        ['waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v0"'],
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"status": {"phase": "Lost"}},
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
        ),
        ({"metadata": {"deletionTimestamp": "x"}}, 'persistentvolumeclaim "data" is being deleted'),
        ({"metadata": {"annotations": {}}}, "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_a_claim_that_cannot_be_used_ends_the_search(changes: Manifest, reason: str) -> None:
    """The last one: a volume's name without the annotation bind-completed is no binding yet."""
    broken = claim("data", to="pv")
    for part, values in changes.items():
        broken.setdefault(part, {}).update(values)
    answer = decided(
        pod("p", "data"), nodes=[node("a")], persistentVolumeClaims=[broken], persistentVolumes=[volume("pv")]
    )
    found = answer["preFilter"]
    assert (found["plugin"], found["code"], found["reasons"]) == (
        "VolumeBinding",
        "UnschedulableAndUnresolvable",
        [reason],
    )


SOURCES: list[Any] = [
    "c0", "c1", "c2",
    {"gcePersistentDisk": {"pdName": "d"}},
    {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
    {"awsElasticBlockStore": {"volumeID": "vol-1"}},
]  # fmt: skip
STEPS = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(["", "a", "b"]), st.lists(st.sampled_from(SOURCES), max_size=3)
    ),
    max_size=20,
)


def build(pods: dict[str, Pod]) -> Cluster:
    cluster = Cluster()
    for name in ("a", "b"):
        cluster.add_node(Node.parse(node(name)))
        cluster.set_object(CSI_NODES, name, csi_node(name, csi_example_com=2, ebs_csi_aws_com=1))
    for i in range(3):
        bound = claim(f"c{i}", to=f"pv{i}")
        bound["spec"]["accessModes"] = ["ReadWriteOncePod"] if i == 0 else ["ReadWriteOnce"]
        cluster.set_object(PVCS, f"default/c{i}", bound)
        cluster.set_object(PVS, f"pv{i}", volume(f"pv{i}"))
    for placed in pods.values():
        cluster.add_pod(placed)
    return cluster


def verdicts(cluster: Cluster, pending: Pod) -> list[str]:
    search = Attempt(Framework(load(None).profiles[0], in_tree()), cluster, pending, {}, exhaustive=True)
    search.complete()
    return [str(search.diagnosis.status_of(name)) for name in ("a", "b")]


@settings(deadline=None)
@given(STEPS, st.lists(st.sampled_from(SOURCES), min_size=1, max_size=3))
def test_an_updated_cluster_gives_the_verdicts_of_a_new_cluster(
    steps: list[tuple[int, str, list[Any]]], wanted: list[Any]
) -> None:
    """Pods are added, moved and deleted in any order. The plugins run in between, so that they cache
    something."""
    pods: dict[str, Pod] = {}
    kept = build(pods)
    pending = Pod.parse(pod("p", *wanted))
    for number, where, sources in steps:
        name = f"q{number}"
        if name in pods:
            kept.remove_pod(pods.pop(name))
        if where:
            pods[name] = Pod.parse(pod(name, *sources, on=where))
            kept.add_pod(pods[name])
        assert verdicts(kept, pending) == verdicts(build(pods), pending)
