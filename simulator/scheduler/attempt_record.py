"""The record of a scheduling attempt for display: its Decision, and the trace events of the search."""

import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from simulator import decision
from simulator.api import Micros
from simulator.cluster.columns import Ints, Rows, constant
from simulator.cluster.node_names import UNSTORED_NAMES
from simulator.decision import Decision, Failure, PluginScores, TwoPasses
from simulator.decision_columns import UNSTORED, IntColumn, plain_encoder
from simulator.framework.interface import ScorePlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.status import Status
from simulator.kernel.prepared_types import prepared
from simulator.preemption.select_candidate import EVALUATION
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.preemption_record import record_preemption
from simulator.scheduler.shortages import find_shortages
from simulator.trace import Event, Filtered, Scored

log = logging.getLogger(__name__)

NOT_EXPLAINED = ScoreExplanation()

_explained_decoder = msgspec.json.Decoder(prepared(ScoreExplanation))

TWO_PASSES_AT_MOST = 16
"""Maximum number of nodes with nominated pods for which the record has both filter passes."""
EXPLAINED_AT_MOST = 16
"""Maximum number of nodes for which the record has the inputs of their scores: more than a page shows beside
each other."""


def record(
    search: Attempt,
    *,
    now: Micros = 0,
    attempt: int = 1,
    under_way: bool = False,
    before: Decision | None = None,
) -> Decision:
    """Return the Decision of an attempt that ended; ``under_way``: of one that stands between two extension
    points. ``before``: an earlier Decision, with which it shares the columns that are equal.

    To be called before the cluster changes: the inputs of scores and the victims are read from it."""
    cluster = search.cluster
    names = cluster.names()
    verdicts, failures = _verdicts(search)
    position = cluster.position()
    best = _best(search.totals, search.best_places)
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
        verdicts=IntColumn.shared(verdicts, before.verdicts if before else None),
        failures=failures,
        feasible=IntColumn.shared(
            position if search.feasible is cluster.all_rows() else position[search.feasible],
            before.feasible if before else None,
        ),
        scores=_scores(search, best, before.scores if before else []),
        two_passes=_two_passes(search),
        explained=best.tolist(),
        shortages=find_shortages(search, verdicts, failures),
        pre_score_skipped=search.pre_score_skipped,
        totals=UNSTORED if search.scores else IntColumn(search.totals),
        tied=UNSTORED_NAMES,
        selected="" if search.selected is None or search.errors else names[int(position[search.selected])],
        nominated_shortcut=search.nominated_shortcut,
        preemption=preemption(search),
        unschedulable_plugins=sorted(search.diagnosis.unschedulable_plugins),
        message=message(search),
        outcome="" if under_way else _outcome(search),
        hinted=True if search.hinted else UNSET,
    )


def trace_of(search: Attempt, now: Micros = 0) -> Iterator[Event]:
    """Yield the trace events of the search: how many nodes passed the filters, and which node was chosen."""
    cycle, pod = search.state.cycle, search.pod.key
    if search.pre_filter is not None:
        yield Filtered(
            t=now,
            cycle=cycle,
            pod=pod,
            nodes=search.cluster.node_count,
            feasible=len(search.feasible),
            reasons=_reasons(search),
        )
    if search.selected is not None and not search.errors:
        yield Scored(
            t=now,
            cycle=cycle,
            pod=pod,
            node=search.cluster.node(search.selected).name,
            total=int(search.totals[search.best_places[0]]) if len(search.totals) else 0,
            tied=len(search.best),
        )


def _reasons(search: Attempt) -> dict[str, int]:
    """Return a mapping of each reason to the number of nodes that were rejected for it."""
    if not (search.diagnosis.statuses or search.outside is not None):
        return {}
    codes, statuses = _codes(search)
    if codes.max(initial=0) <= 0:
        return {}
    reasons: Counter[str] = Counter()
    for code, times in enumerate(np.bincount(codes[codes > 0]).tolist()):
        if times:
            for reason in statuses[code - 1].reasons:
                reasons[reason] += times
    return dict(sorted(reasons.items()))


def _two_passes(search: Attempt) -> list[TwoPasses]:
    """Return the first nodes with nominations, as far as they were filtered and have pods of equal or higher
    priority."""
    cluster, codes = search.cluster, search.diagnosis.codes
    if not search.filter_passes:
        return []
    nominated = [cluster.rows[name] for name in search.state.nominated if name in cluster.rows]
    rows = [row for row in nominated if codes[row] >= 0][:TWO_PASSES_AT_MOST]
    passes = [search.filter_passes[row] for row in rows if row in search.filter_passes]
    return [
        TwoPasses(cluster.node(row).name, [pod.key for pod in pods], passes_with, passes_without)
        for row, pods, passes_with, passes_without in passes
    ]


def _scores(search: Attempt, best: Rows, before: Sequence[PluginScores]) -> list[PluginScores]:
    """Return each plugin's scores, with their inputs for the best nodes. before: those of an earlier
    Decision."""
    if not search.scores:
        return []
    explanations = _explanations(search, search.feasible[best])
    made = []
    for column, last in zip_longest(search.scores, before[: len(search.scores)]):
        if column.all_zero:
            made.append(
                _zero_scores(column.plugin, column.weight, len(column.raw), int(column.normalized[0]))
            )
            continue
        explained = explanations.get(column.plugin, NOT_EXPLAINED)
        normalized = IntColumn.shared(column.normalized, last.normalized if last else None)
        made.append(
            PluginScores(
                column.plugin,
                column.weight,
                UNSTORED
                if column.raw is column.normalized
                else IntColumn.shared(column.raw, last.raw if last else None),
                normalized,
                strategy=explained.strategy,
                shape=explained.shape,
                inputs=[*explained.inputs],
                terms=[*explained.terms],
            )
        )
    return made


