"""One scheduling attempt over all nodes: schedulePod and what leads up to it (pkg/scheduler/schedule_one.go,
v1.34).

An :class:`Attempt` keeps everything that it found as columns;
:mod:`simulator.scheduler.attempt_record` makes the record of it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.decision import Preemption
from simulator.framework.diagnosis import NOT_LOOKED_AT, Diagnosis
from simulator.framework.interface import CycleState, PluginError, PostFilterResult, Status
from simulator.framework.node_batch import NodeBatch
from simulator.framework.runtime import Framework, PreFilterOutcome, ScoreColumns
from simulator.objects.pod import Pod
from simulator.scheduler import extender_calls
from simulator.scheduler.extender import ExtenderError

NO_NODES = "no nodes available to schedule pods"
MIN_FEASIBLE_NODES_TO_FIND = 100
"""In small clusters all nodes are looked at: there is nothing to save."""
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5
"""However large the cluster, this share of it must be found, so that scores have something to choose from."""


class Attempt:
    """The search for a node for one pod. Run it by exhausting :meth:`run`, once.

    ``exhaustive`` looks also at what the real scheduler would have left out, for who wants to see it all:
    every node beside a nominated one that passed, scores where only one node passed, and preemption behind a
    PostFilter plugin that ended in an error. It changes no choice.
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
        exhaustive: bool = False,
    ) -> None:
        self.framework = framework
        self.cluster = cluster
        self.pod = pod
        self.state = CycleState(cluster, nominated, seed=seed, cycle=cycle)
        self.exhaustive = exhaustive
        self.pre_filter: PreFilterOutcome | None = None
        self.diagnosis = Diagnosis(cluster)
        """What the scheduler found."""
        self.seen = self.diagnosis
        """The same with what it would not have looked at (only if exhaustive)."""
        self.outside: Rows | None = None
        """Rows of nodes that PreFilter results left out."""
        self.feasible: Rows = np.empty(0, dtype=np.intp)
        """Rows of the nodes that passed, in any order."""
        self.nominated_shortcut = False
        self.pre_score_skipped: list[str] = []
        self.scores: list[ScoreColumns] = []
        self.totals: Ints = np.empty(0, dtype=np.int64)
        self.best: Rows = np.empty(0, dtype=np.intp)
        """Rows that share the top total."""
        self.selected: int | None = None
        """The chosen row."""
        self.message = ""
        """Why the pod does not fit, without the part of PostFilter."""
        self.post_filter: Status | None = None
        self.nominated_node: str | None = None
        """What PostFilter nominates the pod to; "" clears the nomination, None leaves it."""
        self.preemption: Callable[[], Preemption] | None = None
        """Makes the record of what preemption found."""
        self.errors: list[str] = []
        """Faults, any of which ends the attempt (nodes are filtered in parallel: which one is chance)."""

    def run(self) -> Iterator[str]:
        """Yields the name of each extension point just before it is run."""
        if not self.cluster.node_count:
            self.message = NO_NODES
            return
        yield "PreFilter"
        if self._pre_filter():
            yield "Filter"
            self._filter()
        if self.errors:
            return
        if not len(self.feasible):
            self.message = self.diagnosis.message()
            if self.framework.post_filter_plugins:
                yield "PostFilter"
                self._post_filter()
            return
        if len(self.feasible) == 1:
            self.best = self.feasible
            self.selected = int(self.feasible[0])
            if not self.exhaustive:
                return
        yield "PreScore"
        if self._pre_score():
            yield "Score"
            self._score()

    def fail(self, point: str, fault: Status) -> None:
        """End the search as a plugin's error at this point does: after PostFilter the pod is unschedulable
        all the same."""
        if point == "PostFilter":
            self.post_filter = fault
        else:
            self.errors.append(fault.message)

    # The steps

    def _pre_filter(self) -> bool:
        """Whether there is anything to filter."""
        outcome = self.pre_filter = self.framework.run_pre_filter(self.state, self.pod)
        self.diagnosis.unschedulable_plugins.update(outcome.narrowed_by)
        status = outcome.status
        if status is None:
            return True
        if status.rejected:
            self.diagnosis.absent = status
            self.diagnosis.pre_filter_message = status.message
            self.diagnosis.blame(status)
        else:
            self.errors = [status.message]
        return False

    def _filter(self) -> None:
        """findNodesThatFitPod: the nominated node alone if it passes, else those that PreFilter allows."""
        assert self.pre_filter is not None
        nominated = self.cluster.rows.get(self.pod.nominated_node_name)
        if nominated is not None:
            row = np.array([nominated])
            self._look_at(self.diagnosis, row)
            code = int(self.diagnosis.codes[nominated])
            status = self.diagnosis.statuses[code - 1] if code else None
            if status is None:
                if self._extenders_pass(row):
                    self.feasible, self.nominated_shortcut = row, True
            elif status.rejected:
                self.diagnosis.blame(status)
            else:  # a fault is passed over: the other nodes are looked at as if there were no nomination
                self.diagnosis.codes[nominated] = NOT_LOOKED_AT
        names = self.pre_filter.node_names
        rows: Rows | None = None
        if names is not None:
            order = self.cluster.order()
            allowed = np.zeros(self.cluster.width, dtype=np.bool_)
            allowed[[self.cluster.rows[name] for name in names if name in self.cluster.rows]] = True
            rows, self.outside = order[allowed[order]], order[~allowed[order]]
        if self.nominated_shortcut:
            if self.exhaustive:
                self.seen = Diagnosis(self.cluster)
                self._look_at(self.seen, rows)
            return
        if names is not None:
            self.diagnosis.absent = left_out(self.diagnosis.unschedulable_plugins)
        self._search(rows)

    def _extenders_pass(self, nominated: Rows) -> bool:
        """A fault here only means that the other nodes are looked at too."""
        try:
            passing = extender_calls.passing(
                self.framework.extenders, Diagnosis(self.cluster), self.pod, nominated
            )
        except ExtenderError:
            return False
        return bool(len(passing))

    def _look_at(self, diagnosis: Diagnosis, rows: Rows | None) -> None:
        """Filter some rows (None = all of them)."""
        batch = NodeBatch(self.cluster, rows)
        verdicts = self.framework.run_filter_with_nominated_pods(self.state, self.pod, batch)
        diagnosis.record(slice(0, self.cluster.width) if rows is None else rows, *verdicts)

    def _search(self, rows: Rows | None) -> None:
        """findNodesThatPassFilters: from the rotating start on, until enough nodes have passed."""
        diagnosis, cluster = self.diagnosis, self.cluster
        self._look_at(diagnosis, rows)
        candidates = cluster.order() if rows is None else rows
        enough = self._enough(len(candidates))
        if enough < len(candidates):
            start = cluster.next_start_node_index % len(candidates)
            candidates = np.concatenate([candidates[start:], candidates[:start]])
            passed = np.flatnonzero(diagnosis.codes[candidates] == 0)
            if len(passed) > enough:
                # One more than enough is found before the search stops; that one is not kept.
                unseen = candidates[passed[enough] :]
                diagnosis.codes[unseen] = NOT_LOOKED_AT
                candidates = candidates[: passed[enough]]
        codes = diagnosis.codes[candidates]
        self.feasible = candidates[codes == 0]
        if len(candidates) < cluster.node_count:
            processed = int(np.count_nonzero(diagnosis.codes[cluster.order()] >= 0))
            cluster.next_start_node_index = (cluster.next_start_node_index + processed) % cluster.node_count
        for code in np.flatnonzero(np.bincount(codes[codes > 0], minlength=1)).tolist():
            status = diagnosis.statuses[code - 1]
            if status.rejected:
                diagnosis.blame(status)
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

    def _enough(self, nodes: int) -> int:
        """How many feasible nodes end the search: one, where nothing would choose among more."""
        chooses = self.framework.score_plugins or any(
            extender.config.filter_verb or extender.config.prioritize_verb
            for extender in self.framework.extenders
        )
        if not chooses and not self.exhaustive:
            return 1
        return nodes_to_find(nodes, self.framework.profile.percentage_of_nodes_to_score)

    def _post_filter(self) -> None:
        result, self.post_filter = self.framework.run_post_filter(self.state, self.pod, self.diagnosis)
        if result is None and self.exhaustive:
            result = self._preemption_alone()
        if result is not None:
            self.preemption = result.preemption
            self.nominated_node = result.nominated_node

    def _preemption_alone(self) -> PostFilterResult | None:
        """What preemption would have said, had it been reached."""
        for plugin in self.framework.post_filter_plugins:
            if plugin.name == "DefaultPreemption":
                result, _ = plugin.post_filter(self.state, self.pod, self.diagnosis)
                return None if result is None else PostFilterResult(None, result.preemption)
        return None

    def _pre_score(self) -> bool:
        try:
            self.pre_score_skipped = self.framework.run_pre_score(self.state, self.pod, self._feasible())
        except PluginError as fault:
            self.errors.append(str(fault))
            return False
        return True

    def _score(self) -> None:
        """prioritizeNodes and selectHost."""
        try:
            self.scores, self.totals = self.framework.run_score(self.state, self.pod, self._feasible())
        except PluginError as fault:
            self.errors.append(str(fault))
            return
        if self.selected is None:
            extenders = self.framework.extenders
            for column in extender_calls.scores(extenders, self.cluster, self.pod, self.feasible):
                self.scores.append(column)
                self.totals += column.weighted()
            self.best = self.feasible[self.totals == self.totals.max()]
            # The k-th in the scheduler's order, whatever the order of rows.
            k = self.state.draw("node", len(self.best))
            places = self.cluster.position()[self.best]
            self.selected = int(self.best[np.argpartition(places, k)[k]])

    def _feasible(self) -> NodeBatch:
        """The nodes that passed; a whole batch where these are all rows that there are, which saves
        gathering."""
        if len(self.feasible) < self.cluster.width:
            return NodeBatch(self.cluster, self.feasible)
        self.feasible = np.arange(self.cluster.width)
        return NodeBatch(self.cluster)


def left_out(plugins: Collection[str]) -> Status:
    """What is said of nodes that PreFilter results leave out. (By upstream's ways a plugin that turned the
    nominated node away before is named too.)"""
    reason = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]"
    return Status("UnschedulableAndUnresolvable", (reason,))


def nodes_to_find(nodes: int, percentage: int) -> int:
    """numFeasibleNodesToFind: how many feasible nodes are enough."""
    if nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)
