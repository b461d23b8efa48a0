"""Proposals to change one node, or to add one. Because there may be thousands of nodes, a change is only
proposed for nodes that no other filter plugin rejects."""

from collections.abc import Callable, Collection, Iterable, Iterator

from simulator.api import Manifest
from simulator.apiserver.names import LABEL_LENGTH
from simulator.apiserver.resources import NODES
from simulator.objects.labels import Labels, Requirement
from simulator.objects.node import Node, Taint, format_taint
from simulator.objects.node_selector import NodeSelectorTerm
from simulator.objects.pod_requests import BASIC_RESOURCES
from simulator.plugins.node_affinity import NodeAffinity
from simulator.plugins.node_unschedulable import TAINT as UNSCHEDULABLE
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.pod_topology_spread.common import HOSTNAME
from simulator.what_if.edit import Edit, create_object, mutable_copy
from simulator.what_if.obstacles import TAINTS, Obstacles
from simulator.what_if.proposal import Proposal, Proposals, node_proposal
from simulator.what_if.situation import Situation

CONTROLLED_TAINT_PREFIX = "node.kubernetes.io/"
"""Prefix of taints that the node lifecycle controller sets according to the node's conditions. It would set a
removed one again. The taint of cordoned nodes is removed by uncordoning."""
VALUES_AT_MOST = 8
"""Maximum number of topology domains that are tried for a node without the topology label."""
TEMPLATES_AT_MOST = 16
"""Maximum number of kinds of nodes of which a further node is tried."""


def propose_uncordon(situation: Situation, obstacles: Obstacles) -> Proposals:
    for row in obstacles.only("NodeUnschedulable", TAINTS).tolist():
        if not situation.cluster.unschedulable[row]:
            continue

        def change(new: Manifest) -> None:
            del new["spec"]["unschedulable"]
            _set_taints(new, [t for t in new["spec"].get("taints") or () if t["key"] != UNSCHEDULABLE.key])

        yield node_proposal(situation, "uncordon", row, "unschedulable", change, before="true")


