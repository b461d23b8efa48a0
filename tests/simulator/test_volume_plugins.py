"""Edge cases of the four volume plugins, each as an attempt in a small cluster. The recorded results of the
real scheduler (tests/conformance) cover the others."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.commands.decide import decide
from simulator.commands.decide_input import DecideInput
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.volumes import CSI_NODES, PVCS, PVS, STORAGE_CLASSES
from simulator.plugins.registry import IN_TREE, load
from simulator.plugins.volume_binding.volume_binding import RESERVED
from simulator.scheduler.attempt import Attempt

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
VOLUME_PLUGINS = {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}

NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
TOO_SMALL = "node(s) did not have enough free storage"
IN_USE = "node(s) had no available disk"
TOO_MANY = "node(s) exceed max volume count"


def node(name: str, **labels: str) -> Manifest:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    labels = {ZONE if key == "zone" else key: value for key, value in labels.items()}
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"allocatable": allocatable}}


def pod(name: str, *volumes: Any, on: str = "", priority: int = 0, namespace: str = "default") -> Manifest:
    """A volume is a claim's name or a volume source."""
    sources = [{"persistentVolumeClaim": {"claimName": v}} if isinstance(v, str) else v for v in volumes]
    spec: Manifest = {
        "priority": priority,
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": f"v{i}", **source} for i, source in enumerate(sources)],
    }
    if on:
        spec["nodeName"] = on
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"},
        "spec": spec,
        "status": {"phase": "Running" if on else "Pending", "startTime": "2025-01-01T00:00:00Z"},
    }


def claim(
    name: str, *, to: str = "", storage_class: str = "", size: str = "1Gi", **metadata: Any
) -> Manifest:
    spec: Manifest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if to:
        spec["volumeName"] = to
        metadata.setdefault("annotations", BOUND)
    if storage_class:
        spec["storageClassName"] = storage_class
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": spec,
    }


def volume(name: str, size: str = "1Gi", *, zone: str = "", labels: Any = None, **spec: Any) -> Manifest:
    """An available volume, reachable from nodes of one zone if that is said."""
    if zone:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    if not {"awsElasticBlockStore", "gcePersistentDisk"} & spec.keys():
        spec.setdefault("csi", {"driver": "csi.example.com", "volumeHandle": name})
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], **spec},
        "status": {"phase": "Available"},
    }


def waiting_class(name: str, provisioner: str = "kubernetes.io/no-provisioner", **more: Any) -> Manifest:
    """A storage class whose claims wait for their first consumer."""
    mode = "WaitForFirstConsumer"
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def csi_node(name: str, *, migrated: str = "", **limits: int) -> Manifest:
    drivers = [
        {"name": driver.replace("_", "."), "nodeID": name, "allocatable": {"count": count}}
        for driver, count in limits.items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}


def decided(pending: Manifest, config: Manifest | None = None, **objects: list[Manifest]) -> Manifest:
    return decide(DecideInput("", objects, pending, config))


def reasons(answer: Manifest) -> dict[str, list[str] | None]:
    """Node -> the reason for which it was rejected, None = the pod fits."""
    return {name: status and status["reasons"] for name, status in answer["filter"].items()}


def without(*plugins: str) -> Manifest:
    """A configuration without some plugins."""
    disabled = {"disabled": [{"name": name} for name in plugins]}
    return {"profiles": [{"plugins": {"multiPoint": disabled}}]}


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


def test_what_the_chosen_node_gives_is_known_when_it_is_reserved() -> None:
    cluster = Cluster()
    cluster.add_node(Node.parse(node("a")))
    cluster.set_object(STORAGE_CLASSES, "mixed", waiting_class("mixed", "csi.example.com"))
    for name in ("data", "more"):
        cluster.set_object(PVCS, f"default/{name}", claim(name, storage_class="mixed"))
    cluster.set_object(PVS, "pv", volume("pv", storageClassName="mixed"))
    framework = Framework(load(None).profiles[0], IN_TREE)
    pending = Pod.parse(pod("p", "data", "more"))
    search = Attempt(framework, cluster, pending, {})
    for _ in search.run():
        pass
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


def test_a_bound_volume_that_is_gone_fails_at_volume_zone_and_without_it_at_volume_binding() -> None:
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


def test_a_pod_with_somebody_elses_ephemeral_claim_makes_the_cycle_fail() -> None:
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


def test_where_a_node_has_gone_over_to_csi_zones_go_by_the_drivers_label() -> None:
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
    search = Attempt(Framework(load(None).profiles[0], IN_TREE), cluster, pending, {}, exhaustive=True)
    for _ in search.run():
        pass
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
