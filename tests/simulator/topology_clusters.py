"""Small random clusters for the plugins that count pods by topology domain, as plain manifests."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from simulator.cluster.cluster import Cluster
from simulator.framework.cycle_state import CycleState
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles

Manifest = dict[str, Any]

NAMESPACES = ("default", "blue", "green")
NAMESPACE_MANIFESTS = [
    {"metadata": {"name": "default"}},
    {"metadata": {"name": "blue", "labels": {"team": "a"}}},
]  # "green" has pods but no Namespace object
HOSTNAME = "kubernetes.io/hostname"
KEYS = (HOSTNAME, "zone", "rack")

labels = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from(["x", "y"]), "tier": st.sampled_from(["1", "2"])}
)
expressions = st.sampled_from(
    [
        {"key": "app", "operator": "In", "values": ["x", "y"]},
        {"key": "app", "operator": "NotIn", "values": ["x"]},
        {"key": "tier", "operator": "Exists"},
        {"key": "tier", "operator": "DoesNotExist"},
    ]
)
selectors = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {}, optional={"matchLabels": labels, "matchExpressions": st.lists(expressions, max_size=1)}
    ),
)
namespace_selectors = st.sampled_from(
    [
        {},
        {"matchLabels": {"team": "a"}},
        {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]},
    ]
)


@st.composite
def nodes(draw: st.DrawFn) -> list[Manifest]:
    found = []
    for i in range(draw(st.integers(1, 7))):
        own = {
            HOSTNAME: f"node-{i}",
            "zone": draw(st.sampled_from(["a", "b", ""])),
            "rack": draw(st.sampled_from("12")),
        }
        for key in draw(st.sets(st.sampled_from(KEYS), max_size=1)):
            del own[key]
        taints = draw(
            st.sampled_from(
                [[], [], [{"key": "k", "effect": "NoSchedule"}], [{"key": "k", "effect": "PreferNoSchedule"}]]
            )
        )
        found.append({"metadata": {"name": f"node-{i}", "labels": own}, "spec": {"taints": taints}})
    return found


def term(topology_key: str, selector: Manifest | None, **more: Any) -> Manifest:
    return {"topologyKey": topology_key, "labelSelector": selector, **more}


terms = st.fixed_dictionaries(
    {"topologyKey": st.sampled_from(KEYS), "labelSelector": selectors},
    optional={
        "namespaces": st.lists(st.sampled_from(NAMESPACES), max_size=2),
        "namespaceSelector": namespace_selectors,
    },
)
weighted_terms = st.fixed_dictionaries({"weight": st.integers(1, 100), "podAffinityTerm": terms})
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
directions = st.fixed_dictionaries(
    {}, optional={REQUIRED: st.lists(terms, max_size=2), PREFERRED: st.lists(weighted_terms, max_size=2)}
)
affinities = st.fixed_dictionaries({}, optional={"podAffinity": directions, "podAntiAffinity": directions})


@st.composite
def pods(draw: st.DrawFn, name: str, node_name: str = "", **spec: Any) -> Manifest:
    metadata: Manifest = {
        "name": name,
        "namespace": draw(st.sampled_from(NAMESPACES)),
        "labels": draw(labels),
        "uid": name,
    }
    if node_name and draw(st.integers(0, 5)) == 0:
        metadata["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    return {
        "metadata": metadata,
        "spec": {"nodeName": node_name, "affinity": draw(affinities), "containers": [], **spec},
    }


@st.composite
def bound_pods(draw: st.DrawFn, node_count: int, most: int = 12) -> list[Manifest]:
    """Some of them on a node that does not exist."""
    count = draw(st.integers(0, most))
    return [draw(pods(f"p{i}", f"node-{draw(st.integers(0, node_count))}")) for i in range(count)]


def cluster_of(
    nodes: Iterable[Manifest], pods: Iterable[Manifest] = (), **objects: Iterable[Manifest]
) -> Cluster:
    """``objects``: lists of further manifests by resource, namespaced ones under the key ``ns/name``."""
    cluster = Cluster()
    for manifest in nodes:
        cluster.add_node(Node.parse(manifest))
    for manifest in pods:
        cluster.add_pod(Pod.parse(manifest))
    for manifest in NAMESPACE_MANIFESTS:
        cluster.set_object("namespaces", manifest["metadata"]["name"], manifest)
    for resource, manifests in objects.items():
        for manifest in manifests:
            metadata = manifest["metadata"]
            cluster.set_object(resource, f"{metadata['namespace']}/{metadata['name']}", manifest)
    return cluster


def default_framework(args: Manifest | None = None, plugin: str = "") -> Framework:
    """The default profile, one plugin perhaps with other arguments."""
    config = None
    if plugin:
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}],
        }
    return profiles(load(config))["default-scheduler"]


def fresh_state(cluster: Cluster) -> CycleState:
    return CycleState(cluster)


def selects(selector: Manifest | None, own: dict[str, str]) -> bool:
    """A label selector, spelled out."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if own.get(key) != value:
            return False
    for expression in selector.get("matchExpressions") or ():
        has = expression["key"] in own
        among = own.get(expression["key"]) in expression.get("values", ())
        if not {"In": among, "NotIn": not among, "Exists": has, "DoesNotExist": not has}[
            expression["operator"]
        ]:
            return False
    return True
