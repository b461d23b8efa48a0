"""VolumeBinding over columns, compared with a reference that, like upstream's binder, checks one node and one
claim after the other."""

from typing import Any, NamedTuple

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from simulator.cluster.cluster import Cluster
from simulator.framework.node_batch import NodeBatch
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.volumes import CSI_DRIVERS, CSI_STORAGE_CAPACITIES, PVCS, PVS, STORAGE_CLASSES
from simulator.plugins.volume_binding.binder import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    PV_NOT_EXIST,
    find_pod_volumes,
)
from simulator.plugins.volume_binding.claims import pod_volume_claims

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODES = {"n0": "a", "n1": "a", "n2": "b", "n3": ""}
DRIVER = "csi.example.com"


class Place(NamedTuple):
    """A label and the values that it may have; no values = anywhere."""

    key: str
    values: tuple[str, ...]

    def reached_from(self, node: str) -> bool:
        return not self.values or {HOST: node, ZONE: NODES[node] or None}[self.key] in self.values


class Volume(NamedTuple):
    name: str
    size: int
    place: Place
    storage_class: str
    reserved_for: str
    available: bool
    fast: bool


class Claim(NamedTuple):
    """``bound`` names a volume, which need not exist; ``selected`` a node."""

    name: str
    size: int
    storage_class: str
    bound: str
    selected: str
    fast: bool


