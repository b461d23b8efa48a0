"""One scheduling attempt over all nodes: schedulePod and PostFilter (pkg/scheduler/schedule_one.go).

An :class:`Attempt` keeps the verdicts and scores as columns. The scheduler acts on :meth:`Attempt.result`;
:mod:`simulator.scheduler.attempt_record` makes the record for display."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Self

import numpy as np

from simulator.api import Micros
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.framework.batch import CycleResult, OpportunisticBatch
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import NOT_EVALUATED, Diagnosis, excluded_by_pre_filter
from simulator.framework.extender import ExtenderError
from simulator.framework.interface import PreemptionPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.pre_filter import PreFilterOutcome, run_post_filter, run_pre_filter
from simulator.framework.runtime import FilterPasses, Framework
from simulator.framework.scoring import ScoreColumns, run_pre_score, run_score
from simulator.framework.status import PluginError, SelectedCandidate, Status
from simulator.objects.pod import Pod
from simulator.preemption.select_candidate import EVALUATION
from simulator.scheduler import extender_calls
from simulator.scheduler.schedule_result import FitError, ScheduleResult, enough_feasible_nodes

NO_NODES = "no nodes available to schedule pods"


class Attempt:
    """The search for a node for one pod. Run it by exhausting :meth:`run`, once.

    ``exhaustive`` also does what upstream skips, for display: it filters all other nodes where the nominated
    node passed, scores a single feasible node, and runs preemption after a PostFilter plugin that failed. It
    changes no result.
    """

    def __init__(
        self,
        framework: Framework,
        cluster: Cluster,
        pod: Pod,
        nominated: Mapping[str, Sequence[Pod]],
        *,
        seed: int = 0,
        cycle: int = 0,
        start_node_index: int = 0,
        exhaustive: bool = False,
        batch: OpportunisticBatch | None = None,
        now: Micros = 0,
        placement: Rows | None = None,
        post_filters: bool = True,
    ) -> None:
        """``batch``: that of the profile, for a pod that is scheduled; ``now``: the time that it reads;
        ``placement``: the rows of the nodes that are looked at, None = all; ``post_filters``: whether the
        PostFilter plugins are run."""
        self.framework = framework
        self.cluster = cluster
        self.pod = pod
        self.state = CycleState(cluster, nominated, seed=seed, cycle=cycle)
        self.exhaustive = exhaustive
        self.batch = batch
        self.placement = placement
        self._post_filters = post_filters
        self.signature: bytes | None = None
        self.node_hint = ""
        """The node that the batch names. It is filtered first, as a nominated node is."""
        self._now = now
        self.start_node_index = start_node_index
        self.next_start_node_index = start_node_index
        """The index of the node at which the search begins, in the order of ``cluster.order()``; once it has
        ended, that of the next attempt (Scheduler.nextStartNodeIndex). It matters if not all nodes are
        filtered."""
        self.pre_filter: PreFilterOutcome | None = None
        self.diagnosis = Diagnosis(cluster, placement)
        self.seen = self.diagnosis
        """The diagnosis of all nodes, where ``exhaustive`` filters more of them than upstream does."""
        self.filter_passes: dict[int, FilterPasses] = {}
        """Row -> the passes of the filtered nodes that have nominated pods."""
        self.outside: Rows | None = None
        """Rows of the nodes that the PreFilter results exclude."""
        self.feasible: Rows = np.empty(0, dtype=np.intp)
        """Rows of the feasible nodes, in any order."""
        self.nominated_shortcut = False
        self._failed_nominated = -1
        """The row of a nominated node that the Filter plugins rejected."""
        self.pre_score_skipped: list[str] = []
        self.scores: list[ScoreColumns] = []
        self.totals: Ints = np.empty(0, dtype=np.int64)
        self.best: Rows = np.empty(0, dtype=np.intp)
        """Rows of the nodes that share the top total."""
        self.best_places: Rows = self.best
        """Their indices in ``feasible``."""
        self.selected: int | None = None
        """The chosen row."""
        self.message = ""
        """FitError.Error() without the message of PostFilter."""
        self.post_filter: Status | None = None
        self.nominated_node: str | None = None
        """The node that PostFilter nominates; "" clears the nomination, None leaves it as it is."""
        self.candidate: SelectedCandidate | None = None
        """The candidate that preemption selected."""
        self.errors: list[str] = []
        """Messages of faults, each of which ends the attempt. Upstream reports any of them."""

    def complete(self) -> Self:
        """Run all that is left, and return the attempt."""
        for _ in self.run():
            pass
        return self

    def run(self) -> Iterator[str]:
        """Yields the name of each extension point just before it is run."""
        if not self.cluster.node_count:
            self.message = NO_NODES
            self.nominated_node = ""
            return
        yield "PreFilter"
        if self._pre_filter():
            yield "Filter"
            self._filter()
        if self.errors:
            return
        if not len(self.feasible):
            self.message = self.diagnosis.message()
            if self.framework.post_filter_plugins and self._post_filters:
                yield "PostFilter"
                self._post_filter()
            return
        if len(self.feasible) == 1:
            self.best, self.best_places = self.feasible, np.zeros(1, dtype=np.intp)
            self.selected = int(self.feasible[0])
            self._store_results()
            if not self.exhaustive:
                return
        yield "PreScore"
        if self._pre_score():
            yield "Score"
            self._score()

    def fail(self, point: str, fault: Status) -> None:
        """End the search by a fault at an extension point. At PostFilter the pod stays unschedulable."""
        if point == "PostFilter":
            self.post_filter = fault
        else:
            self.errors.append(fault.message)

    def status(self, point: str) -> str:
        """Return the code of the result of an extension point that was run last."""
        if self.errors:
            return "Error"
        of_point = {"PreFilter": self.pre_filter and self.pre_filter.status, "PostFilter": self.post_filter}
        status = of_point.get(point)
        return status.code if status else "Success"

    def result(self) -> ScheduleResult:
        """Return the result, once :meth:`run` is exhausted or :meth:`fail` was called."""
        if self.errors:
            return ScheduleResult("", error=self.errors[0])
        if self.selected is not None:
            return ScheduleResult(self.cluster.node(self.selected).name)
        plugins = frozenset(self.diagnosis.unschedulable_plugins)
        failure = FitError(self.full_message(), plugins, self.nominated_node, self.candidate)
        return ScheduleResult("", fit_error=failure)

    def full_message(self) -> str:
        """Return FitError.Error(), with the message of PostFilter."""
        status = self.post_filter
        if status is None or status.code == "Success" or not status.message:
            return self.message
        return f"{self.message} {status.message}"

    @property
    def hinted(self) -> bool:
        """Whether the pod gets the node that the batch named."""
        named = self.cluster.rows.get(self.node_hint) if self.node_hint else None
        return named is not None and named == self.selected

    # The extension points

    def _pre_filter(self) -> bool:
        """Whether the search goes on to Filter."""
        outcome = self.pre_filter = run_pre_filter(self.framework, self.state, self.pod)
        self.diagnosis.unschedulable_plugins.update(outcome.narrowed_by)
        status = outcome.status
        if status is None:
            return True
        if status.rejected:
            self.diagnosis.absent = status
            self.diagnosis.pre_filter_message = status.message
            self.diagnosis.add_plugin_status(status)
        else:
            self.errors = [status.message]
        return False

    def _filter(self) -> None:
        """Filter the nominated node alone if it is feasible, or the one that the batch names, else all nodes
        of the PreFilter results (findNodesThatFitPod)."""
        assert self.pre_filter is not None
        if self.batch is not None:
            self.signature = self.batch.sign_pod(self.pod)
            self.node_hint = self.batch.node_hint(self.state, self.pod, self.signature, self._now)
        nominated = self.cluster.rows.get(self.pod.nominated_node_name or self.node_hint)
        if nominated is not None and (self.placement is None or nominated in self.placement):
            row = np.array([nominated])
            self._run_filters(self.diagnosis, row)
            code = int(self.diagnosis.codes[nominated])
            status = self.diagnosis.statuses[code - 1] if code else None
            if status is None:
                if extender_calls.let_pass(self.framework.extenders, self.cluster, self.pod, row):
                    self.feasible, self.nominated_shortcut = row, True
            elif status.rejected:
                self.diagnosis.add_plugin_status(status)
                self._failed_nominated = nominated
            else:  # evaluateNominatedNode only logs a fault; all nodes are evaluated then
                self.diagnosis.codes[nominated] = NOT_EVALUATED
        names = self.pre_filter.node_names
        rows = self.placement
        if names is not None:
            order = self.diagnosis.order
            allowed = np.zeros(self.cluster.width, dtype=np.bool_)
            allowed[[self.cluster.rows[name] for name in names if name in self.cluster.rows]] = True
            rows, self.outside = order[allowed[order]], order[~allowed[order]]
        if self.nominated_shortcut:
            if self.exhaustive:
                self.seen = Diagnosis(self.cluster, self.placement)
                self._run_filters(self.seen, rows)
            return
        if names is not None:
            self.diagnosis.absent = excluded_by_pre_filter(self.diagnosis.unschedulable_plugins)
        self._search(rows)

    def _run_filters(self, diagnosis: Diagnosis, rows: Rows | None) -> None:
        """Filter some rows (None = all of them)."""
        batch = NodeBatch(self.cluster, rows)
        verdicts, passes = self.framework.filter_with_nominated_pods(self.state, self.pod, batch)
        if diagnosis is self.diagnosis:
            self.filter_passes |= {each.row: each for each in passes}
        diagnosis.record(slice(0, self.cluster.width) if rows is None else rows, *verdicts)

    def _search(self, rows: Rows | None) -> None:
        """Search from nextStartNodeIndex on, until enough nodes are feasible (findNodesThatPassFilters)."""
        diagnosis, cluster = self.diagnosis, self.cluster
        self._run_filters(diagnosis, rows)
        candidates = cluster.order() if rows is None else rows
        enough = enough_feasible_nodes(self.framework, len(candidates), exhaustive=self.exhaustive)
        if enough < len(candidates):
            start = self.next_start_node_index % len(candidates)
            candidates = np.concatenate([candidates[start:], candidates[:start]])
            passed = np.flatnonzero(diagnosis.codes[candidates] == 0)
            if len(passed) > enough:
                # Upstream stops when it finds one more than enough, and does not count that one.
                others = candidates[passed[enough] :]
                # The status of a nominated node that failed before stays, and counts as processed.
                diagnosis.codes[others[others != self._failed_nominated]] = NOT_EVALUATED
                candidates = candidates[: passed[enough]]
        self.feasible, found = candidates, []
        if diagnosis.statuses:
            codes = diagnosis.codes[candidates]
            self.feasible = candidates[codes == 0]
            found = np.flatnonzero(np.bincount(codes[codes > 0])).tolist()
        everywhere = len(diagnosis.order)
        if len(candidates) < everywhere:
            processed = int(np.count_nonzero(diagnosis.codes[diagnosis.order] >= 0))
            self.next_start_node_index = (self.next_start_node_index + processed) % everywhere
        for code in found:
            status = diagnosis.statuses[code - 1]
            if status.rejected:
                diagnosis.add_plugin_status(status)
            else:
                self.errors.append(status.message)
        if not self.errors:
            try:
                self.feasible = extender_calls.passing(
                    self.framework.extenders, diagnosis, self.pod, self.feasible
                )
            except ExtenderError as fault:
                self.errors.append(str(fault))
        if self.errors:
            self.feasible = np.empty(0, dtype=np.intp)
            diagnosis.unschedulable_plugins.clear()

    def _post_filter(self) -> None:
        result, self.post_filter = run_post_filter(self.framework, self.state, self.pod, self.diagnosis)
        if self.exhaustive and self.state.find(EVALUATION) is None:
            for plugin in self.framework.post_filter_plugins:
                if isinstance(plugin, PreemptionPlugin):
                    with suppress(PluginError):
                        plugin.post_filter(self.state, self.pod, self.diagnosis)
        if result is not None:
            self.nominated_node = result.nominated_node
            self.candidate = result.candidate

    def _pre_score(self) -> bool:
        try:
            self.pre_score_skipped = run_pre_score(self.framework, self.state, self.pod, self._feasible())
        except PluginError as fault:
            self.errors.append(str(fault))
            return False
        return True

    def _score(self) -> None:
        """Score the feasible nodes and choose one (prioritizeNodes and selectHost)."""
        try:
            self.scores, self.totals = run_score(self.framework, self.state, self.pod, self._feasible())
        except PluginError as fault:
            self.errors.append(str(fault))
            return
        if self.selected is None:
            extenders = self.framework.extenders
            for column in extender_calls.scores(extenders, self.cluster, self.pod, self.feasible):
                self.scores.append(column)
                self.totals = self.totals + column.weighted()
            self.best_places = (self.totals == np.maximum.reduce(self.totals)).nonzero()[0]
            whole = self.feasible is self.cluster.all_rows()
            self.best = self.best_places if whole else self.feasible[self.best_places]
            self.selected = self._select()
            self._store_results()

    def _select(self) -> int:
        """Return one of the best nodes; the seed decides which."""
        # The k-th in the order of the node tree: rows depend on when nodes were added.
        k = self.state.draw("node", len(self.best))
        if self.feasible is self.cluster.order():
            return int(self.best[k])
        is_best = np.zeros(self.cluster.width, dtype=np.bool_)
        is_best[self.best] = True
        order = self.cluster.order()
        return int(order[is_best[order].nonzero()[0][k]])

    def _rank(self) -> Iterator[int]:
        """Yield the scored nodes that were not selected, the best first; the seed decides between equal
        ones."""
        first = self.state.draw("ranking", self.cluster.node_count)
        places = (self.cluster.position()[self.feasible] - first) % self.cluster.node_count
        for i in np.lexsort((places, -self.totals)).tolist():
            if self.feasible[i] != self.selected:
                yield int(self.feasible[i])

    def _store_results(self) -> None:
        """Give the batch what it needs for the next pod."""
        if self.batch is None or self.selected is None:
            return
        others = self._rank() if len(self.totals) and self.signature is not None else ()
        names = (self.cluster.node(row).name for row in others)
        chosen = self.cluster.node(self.selected).name
        result = CycleResult(self.signature, self.node_hint, chosen, names)
        self.batch.store(self.state.cycle, result, self._now)

    def _feasible(self) -> NodeBatch:
        """Return the feasible nodes; a whole batch where these are all rows, so that columns are not
        copied."""
        if len(self.feasible) < self.cluster.width:
            return NodeBatch(self.cluster, self.feasible)
        self.feasible = self.cluster.all_rows()
        return NodeBatch(self.cluster)
