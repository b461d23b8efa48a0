"""Edge cases of VolumeRestrictions, each as an attempt in a small cluster."""

import pytest

from simulator.api import Manifest
from tests.simulator.volume_objects import IN_USE, claim, decided, node, pod, reasons, volume


@pytest.mark.parametrize(
    ("mine", "other", "conflicting"),
    [
        ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}},) * 2 + (False,),
        (
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "d"}},
            True,
        ),
        ({"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},) * 2 + (True,),
        ({"iscsi": {"iqn": "q", "lun": 1}}, {"iscsi": {"iqn": "q", "lun": 2}}, True),
        (
            {"rbd": {"image": "i", "pool": "rbd", "monitors": ["m1", "m2"]}},
            {"rbd": {"image": "i", "pool": "rbd", "monitors": ["m2"]}},
            True,
        ),
        (
            {"rbd": {"image": "i", "pool": "rbd", "monitors": ["m1"]}},
            {"rbd": {"image": "i", "pool": "rbd", "monitors": ["m2"]}},
            False,
        ),
    ],
)
def test_disks_of_one_node(mine: Manifest, other: Manifest, conflicting: bool) -> None:
    answer = decided(pod("p", mine), nodes=[node("a"), node("b")], pods=[pod("q", other, on="a")])
    assert reasons(answer) == {"a": [IN_USE] if conflicting else None, "b": None}


def test_a_claim_for_one_pod_blocks_all_nodes_until_its_user_is_preempted() -> None:
    once = claim("data", to="pv")
    once["spec"]["accessModes"] = ["ReadWriteOncePod"]
    answer = decided(
        pod("p", "data", priority=10),
        nodes=[node("a"), node("b")],
        pods=[pod("user", "data", on="a"), pod("namesake", "data", on="b", namespace="other")],
        persistentVolumeClaims=[once],
        persistentVolumes=[volume("pv")],
    )
    assert {status["plugin"] for status in answer["filter"].values()} == {"VolumeRestrictions"}
    # Upstream compares names without namespaces while it lifts pods: the other namespace's pod looks as good.
    assert answer["preemption"]["candidates"].keys() == {"a", "b"}
