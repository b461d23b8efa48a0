"""What the scheduler does with its extenders, at each of the four places where it calls them, v1.34."""

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Rows
from simulator.framework.diagnosis import NOT_LOOKED_AT, Diagnosis
from simulator.framework.interface import MAX_NODE_SCORE, unresolvable, unschedulable
from simulator.framework.runtime import ScoreColumns, narrowed
from simulator.objects.pod import Pod
from simulator.preemption.candidates import Candidates, as_columns
from simulator.scheduler.extender import MAX_EXTENDER_PRIORITY, NAME, Extender, ExtenderError, Victims


def passing(extenders: Sequence[Extender], diagnosis: Diagnosis, pod: Pod, rows: Rows) -> Rows:
    """findNodesThatPassExtenders (schedule_one.go): each is asked about the nodes that those before it let
    pass. Raises ExtenderError."""
    cluster = diagnosis.cluster
    for extender in extenders:
        if not len(rows) or not extender.is_interested(pod):
            continue
        try:
            result = extender.filter(pod, [cluster.node(row) for row in rows.tolist()])
        except ExtenderError:
            if extender.ignorable:
                continue
            raise
        passed = np.zeros(cluster.width, dtype=np.bool_)
        passed[[cluster.rows[name] for name in result.passed]] = True
        diagnosis.codes[rows[~passed[rows]]] = NOT_LOOKED_AT
        statuses = {name: unschedulable(message) for name, message in result.failed.items()}
        statuses |= {name: unresolvable(message) for name, message in result.unresolvable.items()}
        for name, status in statuses.items():
            row = cluster.rows.get(name)
            if row is not None and not passed[row]:
                diagnosis.record(np.array([row]), np.ones(1, dtype=np.int64), (status,))
        if not passed[rows].all():
            diagnosis.unschedulable_plugins.add(NAME)
        rows = rows[passed[rows]]
    return rows


def scores(extenders: Sequence[Extender], cluster: Cluster, pod: Pod, rows: Rows) -> Iterator[ScoreColumns]:
    """The extenders' part of prioritizeNodes (schedule_one.go): scores of 0 to 10, brought to 0 to 100. One
    that fails gives none."""
    if not extenders:
        return
    nodes = [cluster.node(row) for row in rows.tolist()]
    for extender in extenders:
        if not extender.config.prioritize_verb or not extender.is_interested(pod):
            continue
        try:
            given = extender.prioritize(pod, nodes)
        except ExtenderError:
            continue
        raw = np.array([given.get(node.name, 0) for node in nodes], dtype=np.int64)
        scaled = raw * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
        yield ScoreColumns(extender.name, extender.config.weight, narrowed(raw), narrowed(scaled))


def candidates_left(
    extenders: Sequence[Extender], cluster: Cluster, pod: Pod, candidates: Candidates
) -> Candidates:
    """callExtenders (framework/preemption/preemption.go): each may strike candidates out, or choose other
    victims. Raises ExtenderError."""
    asked = [e for e in extenders if e.config.preempt_verb and e.is_interested(pod)]
    if not asked or not len(candidates.rows):
        return candidates
    violations = candidates.pdb_violations().tolist()
    victims = {
        cluster.node(row).name: Victims(candidates.victims(i), violations[i])
        for i, row in enumerate(candidates.rows.tolist())
    }
    for extender in asked:
        if not victims:
            break
        try:
            victims = _processed(extender, cluster, pod, victims)
        except ExtenderError:
            if not extender.ignorable:
                raise
    # An extender gives the number of violations, not the pods: which ones they are makes no difference.
    found = [
        (cluster.rows[name], v.pods, {p.key for p in v.pods[: v.pdb_violations]})
        for name, v in victims.items()
    ]
    return as_columns(found)


def _processed(
    extender: Extender, cluster: Cluster, pod: Pod, victims: dict[str, Victims]
) -> dict[str, Victims]:
    left = extender.process_preemption(pod, victims, cluster)
    empty = [name for name, chosen in left.items() if not chosen.pods]
    if empty and not extender.ignorable:
        raise ExtenderError(f'expected at least one victim pod on node "{empty[0]}"')
    return {name: chosen for name, chosen in left.items() if chosen.pods}


def bind(extenders: Sequence[Extender], pod: Pod, node_name: str) -> bool:
    """extendersBinding (schedule_one.go): whether an extender has bound the pod, so that no plugin need.
    Raises ExtenderError."""
    for extender in extenders:
        if not extender.config.bind_verb or not extender.is_interested(pod):
            continue
        try:
            extender.bind(pod, node_name)
        except ExtenderError:
            if extender.ignorable:
                continue
            raise
        return True
    return False