def propose_taint_removals(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to remove a taint, on nodes with only one taint that the pod does not tolerate."""
    for row in obstacles.only(TAINTS).tolist():
        against = obstacles.untolerated(row)
        if len(against) > 1 + obstacles.others:
            continue
        for taint in against:
            if taint.key.startswith(CONTROLLED_TAINT_PREFIX):
                continue

            def change(new: Manifest, taint: Taint = taint) -> None:
                kept = [t for t in new["spec"]["taints"] if not _is_same_taint(t, taint)]
                _set_taints(new, kept)

            text = format_taint(*taint)
            yield node_proposal(situation, "taint", row, text, change, before=text)


def _is_same_taint(manifest: Manifest, taint: Taint) -> bool:
    return (manifest["key"], manifest.get("value") or "", manifest["effect"]) == taint


def _set_taints(node: Manifest, taints: list[Manifest]) -> None:
    if taints:
        node["spec"]["taints"] = taints
    else:
        node["spec"].pop("taints", None)


# Labels


def propose_labels(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to set or remove one label, so that the node matches a node selector or affinity, or belongs to
    a topology domain. Added labels are proposed before changed ones."""
    rows = obstacles.only("NodeAffinity", "PodTopologySpread", "InterPodAffinity").tolist()
    for overwrites in (False, True):
        for row in rows:
            node = situation.cluster.node(row)
            for key, value in dict.fromkeys(_candidate_labels(situation, node, 1 + obstacles.others)):
                there = key in node.labels
                if there == overwrites and key != HOSTNAME and not (there and _has_owner(key)):
                    yield _label_proposal(situation, row, key, value, overwrites)


def _has_owner(key: str) -> bool:
    """Whether the label belongs to a component, which would set it again or go by the old value: the zone and
    the instance type to the cloud, a node pool to its autoscaler. Such a label may be added, but neither
    changed nor removed. By the rules of label keys, only keys without a prefix are the user's own: components
    must use a prefix."""
    return "/" in key


def _label_proposal(
    situation: Situation, row: int, key: str, value: str | None, overwrites: bool
) -> Proposal:
    def change(new: Manifest) -> None:
        own = new["metadata"].setdefault("labels", {})
        if value is None:
            del own[key]
        else:
            own[key] = value

    before = situation.cluster.node(row).labels.get(key, "")
    made = node_proposal(situation, "label", row, key, change, before=before, after=value or "")
    return made._replace(measure=0.5 if overwrites else 0)


def _candidate_labels(
    situation: Situation, node: Node, keys_at_most: int
) -> Iterator[tuple[str, str | None]]:
    """Yield the labels (key, value) that the node may need; value None = the label must be removed. Of
    demands on more than ``keys_at_most`` labels, none is yielded."""
    for demands in _requirement_sets(situation, node):
        keys = dict.fromkeys(r.key for r in demands if not r.matches(node.labels))
        for key in keys if len(keys) <= keys_at_most else ():
            about = [r for r in demands if r.key == key]
            yield from ((key, value) for value in _satisfying_values(about))
    for key in _topology_keys(situation):
        if key not in node.labels:
            domains = sorted(value for value in situation.cluster.label(key).values if value is not None)
            yield from ((key, value) for value in domains[:VALUES_AT_MOST])


def _requirement_sets(situation: Situation, node: Node) -> Iterator[list[Requirement]]:
    """Yield the alternative sets of requirements of which the node must satisfy one: the node selector, plus
    one term of the pod's affinity, plus one term of the profile's addedAffinity."""
    pod, framework = situation.pod, situation.framework
    selector = [*pod.node_selector.requirements] if pod.node_selector else []
    plugin = framework.plugins.get("NodeAffinity") if framework else None
    enforced = plugin.added if isinstance(plugin, NodeAffinity) else None
    for own in _matching_terms(pod.node_affinity, node):
        for added in _matching_terms(enforced, node):
            yield [*selector, *own, *added]


def _matching_terms(
    terms: Iterable[NodeSelectorTerm] | None, node: Node
) -> Iterator[tuple[Requirement, ...]]:
    """Yield the expressions of the terms whose field selectors match the node; without affinity, no
    requirement."""
    if terms is None:
        yield ()
        return
    for term in terms:
        if not term.empty and NodeSelectorTerm((), term.fields).matches(node.name, {}) is bool(term.fields):
            yield term.expressions


def _satisfying_values(about: list[Requirement]) -> Iterator[str | None]:
    """Yield label values that satisfy all requirements; None = without the label."""
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


# Further nodes


def propose_nodes(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose one further node of each kind, the smallest first, with the same labels and taints and without
    pods."""
    for i, node in enumerate(smallest_kinds(situation)):
        name = unused_name(situation, node.name)
        yield Proposal(
            "node",
            name,
            node.name,
            "",
            name,
            edits_for_copy(node, name),
            measure=i / (TEMPLATES_AT_MOST + 1),
        )


def smallest_kinds(situation: Situation) -> list[Node]:
    """Return one node of each kind, the smallest first, but last those that are too small for the pod."""
    cluster = situation.cluster
    templates: dict[object, Node] = {}
    for name in cluster.names():
        node = cluster.node(cluster.rows[name])
        own = frozenset(item for item in node.labels.items() if item[0] != HOSTNAME)
        kind = (frozenset(node.allocatable.items()), node.allowed_pods, own, _permanent_taints(node.taints))
        templates.setdefault(kind, node)
    wanted = situation.pod.own_requests

    def size(node: Node) -> tuple[bool, list[int], list[tuple[str, int]], str]:
        too_small = any(n > node.allocatable.get(resource, 0) for resource, n in wanted.items())
        others = sorted(item for item in node.allocatable.items() if item[0] not in BASIC_RESOURCES)
        return too_small, [node.allocatable.get(name, 0) for name in BASIC_RESOURCES], others, node.name

    return sorted(templates.values(), key=size)[:TEMPLATES_AT_MOST]


def _permanent_taints(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints if not taint.key.startswith(CONTROLLED_TAINT_PREFIX))


def unused_name(situation: Situation, like: str, taken: Collection[str] = ()) -> str:
    """Return the name of a node with a number behind the name of the host, before its domain, so that the
    names of both nodes also differ where the domain is left out. Nor does it differ by a hyphen only from the
    name of another node. ``taken``: names that are not free either."""
    host, dot, domain = like.partition(".")
    if host.isdigit():  # an IP address, not a host in a domain
        host, dot, domain = like, "", ""
    number = 2
    used = {*situation.cluster.rows, *taken}
    while not used.isdisjoint(f"{host}{hyphen}{number}{dot}{domain}" for hyphen in ("-", "")):
        number += 1
    return f"{host}-{number}{dot}{domain}"


def edits_for_copy(node: Node, name: str) -> Callable[[], list[Edit]]:
    def make() -> list[Edit]:
        own: Labels = node.labels
        if HOSTNAME in own:
            own = {**own, HOSTNAME: name if len(name) <= LABEL_LENGTH else name.partition(".")[0]}
        spec: Manifest = {}
        kept = _permanent_taints(node.taints)
        if kept:
            own_taints = mutable_copy(node.manifest["spec"])["taints"]
            spec["taints"] = [taint for taint in own_taints if any(_is_same_taint(taint, k) for k in kept)]
        status = node.manifest.get("status") or {}
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": dict(own)},
            "spec": spec,
            "status": {f: status[f] for f in ("capacity", "allocatable", "images") if f in status},
        }
        return [create_object(NODES.id, name, manifest)]

    return make
