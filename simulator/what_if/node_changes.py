"""Changes of one node, and one node more. There are thousands of nodes: only those are tried that nothing
else stands against. What is looked for is that this very node then takes the pod."""

from collections.abc import Callable, Iterable, Iterator

from simulator.api import Manifest
from simulator.apiserver.resources import NODES
from simulator.objects.labels import Labels, Requirement
from simulator.objects.node import Node, Taint
from simulator.objects.node_selector import NodeSelectorTerm
from simulator.plugins.node_affinity import NodeAffinity
from simulator.plugins.node_unschedulable import TAINT as UNSCHEDULABLE
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.pod_topology_spread.common import HOSTNAME
from simulator.what_if.edit import Edit, changed, create
from simulator.what_if.obstacles import TAINTS, Obstacles, taint_text
from simulator.what_if.proposal import Proposal, Proposals, of_node
from simulator.what_if.situation import Situation

CONTROLLED = "node.kubernetes.io/"
"""Taints that the node lifecycle controller keeps in step with the node's conditions: to take one away helps
until it looks again. The one of cordoned nodes goes with the cordon."""
VALUES_AT_MOST = 8
"""Topology domains that a node without one is put into, for a try."""
TEMPLATES_AT_MOST = 16
"""Kinds of nodes of which there is tried one more."""


def uncordon(situation: Situation, obstacles: Obstacles) -> Proposals:
    for row in obstacles.only("NodeUnschedulable", TAINTS).tolist():
        if not situation.cluster.unschedulable[row]:
            continue

        def change(new: Manifest) -> None:
            del new["spec"]["unschedulable"]
            _set_taints(new, [t for t in new["spec"].get("taints") or () if t["key"] != UNSCHEDULABLE.key])

        yield of_node(situation, "uncordon", row, "unschedulable", change, before="true")


