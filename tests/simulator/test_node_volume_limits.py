"""Edge cases of NodeVolumeLimits, each as an attempt in a small cluster."""

from simulator.api import Manifest
from tests.simulator.volume_objects import TOO_MANY, claim, csi_node, decided, node, pod, reasons, volume


def test_limits_count_distinct_volumes_of_pods_and_of_attachments() -> None:
    handles = ["h0", "h1", "h2", "h3"]
    objects: dict[str, list[Manifest]] = {
        "nodes": [node("a")],
        "persistentVolumeClaims": [claim(f"c-{h}", to=h) for h in handles],
        "persistentVolumes": [volume(h) for h in handles],
        "pods": [pod("q1", "c-h0", "c-h1", on="a"), pod("q2", "c-h1", on="a")],
        "volumeAttachments": [
            {
                "metadata": {"name": f"va-{h}"},
                "spec": {
                    "attacher": "csi.example.com",
                    "nodeName": "a",
                    "source": {"persistentVolumeName": h},
                },
            }
            for h in ("h1", "h2")
        ],
    }

    def fits(limit: int, *claims: str) -> bool:
        answer = decided(pod("p", *claims), csiNodes=[csi_node("a", csi_example_com=limit)], **objects)
        return reasons(answer) == {"a": None}

    assert fits(4, "c-h3"), "h0 and h1 of pods, h2 attached, and h3"
    assert not fits(3, "c-h3")
    assert fits(3, "c-h0", "c-h1"), "nothing new"


def test_in_tree_disks_count_for_their_driver_where_there_is_a_csi_node() -> None:
    mine = pod("p", {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}})
    same = claim("same", to="pv")
    answer = decided(
        mine,
        nodes=[node("full"), node("shared"), node("unlimited")],
        csiNodes=[csi_node("full", ebs_csi_aws_com=1), csi_node("shared", ebs_csi_aws_com=1)],
        pods=[
            pod("q", {"awsElasticBlockStore": {"volumeID": "vol-2"}}, on="full"),
            pod("r", "same", on="shared"),
        ],
        persistentVolumeClaims=[same],
        persistentVolumes=[volume("pv", awsElasticBlockStore={"volumeID": "vol-1"})],
    )
    assert reasons(answer) == {"full": [TOO_MANY], "shared": None, "unlimited": None}
