"""The columns of a cluster equal those of a new cluster after any history."""

import tracemalloc
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.cluster.cluster import Cluster
from simulator.cluster.node_columns import NodeTree
from simulator.cluster.pod_columns import PodColumns
from simulator.objects.node import Node
from simulator.objects.pod import Pod

Manifest = dict[str, Any]
RESOURCES = ("cpu", "memory", "ephemeral-storage", "example.com/a")

amounts = st.fixed_dictionaries(
    {"cpu": st.sampled_from(["100m", "1"])},
    optional={"memory": st.sampled_from(["1Mi", "1Gi"]), "example.com/a": st.just("2")},
)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Manifest:
    zone = draw(st.sampled_from(["a", "b", ""]))
    taint = {"key": draw(st.sampled_from(["x", "y"])), "effect": "NoSchedule"}
    image = {"names": [draw(st.sampled_from(["i:1", "i:2"]))], "sizeBytes": draw(st.integers(1, 2))}
    return {
        "metadata": {
            "name": name,
            "labels": {"topology.kubernetes.io/zone": zone, "name": name} if zone else {},
        },
        "spec": {"unschedulable": draw(st.booleans()), "taints": [taint] if draw(st.booleans()) else []},
        "status": {
            "allocatable": draw(amounts) | {"pods": "5"},
            "images": [image] if draw(st.booleans()) else [],
        },
    }


@st.composite
def pods(draw: st.DrawFn, name: str, node: str) -> Manifest:
    container: Manifest = {"name": "c", "resources": {"requests": draw(amounts)}}
    if draw(st.booleans()):
        container["ports"] = [{"containerPort": 1, "hostPort": draw(st.sampled_from([80, 81]))}]
    priority = draw(st.integers(0, 2))
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": node, "priority": priority, "containers": [container]},
    }


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, Any]]:
    steps: list[tuple[str, Any]] = []
    for i in range(draw(st.integers(1, 30))):
        node, pod = f"n{draw(st.integers(0, 3))}", f"p{draw(st.integers(0, 8))}"
        step = draw(st.sampled_from(["node", "node", "no node", "pod", "pod", "pod", "no pod", "many"]))
        match step:
            case "node":
                steps.append((step, draw(nodes(node))))
            case "pod":
                steps.append((step, draw(pods(pod, node))))
            case "many":  # more than there are rows, and gone again
                steps.append((step, range(i * 100, i * 100 + 70)))
            case _:
                steps.append((step, node if step == "no node" else f"default/{pod}"))
    return steps


def pictured(cluster: Cluster) -> dict[str, Any]:
    """All columns of a cluster, by node and not by row."""
    index = cluster.index(PodColumns)
    picture: dict[str, Any] = {"order": cluster.names(), "images": {}, "ports": {}}
    for name, row in cluster.rows.items():
        slots, there = index.on(np.array([row]))
        zones = cluster.label("topology.kubernetes.io/zone")
        picture[name] = (
            {
                r: (int(cluster.allocatable.column(r)[row]), int(cluster.requested.column(r)[row]))
                for r in RESOURCES
            },
            cluster.non_zero[:, row].tolist(),
            (int(cluster.allowed_pods[row]), int(cluster.pod_count[row])),
            (bool(cluster.exists[row]), bool(cluster.unschedulable[row])),
            cluster.taints.values[cluster.taints.ids[row]],
            None if zones.ids[row] < 0 else zones.values[zones.ids[row]],
            sorted(cluster.pods_on(row)),
            sorted(
                (pod.key, int(index.priority[slot]), int(index.requests.column("cpu")[slot]))
                for slot, pod in zip(slots[there], index.pods[slots[there]], strict=True)
            ),
        )
    by_row = {row: name for name, row in cluster.rows.items()}
    picture["images"] = {
        name: sorted(by_row[r] for r in image.rows) for name, image in cluster.images.states.items()
    }
    for port, users in cluster.ports.users().items():
        picture["ports"][port] = sorted((by_row[row], count) for row, count in users.items())
    return picture


def without_zeros(picture: dict[str, Any]) -> dict[str, Any]:
    """The columns without resources that are zero for all nodes."""
    return {
        k: ({r: n for r, n in v[0].items() if n != (0, 0)}, *v[1:]) if isinstance(v, tuple) else v
        for k, v in picture.items()
    }


