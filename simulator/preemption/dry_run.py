"""DryRunPreemption: finds the nodes on which the preemptor fits if pods of lower priority are evicted
(DryRunPreemption in pkg/scheduler/framework/preemption/preemption.go, SelectVictimsOnNode in
pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go).

:func:`select_victims_by_columns` processes many nodes at once: it removes their pods of lower priority and
then adds them again in rounds, one pod of each node per round. :func:`select_victims_on_node` processes one
node. It is used for nodes with nominated pods, and for all nodes if a plugin has PreFilterExtensions but not
ColumnExtensions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.pod_columns import PodColumns
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.handle import Handle
from simulator.framework.node_batch import CopiedNodes
from simulator.framework.status import PluginError, Status, Verdicts, unresolvable
from simulator.objects.pod import Pod
from simulator.preemption.candidates import Candidates, join_candidates, make_candidates
from simulator.preemption.disruption_budgets import BudgetsOfPods, DisruptionBudget, pods_violating_pdbs
from simulator.preemption.eligibility import importance_key, is_preemption_allowed

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
"""The status of the nodes that the dry run does not process."""
EXCLUDED_NODES = "Preemption/excludedNodes"
"""The key under which what-if writes bool[width] to the CycleState: nodes that cannot become candidates even
if all pods of lower priority are evicted. The dry run does not process them. The candidates remain the same,
only the status of these nodes differs."""
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")


class VictimSelection(NamedTuple):
    """The result for the first n rows. ``codes`` is int64[n]: 0 = the node is a candidate, k > 0 = it is not,
    with ``statuses[k - 1]``. ``candidates`` are in the order of the rows."""

    codes: Ints
    statuses: Sequence[Status]
    candidates: Candidates


class DryRun(NamedTuple):
    candidates: Candidates
    diagnosis: Diagnosis
    """The statuses of the nodes that are not candidates."""


def dry_run(
    handle: Handle, state: CycleState, pod: Pod, rows: Rows, *, enough: int, pdbs: Sequence[DisruptionBudget]
) -> DryRun:
    """Process ``rows`` in order until there are ``enough`` candidates, of which at least one violates no
    PodDisruptionBudget (DryRunPreemption). Raises PluginError if there is no candidate and a plugin
    failed."""
    diagnosis = Diagnosis(state.cluster)
    diagnosis.absent = NOT_HELPFUL
    found: list[Candidates] = []
    clean = total = 0
    excluded = state.find(EXCLUDED_NODES)
    if excluded is not None:
        rows = rows[~excluded[rows]]
    size = 2 * enough
    while len(rows):
        codes, statuses, candidates = select_victims(handle, state, pod, rows[:size], pdbs, enough=enough)
        part, rows, size = rows[: len(codes)], rows[len(codes) :], 2 * size
        violations = candidates.pdb_violations()
        cleans = clean + np.cumsum(violations == 0)
        totals = total + np.arange(1, len(violations) + 1)
        stop = np.flatnonzero((cleans > 0) & (totals >= enough))
        if len(stop):
            tried = int(np.flatnonzero(codes == 0)[stop[0]]) + 1
            part, codes = part[:tried], codes[:tried]
            candidates = candidates.take(np.arange(stop[0] + 1))
        diagnosis.record(part, codes, statuses)
        found.append(candidates)
        if len(stop):
            break
        clean, total = int(np.count_nonzero(violations == 0)) + clean, total + len(violations)
    candidates = join_candidates(found or [make_candidates([])])
    if not len(candidates.rows):
        used = np.unique(diagnosis.codes[diagnosis.codes > 0]).tolist()
        errors = [s.message for s in (diagnosis.statuses[code - 1] for code in used) if s.code == "Error"]
        if errors:
            raise PluginError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return DryRun(candidates, diagnosis)


def select_victims(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    rows: Rows,
    pdbs: Sequence[DisruptionBudget],
    *,
    enough: int,
) -> VictimSelection:
    """SelectVictimsOnNode for nodes in order, with select_victims_by_columns for as many of them as possible,
    until ``enough`` of those are tried on which the preemptor fits without the pods of lower priority."""
    one_by_one = np.ones(len(rows), dtype=np.bool_)
    if handle.filters_by_columns(state):
        nominated = [state.cluster.rows.get(name, -1) for name in state.nominated]
        one_by_one = np.isin(rows, nominated)
        if not one_by_one.any():
            return select_victims_by_columns(handle, state, pod, rows, pdbs, enough=enough)
    rows, one_by_one = rows[:enough], one_by_one[:enough]
    codes = np.zeros(len(rows), dtype=np.int64)
    statuses: list[Status] = []
    found = []
    for i in np.flatnonzero(one_by_one).tolist():
        result = select_victims_on_node(handle, state, pod, int(rows[i]), pdbs)
        if isinstance(result, Status):
            statuses.append(result)
            codes[i] = len(statuses)
        else:
            found.append((int(rows[i]), *result))
    candidates = make_candidates(found)
    if not one_by_one.all():
        others = select_victims_by_columns(handle, state, pod, rows[~one_by_one], pdbs, enough=enough)
        codes[~one_by_one] = np.where(others.codes > 0, others.codes + len(statuses), 0)
        statuses += others.statuses
        candidates = join_candidates([candidates, others.candidates])
        position = np.empty(state.cluster.width, dtype=np.intp)
        position[rows] = np.arange(len(rows))
        candidates = candidates.take(np.argsort(position[candidates.rows]))
    return VictimSelection(codes, statuses, candidates)


# One node at a time


def select_victims_on_node(
    handle: Handle, state: CycleState, pod: Pod, row: int, pdbs: Sequence[DisruptionBudget]
) -> tuple[list[Pod], set[str]] | Status:
    """Remove all pods of lower priority; if the preemptor then fits, add as many of them again as possible
    (reprieve): first those whose eviction violates a PodDisruptionBudget, and of these and of the others the
    most important first (SelectVictimsOnNode).

    Return a status if the node is not a candidate, else the victims, the most important first, and the keys
    of the pods whose eviction violates a PodDisruptionBudget."""
    cluster = state.cluster
    potential = [p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, pod)]
    if not potential:
        return NO_VICTIMS
    node = CopiedNodes(cluster, np.array([row]))
    state = state.clone()

    def filter_node() -> Status | None:
        verdicts = handle.run_filter_with_nominated_pods(state, pod, node)
        return verdicts.statuses[int(verdicts.codes[0]) - 1] if verdicts.codes[0] else None

    def remove(victim: Pod) -> Status | None:
        node.remove_pod(0, victim)
        return handle.run_remove_pod(state, pod, victim, row)

    def add(victim: Pod) -> Status | None:
        node.add_pod(0, victim)
        return handle.run_add_pod(state, pod, victim, row)

    node.remove_pods(0, potential)
    for victim in potential:
        fault = handle.run_remove_pod(state, pod, victim, row)
        if fault is not None:
            return fault
    status = filter_node()
    if status is not None:
        return status
    potential.sort(key=importance_key)
    violating = pods_violating_pdbs(potential, pdbs)
    victims = []
    for victim in sorted(potential, key=lambda p: p.key not in violating):
        fault = add(victim)
        if fault is None and filter_node() is not None:
            victims.append(victim)
            fault = remove(victim)
        if fault is not None:
            return fault
    if not victims:
        return no_victim_needed(cluster.node(row).name)
    victims.sort(key=importance_key)
    return victims, violating


def no_victim_needed(node: str) -> Status:
    """Return the status of a node on which the preemptor fits without evictions."""
    return Status("Error", (f'expected at least one victim pod on node "{node}"',))


# By columns


class _Trial:
    """A copy of nodes from which pods are removed, and the CycleState with the same changes.

    ``indices`` are indices of nodes in ``nodes``; ``slots[k]`` is the slot of a pod of node
    ``indices[k]``."""

    def __init__(self, handle: Handle, state: CycleState, pod: Pod, nodes: CopiedNodes) -> None:
        self.handle = handle
        self.state = state
        self.pod = pod
        self.nodes = nodes
        for resource in pod.own_requests:
            nodes.requested(resource)  # from now on kept up to date, also in the copies of filter()

    def filter(self, indices: Rows) -> Verdicts:
        """Run the filter plugins for these nodes; ``indices`` must be in ascending order."""
        nodes = self.nodes if len(indices) == len(self.nodes) else self.nodes.copy_nodes(indices)
        return self.handle.run_filter(self.state, self.pod, nodes)

    def remove(self, indices: Rows, slots: Ints) -> None:
        self.nodes.remove_slots(indices, slots)
        self.handle.run_remove_pods(self.state, self.pod, self.nodes.rows[indices], slots)

    def add(self, indices: Rows, slots: Ints) -> None:
        self.nodes.add_slots(indices, slots)
        self.handle.run_add_pods(self.state, self.pod, self.nodes.rows[indices], slots)


def select_victims_by_columns(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    rows: Rows,
    pdbs: Sequence[DisruptionBudget],
    *,
    enough: int,
) -> VictimSelection:
    """SelectVictimsOnNode for nodes without nominated pods, with the same steps as
    :func:`select_victims_on_node`, until ``enough`` of those are tried on which the preemptor fits without
    the pods of lower priority. Entry [i, k] of an array belongs to the k-th pod of the i-th node."""
    index = state.cluster.index(PodColumns)
    slots, there = index.on(rows)
    potential = there & (index.priority[slots] < pod.priority)
    nodes, state = CopiedNodes(state.cluster, rows), state.clone()
    trial = _Trial(handle, state, pod, nodes)
    trial.remove(np.nonzero(potential)[0], slots[potential])
    tried = np.flatnonzero(potential.any(axis=1))
    verdicts = trial.filter(tried)
    statuses = [NO_VICTIMS, *verdicts.statuses]
    codes: Ints = np.ones(len(rows), dtype=np.int64)
    codes[tried] = np.where(verdicts.codes > 0, verdicts.codes + 1, 0)

    fitting = np.flatnonzero(codes == 0)
    if len(fitting) > enough:
        fitting = fitting[:enough]
        codes = codes[: fitting[-1] + 1]
    slots, potential = _by_importance(index, slots[fitting], potential[fitting])
    violates = _violating(index, slots, potential, pdbs)
    trial = _Trial(handle, state, pod, nodes.copy_nodes(fitting))
    victim = _select_victims(trial, slots, potential, violates)
    needed = victim.any(axis=1)
    for i in fitting[~needed].tolist():
        statuses.append(no_victim_needed(nodes.node(i).name))
        codes[i] = len(statuses)
    slots, victim, violates = slots[needed], victim[needed], violates[needed]
    candidates = Candidates(
        rows[fitting[needed]], index.pods[slots], victim, violates, index.priority[slots], index.start[slots]
    )
    return VictimSelection(codes, statuses, candidates)


def _select_victims(trial: _Trial, slots: Ints, potential: Bools, violates: Bools) -> Bools:
    """Add the pods again, one of each node per round: first those whose eviction violates a
    PodDisruptionBudget, and of these and of the others the most important first. If the preemptor then does
    not fit, the pod is removed again: it is a victim. Return the victims, bool[n, k]."""
    victim = np.zeros(potential.shape, dtype=np.bool_)
    every = np.arange(len(potential))
    for round_pods in np.argsort(~violates, axis=1, kind="stable").T:
        nodes = np.flatnonzero(potential[every, round_pods])
        pods = round_pods[nodes]
        trial.add(nodes, slots[nodes, pods])
        refused = trial.filter(nodes).codes > 0
        nodes, pods = nodes[refused], pods[refused]
        trial.remove(nodes, slots[nodes, pods])
        victim[nodes, pods] = True
    return victim


def _by_importance(index: PodColumns, slots: Ints, potential: Bools) -> tuple[Ints, Bools]:
    """Sort the slots of each node so that the potential victims come first, the most important first. Drop
    the columns that have no potential victim. ``slots`` and ``potential`` are [n, k]."""
    order = np.lexsort((index.lot[slots], index.start[slots], -index.priority[slots], ~potential), axis=-1)
    order = order[:, : int(np.count_nonzero(potential, axis=1).max(initial=0))]
    return np.take_along_axis(slots, order, axis=1), np.take_along_axis(potential, order, axis=1)


def _violating(index: PodColumns, slots: Ints, potential: Bools, pdbs: Sequence[DisruptionBudget]) -> Bools:
    """Return bool[n, k]: the pods whose eviction violates a PodDisruptionBudget."""
    violates = np.zeros(slots.shape, dtype=np.bool_)
    if pdbs:
        budgets = BudgetsOfPods(index.pods[slots[potential]].tolist(), pdbs)
        for i, on_node in enumerate(slots):
            pods = index.pods[on_node[potential[i]]].tolist()
            keys = budgets.violating(pods)
            violates[i, : len(pods)] = [pod.key in keys for pod in pods]
    return violates
