"""The calls of the scheduler's extenders."""

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Rows, narrowed
from simulator.framework.diagnosis import NOT_EVALUATED, Diagnosis
from simulator.framework.extender import MAX_EXTENDER_PRIORITY, NAME, Extender, ExtenderError
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.scoring import ScoreColumns
from simulator.framework.status import unresolvable, unschedulable
from simulator.objects.pod import Pod


def passing(extenders: Sequence[Extender], diagnosis: Diagnosis, pod: Pod, rows: Rows) -> Rows:
    """Return the rows that pass all extenders; each gets the nodes that passed those before it
    (findNodesThatPassExtenders in schedule_one.go). Raises ExtenderError."""
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
        diagnosis.codes[rows[~passed[rows]]] = NOT_EVALUATED
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


def let_pass(extenders: Sequence[Extender], cluster: Cluster, pod: Pod, nominated: Rows) -> bool:
    """Whether the extenders let the nominated node pass (evaluateNominatedNode); where one fails, all nodes
    are evaluated."""
    try:
        return bool(len(passing(extenders, Diagnosis(cluster), pod, nominated)))
    except ExtenderError:
        return False


def scores(extenders: Sequence[Extender], cluster: Cluster, pod: Pod, rows: Rows) -> Iterator[ScoreColumns]:
    """Yield the extenders' part of prioritizeNodes (schedule_one.go): their scores of 0 to 10, scaled to 0 to
    100. An extender that fails gives no scores."""
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


def bind(extenders: Sequence[Extender], pod: Pod, node_name: str) -> bool:
    """Whether an extender has bound the pod, so that no plugin has to (extendersBinding in schedule_one.go).
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
