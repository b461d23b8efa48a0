"""The record of a scheduling attempt: its columns as plain data, for the store and for people."""

from typing import Literal

import msgspec
import numpy as np

from simulator import decision
from simulator.api import Micros
from simulator.cluster.columns import Ints, Rows
from simulator.decision import Decision, Failure, PluginScores, TwoPasses
from simulator.framework.interface import Explained, PluginError, ScorePlugin
from simulator.framework.node_batch import NodeBatch
from simulator.scheduler.attempt import Attempt

TWO_PASSES_AT_MOST = 16
"""Nodes with nominated pods of which both passes are kept."""
EXPLAINED_AT_MOST = 16
"""Nodes for which it is kept what their scores come from: more than a screen sets side by side."""


def record(search: Attempt, *, now: Micros = 0, attempt: int = 1, under_way: bool = False) -> Decision:
    """The whole attempt as plain data; or, ``under_way``, as much of it as is known."""
    cluster = search.cluster
    names = cluster.names()
    verdicts, failures = _verdicts(search)
    position = cluster.position()
    best = np.argsort(-search.totals, kind="stable")[:EXPLAINED_AT_MOST]
    return Decision(
        cycle=search.state.cycle,
        t=now,
        pod=search.pod.key,
        uid=search.pod.uid,
        attempt=attempt,
        profile=search.framework.scheduler_name,
        priority=search.pod.priority,
        requests=search.pod.requests,
        nodes=names,
        pre_filter=_pre_filter(search),
        filter_plugins=[
            p.name for p in search.framework.filter_plugins if p.name not in search.state.skip_filter
        ],
        verdicts=verdicts.tolist(),
        failures=failures,
        feasible=position[search.feasible].tolist(),
        scores=_scores(search, best),
        two_passes=_two_passes(search),
        explained=best.tolist(),
        pre_score_skipped=search.pre_score_skipped,
        totals=search.totals.tolist(),
        tied=[names[i] for i in sorted(position[search.best].tolist())],
        selected="" if search.selected is None or search.errors else names[int(position[search.selected])],
        nominated_shortcut=search.nominated_shortcut,
        preemption=preemption(search),
        unschedulable_plugins=sorted(search.diagnosis.unschedulable_plugins),
        message=message(search),
        outcome="" if under_way else _outcome(search),
    )


def _two_passes(search: Attempt) -> list[TwoPasses]:
    """Of the nodes that were looked at."""
    cluster, state, codes = search.cluster, search.state, search.diagnosis.codes
    named = [cluster.rows[name] for name in state.nominated if name in cluster.rows]
    rows = np.array([row for row in named if codes[row] >= 0][:TWO_PASSES_AT_MOST], dtype=np.intp)
    if not len(rows) or search.pre_filter is None:
        return []
    try:
        passes = search.framework.two_passes(state, search.pod, NodeBatch(cluster, rows))
    except PluginError:
        return []  # the attempt itself says so
    return [
        TwoPasses(cluster.node(int(rows[i])).name, [pod.key for pod in nominated], not first, not second)
        for i, nominated, first, second in passes
    ]


def _scores(search: Attempt, best: Rows) -> list[PluginScores]:
    """With what the best nodes were scored by, as long as the cluster is as it was."""
    plugins = search.framework.plugins
    batch = NodeBatch(search.cluster, search.feasible[best])
    made = []
    for column in search.scores:
        plugin = plugins.get(column.plugin)
        explained = Explained()
        if isinstance(plugin, ScorePlugin):
            explained = plugin.explain(search.state, search.pod, batch)
        values = column.raw.tolist(), column.normalized.tolist(), column.weighted().tolist()
        made.append(
            PluginScores(
                column.plugin,
                column.weight,
                *values,
                explained.strategy,
                explained.shape,
                [*explained.inputs],
                [*explained.terms],
            )
        )
    return made


def message(search: Attempt) -> str:
    """The PodScheduled condition's message."""
    if search.errors:
        return search.errors[0]
    status = search.post_filter
    if status is None or status.code == "Success" or not status.message:
        return search.message
    return f"{search.message} {status.message}"


def preemption(search: Attempt) -> decision.Preemption | None:
    """The record of preemption, with what PostFilter as a whole came to."""
    if search.preemption is None or search.post_filter is None:
        return None
    status = search.post_filter
    return msgspec.structs.replace(
        search.preemption(), code=status.code, plugin=status.plugin, message=status.message
    )


def _outcome(search: Attempt) -> Literal["scheduled", "unschedulable", "preempting", "error"]:
    if search.errors:
        return "error"
    if search.selected is not None:
        return "scheduled"
    return "preempting" if search.nominated_node else "unschedulable"


def _pre_filter(search: Attempt) -> decision.PreFilter | None:
    outcome = search.pre_filter
    if outcome is None:
        return None
    status = outcome.status
    return decision.PreFilter(
        code="Success" if status is None else status.code,
        plugin="" if status is None else status.plugin,
        reasons=[] if status is None else sorted(status.reasons),
        node_names=None if outcome.node_names is None else sorted(outcome.node_names),
        skipped=outcome.skipped,
    )


def _verdicts(search: Attempt) -> tuple[Ints, list[Failure]]:
    """Verdicts in the order of the nodes, and the failures that occur in them, in order of their numbers."""
    codes, statuses = search.diagnosis.codes, list(search.diagnosis.statuses)
    by_pre_filter = 0
    if search.outside is not None and not search.nominated_shortcut:
        statuses.append(search.diagnosis.absent)
        by_pre_filter = len(statuses)
        unseen = search.outside[codes[search.outside] < 0]
        codes = codes.copy()
        codes[unseen] = by_pre_filter
    codes = codes[search.cluster.order()]
    used = np.flatnonzero(np.bincount(codes[codes > 0], minlength=1))
    numbers = np.zeros(len(statuses) + 1, dtype=np.int64)
    numbers[used] = np.arange(1, len(used) + 1)
    failures = [
        Failure(s.plugin, s.code, sorted(s.reasons), k == by_pre_filter)
        for k in used.tolist()
        for s in (statuses[k - 1],)
    ]
    return np.where(codes > 0, numbers[codes], codes), failures
