"""Edge cases of VolumeZone, each as an attempt in a small cluster."""

from tests.simulator.volume_objects import (
    BETA_ZONE,
    OUT_OF_REACH,
    ZONE,
    claim,
    csi_node,
    decided,
    node,
    pod,
    reasons,
    volume,
    without,
)


def test_a_missing_bound_volume_fails_at_volume_zone_and_without_it_at_volume_binding() -> None:
    objects = {"nodes": [node("a")], "persistentVolumeClaims": [claim("data", to="gone")]}
    found = decided(pod("p", "data"), **objects)["preFilter"]
    assert (found["plugin"], found["reasons"]) == ("VolumeZone", ['persistentvolume "gone" not found'])
    answer = decided(pod("p", "data"), without("VolumeZone"), **objects)
    assert reasons(answer) == {
        "a": ["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"]
    }


def test_volume_zone_splits_values_passes_unzoned_nodes_and_falls_back_to_newer_labels() -> None:
    def on(labels: dict[str, str]) -> set[str]:
        answer = decided(
            pod("p", "data"),
            nodes=[node("a", zone="a"), node("b", zone="b"), node("c", zone="c"), node("nowhere")],
            persistentVolumeClaims=[claim("data", to="pv")],
            persistentVolumes=[volume("pv", labels=labels)],
        )
        return {name for name, why in reasons(answer).items() if why is None}

    assert on({ZONE: "a__ b"}) == {"a", "b", "nowhere"}
    assert on({BETA_ZONE: "c"}) == {"c", "nowhere"}
    assert on({ZONE: "a", "topology.kubernetes.io/region": "r"}) == {"nowhere"}
    assert on({ZONE: "a____b"}) == {"a", "b", "c", "nowhere"}, "an empty zone: the label says nothing"


def test_on_a_node_migrated_to_csi_zones_are_those_of_the_drivers_label() -> None:
    zoned = {"topology.ebs.csi.aws.com/zone": "a"}
    answer = decided(
        pod("p", "data"),
        without("VolumeZone"),
        nodes=[node("old"), node("new"), node("new-in-a", **zoned)],
        csiNodes=[csi_node(name, migrated="kubernetes.io/aws-ebs") for name in ("new", "new-in-a")],
        persistentVolumeClaims=[claim("data", to="pv")],
        persistentVolumes=[volume("pv", labels={ZONE: "a__b"}, awsElasticBlockStore={"volumeID": "vol-1"})],
    )
    assert reasons(answer) == {"old": None, "new": [OUT_OF_REACH], "new-in-a": None}