@settings(deadline=None)
@given(histories(), st.booleans())
def test_any_history_leads_to_the_columns_that_a_rebuild_makes(
    history: list[tuple[str, Any]], watched: bool
) -> None:
    cluster = Cluster()
    if watched:  # else these are made at the end, from what is there
        pictured(cluster)
    node_objects: dict[str, Manifest] = {}
    pod_objects: dict[str, Manifest] = {}
    for step, what in history:
        match step:
            case "node":
                cluster.add_node(Node.parse(what))
                node_objects[what["metadata"]["name"]] = what
            case "no node" if what in node_objects:
                cluster.remove_node(what)
                del node_objects[what]
            case "pod":
                pod = Pod.parse(what)
                cluster.add_pod(pod)
                pod_objects[pod.key] = what
            case "no pod" if what in pod_objects:
                cluster.remove_pod(Pod.parse(pod_objects.pop(what)))
            case "many":
                for i in what:
                    cluster.add_node(Node.parse({"metadata": {"name": f"m{i}"}}))
                for i in what:
                    cluster.remove_node(f"m{i}")
    rebuilt = Cluster()
    for manifest in pod_objects.values():
        rebuilt.add_pod(Pod.parse(manifest))
    for manifest in reversed(node_objects.values()):
        rebuilt.add_node(Node.parse(manifest))
    assert without_zeros(pictured(cluster)) == without_zeros(pictured(rebuilt))


def test_a_cached_column_is_computed_again_only_for_changed_nodes() -> None:
    cluster = Cluster()
    for i in range(10):
        cluster.add_node(Node.parse({"metadata": {"name": f"n{i}"}}))
    asked: list[int] = []

    def compute(rows: Any) -> Any:
        chosen = np.arange(cluster.width)[rows]
        asked.extend(chosen.tolist())
        return cluster.pod_count[chosen]

    def pod_on(node: str) -> Pod:
        return Pod.parse({"metadata": {"name": f"p-{node}"}, "spec": {"nodeName": node, "containers": []}})

    pod = pod_on("n3")
    assert cluster.amounts_column("pods", ("cpu",), compute).tolist() == [0] * 10
    cluster.add_pod(pod)
    assert cluster.amounts_column("pods", ("cpu",), compute).tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert asked == [*range(10), 3]
    cluster.add_pod(pod_on("n7"))
    assert cluster.amounts_column("pods", ("cpu",), compute).tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0]
    assert asked == [*range(10), 3], "the node has the same amounts as the one before"
    for i in range(2):
        cluster.add_pod(Pod.parse({"metadata": {"name": f"more-{i}"}, "spec": pod_on("n3").spec}))
    assert cluster.amounts_column("pods", ("cpu",), lambda rows: compute(rows) * 1000).tolist()[3] == 3000
    asked.clear()
    cluster.node_column("nodes", compute)
    cluster.remove_pod(pod)
    cluster.node_column("nodes", compute)
    assert asked == [*range(10)], "a pod does not change the node object"


def test_quantities_beyond_int64_are_capped_and_their_sums_wrap_around_as_upstreams_do() -> None:
    cluster = Cluster()
    cluster.add_node(Node.parse({"metadata": {"name": "n"}, "status": {"allocatable": {"memory": "99E"}}}))
    huge = [{"name": f"c{i}", "resources": {"requests": {"memory": "9E"}}} for i in range(2)]
    pods = [
        Pod.parse({"metadata": {"name": f"p{i}"}, "spec": {"nodeName": "n", "containers": huge}})
        for i in range(2)
    ]
    for pod in pods:
        cluster.add_pod(pod)
    assert cluster.allocatable.column("memory")[0] == (1 << 63) - 1
    assert cluster.requested.column("memory")[0] == -2
    for pod in pods:
        cluster.remove_pod(pod)
    assert cluster.requested.column("memory")[0] == 0
    assert "memory" not in cluster.requested


def test_the_memory_of_a_cluster_grows_with_its_amounts_and_not_with_nodes_times_resources() -> None:
    def memory_of(nodes: list[Node]) -> int:
        tracemalloc.start()
        cluster = Cluster()
        for each in nodes:
            cluster.add_node(each)
        memory = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return memory

    def with_resources_of_their_own(count: int) -> list[Node]:
        allocatable = [{f"example.com/a{i}-{k}": "1" for k in range(20)} for i in range(count)]
        return [
            Node.parse({"metadata": {"name": f"n{i}"}, "status": {"allocatable": each}})
            for i, each in enumerate(allocatable)
        ]

    some, more = (memory_of(with_resources_of_their_own(count)) for count in (200, 400))
    assert more < 2.5 * some


def test_nodes_are_listed_by_zone_in_turn_independent_of_their_order() -> None:
    tree = NodeTree()
    for name, zone in [("n10", "a"), ("n2", "a"), ("n1", "b"), ("n3", "a"), ("n4", "c")]:
        tree.set(name, zone)
    assert tree.list() == ["n2", "n1", "n4", "n3", "n10"]
    tree.set("n4", "b")
    tree.remove("n2")
    assert tree.list() == ["n3", "n1", "n10", "n4"]
