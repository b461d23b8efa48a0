"""Edge cases of VolumeBinding, each as an attempt in a small cluster."""

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.volumes import PVCS, PVS, STORAGE_CLASSES
from simulator.plugins.registry import in_tree, load
from simulator.plugins.volume_binding.volume_binding import RESERVED
from simulator.scheduler.attempt import Attempt
from tests.simulator.volume_objects import (
    NO_VOLUME,
    OUT_OF_REACH,
    TOO_SMALL,
    ZONE,
    claim,
    csi_node,
    decided,
    node,
    pod,
    reasons,
    volume,
    waiting_class,
)


def test_a_reserved_volume_is_taken_before_smaller_ones_or_there_is_none() -> None:
    reserved = volume(
        "reserved",
        "9Gi",
        zone="a",
        storageClassName="local",
        claimRef={"namespace": "default", "name": "data"},
    )
    free = volume("free", "1Gi", storageClassName="local")
    answer = decided(
        pod("p", "data"),
        nodes=[node("a", zone="a"), node("b", zone="b")],
        storageClasses=[waiting_class("local")],
        persistentVolumeClaims=[claim("data", storage_class="local")],
        persistentVolumes=[free, reserved],
    )
    assert reasons(answer) == {"a": None, "b": [NO_VOLUME]}


def test_each_claim_of_a_pod_takes_a_volume_of_its_own_the_smallest_first() -> None:
    volumes = [
        volume("small-a", "1Gi", zone="a", storageClassName="local"),
        volume("large-a", "5Gi", zone="a", storageClassName="local"),
        volume("large-b", "5Gi", zone="b", storageClassName="local"),
    ]
    answer = decided(
        pod("p", "large", "small"),
        nodes=[node("a", zone="a"), node("b", zone="b")],
        storageClasses=[waiting_class("local")],
        persistentVolumeClaims=[
            claim("large", storage_class="local", size="5Gi"),
            claim("small", storage_class="local"),
        ],
        persistentVolumes=volumes,
    )
    assert reasons(answer) == {"a": None, "b": [NO_VOLUME]}


def test_volumes_of_the_chosen_node_are_recorded_at_reserve() -> None:
    cluster = Cluster()
    cluster.add_node(Node.parse(node("a")))
    cluster.set_object(STORAGE_CLASSES, "mixed", waiting_class("mixed", "csi.example.com"))
    for name in ("data", "more"):
        cluster.set_object(PVCS, f"default/{name}", claim(name, storage_class="mixed"))
    cluster.set_object(PVS, "pv", volume("pv", storageClassName="mixed"))
    framework = Framework(load(None).profiles[0], in_tree())
    pending = Pod.parse(pod("p", "data", "more"))
    search = Attempt(framework, cluster, pending, {})
    search.complete()
    (plugin,) = (p for p in framework.reserve_plugins if p.name == "VolumeBinding")
    assert plugin.reserve(search.state, pending, "a") is None
    found = search.state.read(RESERVED)
    assert [(bound["metadata"]["name"], volume.key) for bound, volume in found.bindings] == [("data", "pv")]
    assert [made.key for made in found.provisions] == ["default/more"]


def test_a_selected_node_rejects_all_others() -> None:
    answer = decided(
        pod("p", "data"),
        nodes=[node("a"), node("b")],
        storageClasses=[waiting_class("fast", "csi.example.com")],
        persistentVolumeClaims=[
            claim("data", storage_class="fast", annotations={"volume.kubernetes.io/selected-node": "b"})
        ],
    )
    assert reasons(answer) == {"a": [NO_VOLUME], "b": None}


def test_provisioning_asks_for_topology_then_for_capacity_where_maximum_size_goes_first() -> None:
    def storage(zone: str, **sizes: str) -> Manifest:
        topology = {"matchLabels": {ZONE: zone}}
        return {
            "metadata": {"name": zone, "namespace": "csi"},
            "storageClassName": "fast",
            "nodeTopology": topology,
            **sizes,
        }

    zones = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}]
    answer = decided(
        pod("p", "data"),
        nodes=[node("a", zone="a"), node("b", zone="b"), node("c", zone="c")],
        storageClasses=[waiting_class("fast", "csi.example.com", allowedTopologies=zones)],
        csiDrivers=[{"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}}],
        csiStorageCapacities=[
            storage("a", capacity="1Gi", maximumVolumeSize="10Gi"),
            storage("b", capacity="100Gi", maximumVolumeSize="9Gi"),
            storage("c", capacity="100Gi"),
        ],
        persistentVolumeClaims=[claim("data", storage_class="fast", size="10Gi")],
    )
    assert reasons(answer) == {"a": None, "b": [TOO_SMALL], "c": [NO_VOLUME]}


def test_bound_and_unbound_claims_are_both_reported() -> None:
    answer = decided(
        pod("p", "old", "new"),
        nodes=[node("a", zone="a"), node("b", zone="b")],
        storageClasses=[waiting_class("local")],
        persistentVolumeClaims=[claim("old", to="pv"), claim("new", storage_class="local")],
        persistentVolumes=[volume("pv", zone="a")],
    )
    assert reasons(answer) == {"a": [NO_VOLUME], "b": sorted([OUT_OF_REACH, NO_VOLUME])}


def test_a_pod_with_the_ephemeral_claim_of_another_owner_fails_the_cycle() -> None:
    answer = decided(
        pod("p", "data"),
        nodes=[node("a")],
        csiNodes=[csi_node("a", csi_example_com=1)],
        pods=[pod("q", {"ephemeral": {"volumeClaimTemplate": {}}}, on="a")],
        persistentVolumeClaims=[claim("data", to="pv"), claim("q-v0")],
        persistentVolumes=[volume("pv")],
    )
    text = "PVC default/q-v0 was not created for pod default/q (pod is not owner)"
    assert answer["cycleErrorAnyOf"] == [f'running "NodeVolumeLimits" filter plugin: {text}']