@lru_cache(maxsize=64)
def _zero_scores(plugin: str, weight: int, count: int, normalized: int) -> PluginScores:
    """Return the scores of a plugin whose raw scores are all 0."""
    return PluginScores(plugin, weight, IntColumn(constant(count, 0)), IntColumn(constant(count, normalized)))


def _explanations(search: Attempt, rows: Rows) -> Mapping[str, ScoreExplanation]:
    """Return the explanation of each plugin that gave scores, those of an earlier attempt where nothing that
    they depend on has changed."""
    nodes = NodeBatch(search.cluster, rows)
    kept: dict[ScorePlugin, Hashable] = {}
    others: list[ScorePlugin] = []
    for column in search.scores:
        plugin = None if column.all_zero else search.framework.plugins.get(column.plugin)
        if isinstance(plugin, ScorePlugin):
            key = plugin.explanation_key(search.state, search.pod)
            if key is None:
                others.append(plugin)
            else:
                kept[plugin] = key

    def explain(plugins: Iterable[ScorePlugin]) -> dict[str, ScoreExplanation]:
        return {plugin.name: _explain(plugin, search, nodes) for plugin in plugins}

    found = search.cluster.of_rows(tuple(kept.items()), rows, lambda: explain(kept)) if kept else {}
    return {**found, **explain(others)} if others else found


def _explain(plugin: ScorePlugin, search: Attempt, nodes: NodeBatch) -> ScoreExplanation:
    """Return the plugin's explanation of its scores; an empty one if the plugin raises, which is logged: the
    rest of the record is still useful."""
    try:
        found = plugin.explain(search.state, search.pod, nodes)
        # Read back from JSON, so that what cannot be stored fails here and not when the loop stores it.
        return _explained_decoder.decode(plain_encoder.encode(found)) if any(found) else found
    except Exception as fault:  # any error: explanations are for display only
        log.warning("plugin %s cannot explain its scores of %s", plugin.name, search.pod.key, exc_info=fault)
        return NOT_EXPLAINED


def _best(totals: Ints, top: Rows) -> Rows:
    """Return the indices of the highest totals, the highest first and the first of equal ones first. ``top``:
    those of the highest one."""
    if len(totals) <= EXPLAINED_AT_MOST:
        return np.argsort(-totals, kind="stable")
    if len(top) >= EXPLAINED_AT_MOST:
        return top[:EXPLAINED_AT_MOST]
    lowest = np.partition(totals, -EXPLAINED_AT_MOST)[-EXPLAINED_AT_MOST]
    higher = (totals > lowest).nonzero()[0]
    higher = higher[np.argsort(-totals[higher], kind="stable")]
    equal = (totals == lowest).nonzero()[0]
    return np.concatenate([higher, equal[: EXPLAINED_AT_MOST - len(higher)]])


def message(search: Attempt) -> str:
    """Return the PodScheduled condition's message."""
    return search.errors[0] if search.errors else search.full_message()


def preemption(search: Attempt) -> decision.Preemption | None:
    """Return the record of the preemption, with the status of PostFilter."""
    evaluation, status = search.state.find(EVALUATION), search.post_filter
    if evaluation is None or status is None:
        return None
    return record_preemption(search.state, search.pod, evaluation, status)


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


def _codes(search: Attempt) -> tuple[NDArray[np.int32], list[Status]]:
    """Return the code of each node in the scheduler's order, see :class:`Diagnosis`, and the statuses. The
    last status is that of the nodes which PreFilter results leave out, where there are any."""
    codes, statuses = search.diagnosis.codes, [*search.diagnosis.statuses]
    if search.outside is not None and not search.nominated_shortcut:
        statuses.append(search.diagnosis.absent)
        codes = codes.copy()
        codes[search.outside[codes[search.outside] < 0]] = len(statuses)
    return codes[search.cluster.order()], statuses


def _verdicts(search: Attempt) -> tuple[NDArray[Any], list[Failure]]:
    """Decision.verdicts and Decision.failures: distinct ones, in order of their codes."""
    count = search.cluster.node_count
    if len(search.feasible) == count:
        return constant(count, 0), []
    codes, statuses = _codes(search)
    if codes.max(initial=0) <= 0:
        return codes, []
    by_pre_filter = len(statuses) if len(statuses) > len(search.diagnosis.statuses) else 0
    numbers = np.zeros(len(statuses) + 1, dtype=np.int32)
    places: dict[tuple[object, ...], int] = {}
    failures: list[Failure] = []
    for k in np.flatnonzero(np.bincount(codes[codes > 0])).tolist():
        status = statuses[k - 1]
        failure = Failure(status.plugin, status.code, sorted(status.reasons), k == by_pre_filter)
        # A node with nominated pods has a status of its own, which may say the same as another one.
        key = (failure.plugin, failure.code, *failure.reasons, failure.by_pre_filter)
        if key not in places:
            failures.append(failure)
            places[key] = len(failures)
        numbers[k] = places[key]
    return np.where(codes > 0, numbers[codes], codes), failures
