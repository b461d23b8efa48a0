"""Filtering by constraints with DoNotSchedule (podtopologyspread/filtering.go)."""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.node_selectors import TopologyDomains, topology_domains
from simulator.framework.node_batch import CountChanges, NodeBatch
from simulator.framework.status import Verdicts, unresolvable, unschedulable
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread.common import (
    TopologySpreadConstraint,
    count_pods_match_selector,
    match_node_inclusion_policies,
    nodes_with_all_keys,
)

NO_SECOND_DOMAIN = np.iinfo(np.int64).max
"""Used as the second lowest number of pods if there is only one domain."""

SKEWED, NO_KEY = 1, 2
STATUSES = (
    unschedulable("node(s) didn't match pod topology spread constraints"),
    unresolvable("node(s) didn't match pod topology spread constraints (missing required label)"),
)


class HardSpread:
    """The number of matching pods in each domain of one constraint: the part of preFilterState for it.

    A change on a node affects the result for this node only. Clones share all arrays except the changes.
    """

    def __init__(
        self,
        constraint: TopologySpreadConstraint,
        domains: TopologyDomains,
        counted_nodes: Bools,
        counts: Ints,
        self_match: int,
    ) -> None:
        self.constraint = constraint
        self.numbers = domains.numbers
        self.self_match = self_match
        """The value of selfMatchNum: 1 if the incoming pod matches its own constraint, else 0."""
        self._counted_nodes = counted_nodes
        """The nodes whose pods count for the constraint, bool[width]."""
        self._sums = domains.sum_by_domain(np.where(counted_nodes, counts, 0))
        self._critical_paths = _critical_paths(self._sums[domains.sum_by_domain(counted_nodes) > 0])
        self._changes = CountChanges(len(counted_nodes))

    def clone(self) -> "HardSpread":
        clone = copy(self)
        clone._changes = self._changes.clone()
        return clone

    def change(self, rows: Rows, by: int) -> None:
        """Add a matching pod on each of these rows (``by`` 1), or remove one (-1)."""
        self._changes.add(rows[self._counted_nodes[rows]], by)

    @property
    def domain_count(self) -> int:
        """The number of domains with a node that counts, which is compared with minDomains."""
        return self._critical_paths[0]

    def skews(self, nodes: NodeBatch) -> Ints:
        """Return int64[n], the skew with the incoming pod on each of the nodes."""
        original = self._sums[nodes.take(self.numbers)]
        changed = original + self._changes.for_nodes(nodes)
        found: Ints = changed + self.self_match - self._min_match_num(original, changed)
        return found

    def exceeds_max_skew(self, nodes: NodeBatch) -> Bools:
        """Return bool[n]: the nodes on which the incoming pod would make the skew larger than maxSkew."""
        exceeding: Bools = self.skews(nodes) > self.constraint.max_skew
        return exceeding

    def _min_match_num(self, original: Ints, changed: Ints) -> Ints | int:
        """Return for each node the lowest number of pods in a domain, 0 if there are fewer domains than
        minDomains (minMatchNum). ``original`` and ``changed`` (int64[n]) are the numbers of pods in the
        domain of the node without and with the changes on this node."""
        count, lowest, second = self._critical_paths
        if count < self.constraint.min_domains:
            return 0
        if not self._changes:
            return lowest
        with_change: Ints = np.minimum(changed, np.where(original == lowest, second, lowest))
        return np.where(original == changed, lowest, with_change)


def _critical_paths(sums: Ints) -> tuple[int, int, int]:
    """Return the number of domains, and the two lowest numbers of pods in a domain (criticalPaths). The
    second is needed because changes affect one domain."""
    if not len(sums):
        return 0, 0, 0
    if len(sums) == 1:
        return 1, int(sums[0]), NO_SECOND_DOMAIN
    lowest, second = np.partition(sums, 1)[:2].tolist()
    return len(sums), lowest, second


class SpreadPreFilterState:
    """The spread of matching pods for each constraint of the incoming pod (preFilterState)."""

    def __init__(self, pod: Pod, spreads: Sequence[HardSpread]) -> None:
        self.pod = pod
        self.spreads = spreads

    def clone(self) -> "SpreadPreFilterState":
        return SpreadPreFilterState(self.pod, [spread.clone() for spread in self.spreads])

    def update_with_pod(self, changed: Pod, rows: Rows, by: int) -> None:
        """Add a pod like ``changed`` on each of these rows (``by`` 1), or remove it (-1) (updateWithPod). As
        upstream, terminating pods count here and an empty selector matches, unlike in PreFilter."""
        if changed.namespace != self.pod.namespace:
            return
        for spread in self.spreads:
            if spread.constraint.matches(changed.labels):
                spread.change(rows, by)

    def verdicts(self, nodes: NodeBatch) -> Verdicts:
        """Return for each node the status for the first constraint that it does not satisfy."""
        codes: NDArray[np.uint8] = np.zeros(len(nodes), dtype=np.uint8)
        for spread in reversed(self.spreads):
            np.putmask(codes, spread.exceeds_max_skew(nodes), SKEWED)
            np.putmask(codes, nodes.take(spread.numbers) == 0, NO_KEY)
        return Verdicts(codes, STATUSES)


def pre_filter_state(
    cluster: Cluster, pod: Pod, constraints: Sequence[TopologySpreadConstraint]
) -> SpreadPreFilterState:
    """Count the pods on the nodes that have the topology keys of all constraints and that the constraint's
    inclusion policies include (calPreFilterState)."""
    domains = [topology_domains(cluster, constraint.topology_key) for constraint in constraints]
    nodes = nodes_with_all_keys(domains)
    return SpreadPreFilterState(
        pod,
        [
            HardSpread(
                constraint,
                own_domains,
                match_node_inclusion_policies(constraint, pod, cluster, nodes),
                count_pods_match_selector(cluster, pod.namespace, constraint.selector),
                int(constraint.matches(pod.labels)),
            )
            for constraint, own_domains in zip(constraints, domains, strict=True)
        ],
    )
