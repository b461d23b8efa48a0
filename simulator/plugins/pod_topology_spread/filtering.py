"""Hard constraints (DoNotSchedule): podtopologyspread/filtering.go, v1.34."""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.cluster.topology import Domains, domains
from simulator.framework.interface import Verdicts, unresolvable, unschedulable
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread.common import (
    TopologySpreadConstraint,
    included,
    pod_counts,
    with_all_keys,
)

NO_LIMIT = np.iinfo(np.int64).max
"""The least of no numbers."""

SKEWED, NO_KEY = 1, 2
STATUSES = (
    unschedulable("node(s) didn't match pod topology spread constraints"),
    unresolvable("node(s) didn't match pod topology spread constraints (missing required label)"),
)


class Spread:
    """How matching pods are spread for one constraint: the part of preFilterState that belongs to it.

    Supposed changes concern one node, hence one domain: ``_supposed`` pods more (or fewer) are in domain
    ``_domain``. The arrays are shared by all clones.
    """

    def __init__(
        self, constraint: TopologySpreadConstraint, of: Domains, counting: Bools, counts: Ints, own: int
    ) -> None:
        self.constraint = constraint
        self.numbers = of.numbers
        self.own = own
        """1 where the pod matches its own constraint, else 0."""
        self._counting = counting
        """bool[width]: nodes that count for the constraint."""
        self._sums = of.sums(np.where(counting, counts, 0))
        self._least = _two_least(self._sums[of.sums(counting) > 0])
        self._supposed = 0
        self._domain = 0

    def clone(self) -> "Spread":
        return copy(self)

    def suppose(self, row: int, by: int) -> None:
        """A matching pod more, or fewer, on a node."""
        if self._counting[row]:
            self._domain = int(self.numbers[row])
            self._supposed += by

    def skewed(self, nodes: NodeBatch) -> Bools:
        """bool[n]: the nodes that would come to hold too many."""
        found = self._sums[nodes.take(self.numbers)] + self._supposed
        too_many: Bools = found + self.own - self._lowest() > self.constraint.max_skew
        return too_many

    def _lowest(self) -> int:
        """minMatchNum: the number of pods in the emptiest domain, 0 where there are fewer domains than
        wanted."""
        count, least, second = self._least
        if count < self.constraint.min_domains:
            return 0
        if not self._supposed:
            return least
        changed = int(self._sums[self._domain])
        return min(changed + self._supposed, second if changed == least else least)


def _two_least(sums: Ints) -> tuple[int, int, int]:
    """How many domains there are, and the least two of their numbers of pods: one domain's number may be
    supposed to be another (criticalPaths)."""
    if not len(sums):
        return 0, 0, 0
    if len(sums) == 1:
        return 1, int(sums[0]), NO_LIMIT
    least, second = np.partition(sums, 1)[:2].tolist()
    return len(sums), least, second


class PreFilterState:
    """Made once per cycle, cloned per supposition."""

    def __init__(self, pod: Pod, spreads: Sequence[Spread]) -> None:
        self.pod = pod
        self.spreads = spreads

    def clone(self) -> "PreFilterState":
        return PreFilterState(self.pod, [spread.clone() for spread in self.spreads])

    def suppose(self, changed: Pod, row: int, by: int) -> None:
        """updateWithPod. Unlike the pods that PreFilter counts, a terminating one counts here, and an empty
        selector matches."""
        if changed.namespace != self.pod.namespace:
            return
        for spread in self.spreads:
            if spread.constraint.matches(changed.labels):
                spread.suppose(row, by)

    def verdicts(self, nodes: NodeBatch) -> Verdicts:
        """Of a node the first constraint that it fails."""
        codes: NDArray[np.uint8] = np.zeros(len(nodes), dtype=np.uint8)
        for spread in reversed(self.spreads):
            np.putmask(codes, spread.skewed(nodes), SKEWED)
            np.putmask(codes, nodes.take(spread.numbers) == 0, NO_KEY)
        return Verdicts(codes, STATUSES)


def pre_filter_state(
    cluster: Cluster, pod: Pod, constraints: Sequence[TopologySpreadConstraint]
) -> PreFilterState:
    """calPreFilterState: a node counts where it has all the keys and the constraint's policies include it."""
    of = [domains(cluster, constraint.topology_key) for constraint in constraints]
    nodes = with_all_keys(of)
    return PreFilterState(
        pod,
        [
            Spread(
                constraint,
                own_domains,
                included(constraint, pod, cluster, nodes),
                pod_counts(cluster, pod.namespace, constraint.selector),
                int(constraint.matches(pod.labels)),
            )
            for constraint, own_domains in zip(constraints, of, strict=True)
        ],
    )