def taints(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Where there is one taint only that the pod does not tolerate."""
    for row in obstacles.only(TAINTS).tolist():
        against = obstacles.untolerated(row)
        if len(against) != 1 or against[0].key.startswith(CONTROLLED):
            continue

        def change(new: Manifest, taint: Taint = against[0]) -> None:
            kept = [t for t in new["spec"]["taints"] if not _is(t, taint)]
            _set_taints(new, kept)

        text = taint_text(against[0])
        yield of_node(situation, "taint", row, text, change, before=text)


def _is(manifest: Manifest, taint: Taint) -> bool:
    return (manifest["key"], manifest.get("value") or "", manifest["effect"]) == taint


def _set_taints(node: Manifest, taints: list[Manifest]) -> None:
    if taints:
        node["spec"]["taints"] = taints
    else:
        node["spec"].pop("taints", None)


# Labels


def labels(situation: Situation, obstacles: Obstacles) -> Proposals:
    """One label set, or taken away: for a node selector or affinity, or to put the node into a topology
    domain. Those that add a label come before those that change one."""
    rows = obstacles.only("NodeAffinity", "PodTopologySpread", "InterPodAffinity").tolist()
    for overwrites in (False, True):
        for row in rows:
            node = situation.cluster.node(row)
            for key, value in dict.fromkeys(_wanted(situation, node)):
                there = key in node.labels
                if there == overwrites and key != HOSTNAME and not (there and _is_fact(key)):
                    yield _labelled(situation, row, key, value, overwrites)


def _is_fact(key: str) -> bool:
    """Zone, region, architecture, ...: what such a label says of a node can be made up for, but not
    changed."""
    return key.partition("/")[0].endswith("kubernetes.io")


def _labelled(situation: Situation, row: int, key: str, value: str | None, overwrites: bool) -> Proposal:
    def change(new: Manifest) -> None:
        own = new["metadata"].setdefault("labels", {})
        if value is None:
            del own[key]
        else:
            own[key] = value

    before = situation.cluster.node(row).labels.get(key, "")
    made = of_node(situation, "label", row, key, change, before=before, after=value or "")
    return made._replace(measure=0.5 if overwrites else 0)


def _wanted(situation: Situation, node: Node) -> Iterator[tuple[str, str | None]]:
    """Labels that may be what the node lacks: key, and value (None = it must not have it)."""
    for demands in _demands(situation, node):
        keys = {r.key for r in demands if not r.matches(node.labels)}
        if len(keys) == 1:
            [key] = keys
            about = [r for r in demands if r.key == key]
            yield from ((key, value) for value in _values(about))
    for key in _topology_keys(situation):
        if key not in node.labels:
            domains = sorted(value for value in situation.cluster.label(key).values if value is not None)
            yield from ((key, value) for value in domains[:VALUES_AT_MOST])


def _demands(situation: Situation, node: Node) -> Iterator[list[Requirement]]:
    """The ways in which the node can satisfy node selector and affinities, each as all that it takes."""
    pod, framework = situation.pod, situation.framework
    selector = [*pod.node_selector.requirements] if pod.node_selector else []
    plugin = framework.plugins.get("NodeAffinity") if framework else None
    enforced = plugin.added if isinstance(plugin, NodeAffinity) else None
    for own in _terms(pod.node_affinity, node):
        for added in _terms(enforced, node):
            yield [*selector, *own, *added]


def _terms(terms: Iterable[NodeSelectorTerm] | None, node: Node) -> Iterator[tuple[Requirement, ...]]:
    """Those that the node's name does not rule out; without affinity, one that demands nothing."""
    if terms is None:
        yield ()
        return
    for term in terms:
        if not term.empty and NodeSelectorTerm((), term.fields).matches(node.name, {}) is bool(term.fields):
            yield term.expressions


def _values(about: list[Requirement]) -> Iterator[str | None]:
    """Values that satisfy all of these."""
    candidates: list[str | None] = []
    for requirement in about:
        match requirement.operator:
            case "In":
                candidates += requirement.values
            case "Exists":
                candidates.append("true")
            case "Gt" | "Lt" as operator:
                candidates += [str(int(v) + (1 if operator == "Gt" else -1)) for v in requirement.values]
            case _:
                candidates.append(None)
    for value in dict.fromkeys(candidates):
        if all(requirement.matches_value(value) for requirement in about):
            yield value


def _topology_keys(situation: Situation) -> Iterator[str]:
    pod, framework = situation.pod, situation.framework
    plugin = framework.plugins.get("PodTopologySpread") if framework else None
    if isinstance(plugin, PodTopologySpread):
        constraints = plugin.constraints(pod, situation.cluster, "DoNotSchedule")
        yield from (constraint.topology_key for constraint in constraints)
    yield from (term.topology_key for term in pod.affinity.required)


# One more


def more(situation: Situation, obstacles: Obstacles) -> Proposals:
    """One more of each kind of node, the smallest first: with its labels and taints, and empty."""
    cluster = situation.cluster
    templates: dict[object, Node] = {}
    for name in cluster.names():
        node = cluster.node(cluster.rows[name])
        own = frozenset(item for item in node.labels.items() if item[0] != HOSTNAME)
        kind = (frozenset(node.allocatable.items()), node.allowed_pods, own, _kept(node.taints))
        templates.setdefault(kind, node)
    wanted = situation.pod.own_requests

    def size(node: Node) -> tuple[bool, list[int], str]:
        too_small = any(n > node.allocatable.get(resource, 0) for resource, n in wanted.items())
        return too_small, [node.allocatable.get(resource, 0) for resource in cluster.resources], node.name

    chosen = sorted(templates.values(), key=size)[:TEMPLATES_AT_MOST]
    for i, node in enumerate(chosen):
        name = _free_name(situation, node.name)
        yield Proposal(
            "node", name, node.name, "", name, _copy(node, name), measure=i / (TEMPLATES_AT_MOST + 1)
        )


def _kept(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints if not taint.key.startswith(CONTROLLED))


def _free_name(situation: Situation, like: str) -> str:
    number = 2
    while f"{like}-{number}" in situation.cluster.rows:
        number += 1
    return f"{like}-{number}"


def _copy(node: Node, name: str) -> Callable[[], list[Edit]]:
    def make() -> list[Edit]:
        own: Labels = node.labels
        if HOSTNAME in own:
            own = {**own, HOSTNAME: name}
        spec: Manifest = {}
        kept = _kept(node.taints)
        if kept:
            own_taints = changed(node.manifest["spec"])["taints"]
            spec["taints"] = [taint for taint in own_taints if any(_is(taint, k) for k in kept)]
        status = node.manifest.get("status") or {}
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": dict(own)},
            "spec": spec,
            "status": {f: status[f] for f in ("capacity", "allocatable", "images") if f in status},
        }
        return [create(NODES.id, name, manifest)]

    return make
