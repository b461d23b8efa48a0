"""Proposals to change the PodGroup of a gang, and to add as many nodes as it lacks.

The spec of a PodGroup cannot be updated, so it is created again."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from simulator.api import Manifest
from simulator.objects.node import Node
from simulator.objects.pod_group import POD_GROUPS, PodGroup
from simulator.plugins.pod_topology_spread.common import HOSTNAME
from simulator.versions.feature_gates import WORKLOAD_AWARE_PREEMPTION
from simulator.what_if.answer import ChangeKind
from simulator.what_if.edit import Edit, mutable_copy, recreate_object, update_object
from simulator.what_if.gang import GangSituation
from simulator.what_if.node_changes import TEMPLATES_AT_MOST, edits_for_copy, smallest_kinds, unused_name
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.priorities import class_with, propose_levels
from simulator.what_if.proposal import Proposal, Proposals
from simulator.what_if.situation import Situation

KEYS_AT_MOST: Final = 16
"""Maximum number of labels of nodes that are tried as a topology key."""
NODES_AT_MOST: Final = 8
"""Maximum number of nodes that are added together."""
_NODE_TRIES_AT_MOST: Final = 32
"""Maximum number of tries with further nodes."""


def _of_gang(situation: Situation) -> GangSituation:
    assert isinstance(situation, GangSituation), "these stages are searched for gangs only"
    return situation


def propose_min_count(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose the largest number of pods that can have a place at the same time."""
    gang = _of_gang(situation)
    group = gang.group
    needs = group.min_count or 0

    def proposal(count: int) -> Proposal:
        def change(spec: Manifest) -> None:
            spec["schedulingPolicy"] = {"gang": {"minCount": count}}

        share = (needs - count) / needs
        return _proposal(
            group, "min-count", "minCount", change, before=str(needs), after=str(count), measure=share
        )

    with situation.with_changes(edit.change for edit in proposal(1).make()):
        most = gang.most_placed()
    if 0 < most < needs:
        yield proposal(most)


def propose_topologies(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose the other labels of nodes as the topology key, first those with the most values, and then
    none. A label with the same value on all nodes is as none."""
    group = _of_gang(situation).group
    if not group.topology_key:
        return
    values: dict[str, set[str]] = {}
    for row in situation.cluster.order().tolist():
        for key, value in situation.cluster.node(row).labels.items():
            values.setdefault(key, set()).add(value)
    known = (group.topology_key, HOSTNAME)
    others = [key for key, found in values.items() if key not in known and len(found) > 1]
    chosen = sorted(others, key=lambda key: (-len(values[key]), key))[:KEYS_AT_MOST]
    for i, key in enumerate(chosen):

        def change(spec: Manifest, key: str = key) -> None:
            spec["schedulingConstraints"] = {"topology": [{"key": key}]}

        share = i / (KEYS_AT_MOST + 1)
        yield _proposal(
            group, "topology-key", key, change, before=group.topology_key, after=key, measure=share
        )

    def remove(spec: Manifest) -> None:
        spec.pop("schedulingConstraints", None)

    yield _proposal(group, "topology", group.topology_key, remove, before=group.topology_key)


def propose_group_priorities(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose the lowest priority of the group that helps, then the lowest existing PriorityClass from there
    on that helps."""
    group, framework, cluster = _of_gang(situation).group, situation.framework, situation.cluster
    if framework is None or not framework.features.enabled(WORKLOAD_AWARE_PREEMPTION):
        return
    groups = (PodGroup(manifest) for manifest in cluster.objects(POD_GROUPS).values())
    own = (pod.priority for pod in cluster.pods.values())
    levels = {
        priority + 1 for priority in (*own, *(each.priority for each in groups if each.key != group.key))
    }

    def propose(priority: int) -> Proposal:
        name, more = class_with(situation, priority)

        def change(spec: Manifest) -> None:
            spec |= {"priorityClassName": name, "priority": priority}

        before = str(group.priority)
        return _proposal(group, "group-priority", name, change, before=before, after=str(priority), more=more)

    yield from propose_levels(situation, group.priority, levels, propose)


def propose_further_nodes(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose as many further nodes of each kind as suffice: one, then two, and so on."""
    missing = sum(not member.placed for member in _of_gang(situation).as_it_is.members)
    most = min(max(1, missing), NODES_AT_MOST)
    tries = 0
    for i, node in enumerate(smallest_kinds(situation)):
        names: list[str] = []
        for count in range(1, most + 1):
            names.append(unused_name(situation, node.name, names))
            tries += 1
            if tries > _NODE_TRIES_AT_MOST:
                return
            kind: ChangeKind = "node" if count == 1 else "nodes"
            share = i / (TEMPLATES_AT_MOST + 1) if count == 1 else (count - 1) / NODES_AT_MOST
            helped = yield Proposal(
                kind,
                ", ".join(names),
                node.name,
                "",
                names[0] if count == 1 else str(count),
                partial(_copies, node, (*names,)),
                measure=share,
            )
            if helped:
                break


def _copies(node: Node, names: Iterable[str]) -> list[Edit]:
    return [edit for name in names for edit in edits_for_copy(node, name)()]


def _proposal(
    group: PodGroup,
    kind: ChangeKind,
    what: str,
    change: Callable[[Manifest], object],
    *,
    before: str,
    after: str = "",
    measure: float = 0,
    more: list[Edit] | None = None,
) -> Proposal:
    """Return a proposal to change the spec of the PodGroup. Its finalizer, which keeps it while it has pods,
    is removed first."""
    old = group.manifest

    def make() -> list[Edit]:
        bare = mutable_copy(old)
        finalizers = bare["metadata"].pop("finalizers", None)
        new = mutable_copy(bare)
        change(new["spec"])
        freed = [update_object(POD_GROUPS, group.key, old, bare)] if finalizers else []
        return [*(more or ()), *freed, recreate_object(POD_GROUPS, group.key, bare, new)]

    return Proposal(kind, group.key, what, before, after, make, measure=measure)
