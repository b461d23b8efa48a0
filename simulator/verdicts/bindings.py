"""The verdict on a node that a scheduler chose, in one state of the cluster."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from simulator.cluster.columns import Rows
from simulator.framework.runtime import Framework
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.scheduler.schedule_result import enough_feasible_nodes
from simulator.trace.verdicts import JudgedScore, Verdict
from simulator.verdict_words import UNTRIED
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.what_if.situation import Situation

SAMPLES_AT_MOST: Final = 12
"""Maximum number of samples of nodes that are tried for one binding."""


class BindingFinding(NamedTuple):
    """The fields of a :class:`simulator.trace.BindingJudged` that depend on the state alone."""

    verdict: Verdict
    best: str = ""
    total: int = 0
    best_total: int = 0
    scores: tuple[JudgedScore, ...] = ()
    equal: int = 0
    plugin: str = ""
    reason: str = ""
    first: str = ""
    looked_at: int = 0

    @property
    def fits(self) -> bool:
        """Whether no other state need be tried."""
        return self.verdict not in ("differs", "impossible") and self.reason not in UNTRIED


def judge_binding(
    scheduler: JudgedScheduler,
    situation: Situation,
    node: str,
    *,
    samples: bool,
    placement: Rows | None = None,
) -> BindingFinding:
    """Return the verdict on a binding of the situation's pod. ``samples``: whether samples of the nodes are
    tried, each of which takes an attempt; ``placement``: the rows of the nodes among which its group is
    placed, None = all."""
    pod, framework = situation.pod, situation.framework
    if framework is None:
        return BindingFinding("not this scheduler", reason=pod.scheduler_name)
    gate = framework.run_pre_enqueue(pod)
    if gate is not None:
        return BindingFinding("impossible", plugin=gate.plugin, reason=gate.message)
    made = run_attempt(situation, framework, placement=placement)
    cluster = situation.cluster
    best = "" if made.selected is None else cluster.node(made.selected).name
    row = cluster.rows.get(node)
    if row is None:
        return BindingFinding("impossible", best, reason=f"there is no node {node}")
    if made.errors:
        return BindingFinding("impossible", reason=made.errors[0])
    place = np.flatnonzero(made.feasible == row)
    if not len(place):
        return _rejected(made, node, best)
    equal = len(made.best) if len(made.totals) else 0
    if row in made.best:
        total = int(made.totals.max()) if len(made.totals) else 0
        return BindingFinding("tie" if equal > 1 else "agrees", "", total, total, (), equal)
    assert made.selected is not None
    theirs, ours = int(place[0]), int(np.flatnonzero(made.feasible == made.selected)[0])
    found = BindingFinding(
        "differs",
        best,
        int(made.totals[theirs]),
        int(made.totals[ours]),
        tuple(_differences(made, theirs, ours)),
        equal,
    )
    sampling = scheduler.sampling[pod.scheduler_name]
    sample = _find_sample(sampling, situation, made, row) if samples and placement is None else None
    if sample is not None:
        first, looked_at = sample
        return found._replace(verdict="sampled", first=first, looked_at=looked_at)
    return found


def run_attempt(
    situation: Situation, framework: Framework, start: int = 0, *, placement: Rows | None = None
) -> Attempt:
    """Return the model's attempt. ``start``: the index of the node at which the search begins; ``placement``:
    the rows of the nodes that are looked at, None = all."""
    made = Attempt(
        framework,
        situation.cluster,
        situation.pod,
        situation.nominated,
        start_node_index=start,
        placement=placement,
    )
    return made.complete()


def _rejected(made: Attempt, node: str, best: str) -> BindingFinding:
    """Return the verdict on a node that is not among the feasible ones."""
    status = made.pre_filter.status if made.pre_filter else None
    if status is None:
        row = made.cluster.rows[node]
        if made.nominated_shortcut:
            reason = f"the pod is nominated to {best}, which passes the filters"
            return BindingFinding("differs", best, reason=reason)
        if made.outside is not None and row in made.outside:
            status = made.diagnosis.absent
        else:
            status = made.diagnosis.status_of(node)
    if status is None:  # an extender removed it
        return BindingFinding("impossible", best, reason=message(made))
    return BindingFinding("impossible", best, plugin=status.plugin, reason=status.message)


def _differences(made: Attempt, theirs: int, ours: int) -> Iterator[JudgedScore]:
    for column in made.scores:
        weighted = column.weighted()
        if weighted[theirs] != weighted[ours]:
            yield JudgedScore(column.plugin, int(weighted[theirs]), int(weighted[ours]))


# Samples


def _find_sample(
    framework: Framework, situation: Situation, whole: Attempt, row: int
) -> tuple[str, int] | None:
    """Return a node at which a search can begin that ends with the node in ``row`` as the best one, and how
    many nodes are scored then. None = there is none among those that are tried, or all nodes are scored.

    Nodes are looked at from one on, round the cluster, until enough are feasible."""
    cluster = situation.cluster
    order = cluster.order()
    enough = enough_feasible_nodes(framework, len(order), exhaustive=False)
    if enough >= len(whole.feasible):
        return None
    totals = np.full(cluster.width, -1, dtype=np.int64)
    totals[whole.feasible] = whole.totals
    for start in _starts(order, totals, row, enough):
        made = run_attempt(situation, framework, start)
        if row in made.best and not made.errors:
            return cluster.node(int(order[start])).name, len(made.feasible)
    return None


def _starts(order: Rows, totals: np.ndarray, row: int, enough: int) -> Iterator[int]:
    """Yield indices of nodes at which to begin so that the node is looked at: first those with the fewest
    better nodes in the sample."""
    places = np.flatnonzero(totals[order] >= 0)  # of the feasible nodes in the order
    at = int(np.flatnonzero(order[places] == row)[0])
    better = totals[order[places]] > totals[row]
    count = len(places)
    found = []
    for back in range(enough):
        first = (at - back) % count
        window = (first + np.arange(enough)) % count
        found.append((int(np.count_nonzero(better[window])), back, int(places[first])))
    yield from (start for _, _, start in sorted(found)[:SAMPLES_AT_MOST])