PLACES = st.one_of(
    st.just(Place(ZONE, ())),
    st.builds(
        Place, st.just(HOST), st.lists(st.sampled_from(list(NODES)), min_size=1, max_size=2).map(tuple)
    ),
    st.builds(Place, st.just(ZONE), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2).map(tuple)),
)
CLASSES = st.sampled_from(["local", "dynamic"])
VOLUMES = st.lists(
    st.builds(
        Volume,
        st.just(""),
        st.integers(1, 3),
        PLACES,
        CLASSES,
        st.sampled_from(["", "", "", "c0", "c1", "else"]),
        st.integers(0, 4).map(bool),
        st.booleans(),
    ),
    max_size=6,
).map(lambda volumes: [v._replace(name=f"v{i}") for i, v in enumerate(volumes)])
CLAIMS = st.lists(
    st.builds(
        Claim,
        st.just(""),
        st.integers(1, 3),
        CLASSES,
        st.sampled_from(["", "", "", "v0", "v9"]),
        st.sampled_from(["", "", "", "n1"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
).map(lambda claims: [c._replace(name=f"c{i}") for i, c in enumerate(claims)])
CAPACITIES = st.lists(st.tuples(PLACES, st.integers(1, 3)), max_size=3)


def cluster_of(
    volumes: list[Volume], claims: list[Claim], topology: Place, capacities: list[tuple[Place, int]]
) -> Cluster:
    cluster = Cluster()
    for name, zone in NODES.items():
        labels = {HOST: name} | ({ZONE: zone} if zone else {})
        cluster.add_node(Node.parse({"metadata": {"name": name, "labels": labels}}))
    for v in volumes:
        spec: dict[str, Any] = {
            "capacity": {"storage": f"{v.size}Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": v.storage_class,
        }
        if v.place.values:
            spec["nodeAffinity"] = {
                "required": {"nodeSelectorTerms": [{"matchExpressions": [wanted(v.place)]}]}
            }
        if v.reserved_for:
            spec["claimRef"] = {"namespace": "default", "name": v.reserved_for}
        cluster.set_object(
            PVS,
            v.name,
            {
                "metadata": {"name": v.name, "labels": {"speed": "fast" if v.fast else "slow"}},
                "spec": spec,
                "status": {"phase": "Available" if v.available else "Pending"},
            },
        )
    for c in claims:
        annotations = {"pv.kubernetes.io/bind-completed": "yes"} if c.bound else {}
        if c.selected:
            annotations["volume.kubernetes.io/selected-node"] = c.selected
        spec = {
            "resources": {"requests": {"storage": f"{c.size}Gi"}},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": c.storage_class,
            "volumeName": c.bound,
        }
        if c.fast:
            spec["selector"] = {"matchLabels": {"speed": "fast"}}
        cluster.set_object(
            PVCS,
            f"default/{c.name}",
            {"metadata": {"name": c.name, "annotations": annotations}, "spec": spec},
        )
    waiting = {"volumeBindingMode": "WaitForFirstConsumer"}
    no_provisioner = "kubernetes.io/no-provisioner"
    cluster.set_object(
        STORAGE_CLASSES, "local", {"metadata": {"name": "local"}, "provisioner": no_provisioner, **waiting}
    )
    terms = [{"matchLabelExpressions": [wanted(topology)]}] if topology.values else []
    cluster.set_object(
        STORAGE_CLASSES,
        "dynamic",
        {"metadata": {"name": "dynamic"}, "provisioner": DRIVER, "allowedTopologies": terms, **waiting},
    )
    if capacities:
        cluster.set_object(
            CSI_DRIVERS, DRIVER, {"metadata": {"name": DRIVER}, "spec": {"storageCapacity": True}}
        )
    for i, (place, size) in enumerate(capacities):
        node_topology = {"matchExpressions": [wanted(place)]} if place.values else {}
        cluster.set_object(
            CSI_STORAGE_CAPACITIES,
            f"csi/{i}",
            {"storageClassName": "dynamic", "capacity": f"{size}Gi", "nodeTopology": node_topology},
        )
    return cluster


def wanted(place: Place) -> dict[str, Any]:
    return {"key": place.key, "operator": "In", "values": list(place.values)}


def conflicts_on(
    node: str,
    volumes: list[Volume],
    claims: list[Claim],
    topology: Place,
    capacities: list[tuple[Place, int]],
) -> int:
    """FindPodVolumes, step by step."""
    found = 0
    by_name = {v.name: v for v in volumes}
    for claim in (c for c in claims if c.bound):
        if claim.bound not in by_name:
            found |= PV_NOT_EXIST
            break
        if not by_name[claim.bound].place.reached_from(node):
            found |= NODE_CONFLICT
            break
    to_bind = [c for c in claims if not c.bound]
    if any(c.selected and c.selected != node for c in to_bind):
        return found | BIND_CONFLICT
    provision = [c for c in to_bind if c.selected]
    taken: set[str] = set()
    unmatched = False
    for claim in sorted((c for c in to_bind if not c.selected), key=lambda c: c.size):
        pick = find_matching(node, claim, [v for v in volumes if v.name not in taken])
        if pick is None:
            provision.append(claim)
            unmatched = True
        else:
            taken.add(pick)
    if not provision:
        assert not unmatched
        return found
    for claim in provision:
        if claim.storage_class == "local" or not topology.reached_from(node):
            return found | BIND_CONFLICT
        if capacities and not any(p.reached_from(node) and size >= claim.size for p, size in capacities):
            return found | NOT_ENOUGH_SPACE
    return found


def find_matching(node: str, claim: Claim, volumes: list[Volume]) -> str | None:
    """FindMatchingVolume, where volumes of one size are taken by name."""
    smallest: Volume | None = None
    for v in sorted(volumes, key=lambda v: (v.reserved_for != claim.name, v.name)):
        if v.storage_class != claim.storage_class or v.reserved_for not in ("", claim.name):
            continue
        if v.size < claim.size:
            continue
        if v.reserved_for:
            if not v.place.reached_from(node):
                return None
            return v.name
        if not v.available or (claim.fast and not v.fast) or not v.place.reached_from(node):
            continue
        if smallest is None or v.size < smallest.size:
            smallest = v
    return smallest.name if smallest else None


def once_reserved(volumes: list[Volume]) -> list[Volume]:
    """At most one volume is reserved for a claim: of several, upstream takes any."""
    first = {v.reserved_for: v.name for v in reversed(volumes)}
    return [v if first[v.reserved_for] == v.name else v._replace(reserved_for="") for v in volumes]


@given(VOLUMES.map(once_reserved), CLAIMS, PLACES, CAPACITIES)
def test_every_node_gets_the_verdict_of_the_reference(
    volumes: list[Volume], claims: list[Claim], topology: Place, capacities: list[tuple[Place, int]]
) -> None:
    cluster = cluster_of(volumes, claims, topology, capacities)
    sources = [{"name": c.name, "persistentVolumeClaim": {"claimName": c.name}} for c in claims]
    pod = Pod.parse({"metadata": {"name": "p"}, "spec": {"containers": [], "volumes": sources}})
    wanted_claims = pod_volume_claims(cluster, pod)
    assert not wanted_claims.unbound_immediate
    expected = [conflicts_on(name, volumes, claims, topology, capacities) for name in NODES]
    rows = np.array([cluster.rows[name] for name in NODES])
    for nodes in (NodeBatch(cluster), NodeBatch(cluster, rows), NodeBatch(cluster, rows[::-1])):
        found = find_pod_volumes(nodes, wanted_claims)
        assert not found.faults
        by_name = {nodes.node(i).name: int(code) for i, code in enumerate(found.conflicts)}
        assert [by_name[name] for name in NODES] == expected
