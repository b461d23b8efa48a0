"""The reasons for which nodes are not feasible: framework.Diagnosis and FitError
(pkg/scheduler/framework/types.go)."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.framework.status import Code, Status

NOT_EVALUATED = -1
DEFAULT_ABSENT = Status("UnschedulableAndUnresolvable")
"""The status of a node that was not evaluated."""


class Diagnosis:
    """The verdicts as a column, ``codes[row]``: 0 = passed, k > 0 = rejected with ``statuses[k - 1]``, -1 =
    not evaluated, with the status ``absent`` (NodeToStatus.AbsentNodesStatus)."""

    def __init__(self, cluster: Cluster, placement: Rows | None = None) -> None:
        """``placement``: the rows of the nodes that are looked at; None = all nodes."""
        self.cluster = cluster
        self._placement = placement
        self.codes = np.full(cluster.width, NOT_EVALUATED, dtype=np.int32)
        self.statuses: list[Status] = []
        self.absent = DEFAULT_ABSENT
        self.pre_filter_message = ""
        self.unschedulable_plugins: set[str] = set()

    @property
    def order(self) -> Rows:
        """The rows of the nodes that are looked at, in the scheduler's order."""
        return self.cluster.order() if self._placement is None else self._placement

    def record(self, rows: Rows | slice, codes: Ints, statuses: Sequence[Status]) -> None:
        """Enter the verdicts over some rows."""
        shift = len(self.statuses)
        self.statuses.extend(statuses)
        if not statuses:
            self.codes[rows] = 0
        else:
            self.codes[rows] = np.where(codes > 0, codes + shift, codes) if shift else codes

    def add_plugin_status(self, status: Status) -> None:
        """Add the plugin of a rejecting status (Diagnosis.AddPluginStatus)."""
        if status.plugin and status.rejected:
            self.unschedulable_plugins.add(status.plugin)

    def status_of(self, name: str) -> Status | None:
        """Return the status of a node by name, whether it exists or not; None where it passed."""
        row = self.cluster.rows.get(name)
        code = NOT_EVALUATED if row is None else int(self.codes[row])
        if code == NOT_EVALUATED:
            return self.absent
        return self.statuses[code - 1] if code else None

    def rows_with_code(self, code: Code) -> Rows:
        """Return rows of nodes that got a status of this code, in the scheduler's order
        (NodesForStatusCode)."""
        table = np.array([status.code == code for status in (*self.statuses, self.absent)], dtype=np.bool_)
        order = self.order
        codes = self.codes[order]
        # -1 (absent) finds the last entry, k the one of statuses[k - 1]; passing nodes are left out.
        found: Rows = order[(codes != 0) & table[np.where(codes > 0, codes - 1, len(self.statuses))]]
        return found

    def message(self) -> str:
        """Return FitError.Error() without the PostFilter part."""
        count = len(self.order)
        if self.pre_filter_message:
            return f"0/{count} nodes are available: {self.pre_filter_message}."
        codes = self.codes[self.order]
        reasons: Counter[str] = Counter()
        for code, times in enumerate(np.bincount(codes + 1, minlength=2).tolist()):
            if times and code != 1:
                status = self.absent if code == 0 else self.statuses[code - 2]
                for reason in status.reasons:
                    reasons[reason] += times
        return fit_error(count, reasons)


def excluded_by_pre_filter(plugins: Collection[str]) -> Status:
    """Return the status of the nodes that PreFilter results exclude. Upstream also names a plugin that
    rejected the nominated node before."""
    reason = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]"
    return Status("UnschedulableAndUnresolvable", (reason,))


def fit_error(nodes: int, reasons: Counter[str]) -> str:
    """Return the histogram of reasons, sorted as text ("10 x" goes before "2 y")."""
    histogram = ", ".join(sorted(f"{times} {reason}" for reason, times in reasons.items()))
    return f"0/{nodes} nodes are available:" + (f" {histogram}." if histogram else "")
