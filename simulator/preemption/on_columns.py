"""The dry run on many nodes at once, where only what pods request matters.

Most pods that preempt are short of resources alone: then the pods of all nodes are lifted by one subtraction,
and put back in rounds, the most important of every node first.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from simulator.cluster.columns import Bools, Ints, Rows
from simulator.framework.interface import CycleState, Status
from simulator.framework.node_batch import SupposedNodes
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.preemption.budgets import Budget, pods_violating
from simulator.preemption.candidates import Candidates
from simulator.preemption.on_node import NO_VICTIMS, no_victim_needed
from simulator.preemption.pod_columns import PodColumns


class Outcome(NamedTuple):
    """What a dry run over some rows came to: per row 0 for a candidate, else the status. ``candidates`` are
    in the order of those rows."""

    codes: Ints
    statuses: Sequence[Status]
    candidates: Candidates


def applicable(framework: Framework, state: CycleState) -> bool:
    """No plugin in this cycle looks at the pods themselves."""
    return not framework.extended(state) and all(
        plugin.counts_only for plugin in framework.filter_plugins if plugin.name not in state.skip_filter
    )


def select_victims(
    framework: Framework, state: CycleState, pod: Pod, rows: Rows, pdbs: Sequence[Budget]
) -> Outcome:
    """SelectVictimsOnNode for every row, none of which has nominated pods."""
    index = state.cluster.index(PodColumns)
    slots, there = index.on(rows)
    slots, potential = _by_importance(index, slots, there & (index.priority[slots] < pod.priority))
    requests = np.where(potential, index.requests[:, slots], 0)
    nodes = SupposedNodes(state.cluster, rows)
    nodes.shift(-requests.sum(axis=2), -np.count_nonzero(potential, axis=1))
    verdicts = framework.run_filter(state, pod, nodes)
    codes, statuses = verdicts.codes, [*verdicts.statuses, NO_VICTIMS]
    codes[~potential.any(axis=1)] = len(statuses)
    potential &= (codes == 0)[:, np.newaxis]

    def fits() -> Bools:
        passing: Bools = framework.run_filter(state, pod, nodes).codes == 0
        return passing

    violates = _violating(index, slots, potential, pdbs)
    victim = _reprieved(fits, nodes, requests, potential, violates)
    needless = (codes == 0) & ~victim.any(axis=1)
    for i in np.flatnonzero(needless).tolist():
        statuses.append(no_victim_needed(nodes.node(i).name))
        codes[i] = len(statuses)
    good = codes == 0
    slots, victim, violates = slots[good], victim[good], violates[good]
    return Outcome(
        codes,
        statuses,
        Candidates(
            rows[good], index.pods[slots], victim, violates, index.priority[slots], index.start[slots]
        ),
    )


def _by_importance(index: PodColumns, slots: Ints, potential: Bools) -> tuple[Ints, Bools]:
    """Each node's slots with the most important of the potential victims first, and no more columns than
    needed."""
    order = np.lexsort((index.lot[slots], index.start[slots], -index.priority[slots], ~potential), axis=-1)
    order = order[:, : int(np.count_nonzero(potential, axis=1).max(initial=0))]
    return np.take_along_axis(slots, order, axis=1), np.take_along_axis(potential, order, axis=1)


def _violating(index: PodColumns, slots: Ints, potential: Bools, pdbs: Sequence[Budget]) -> Bools:
    violates = np.zeros(slots.shape, dtype=np.bool_)
    if pdbs:
        for i, line in enumerate(slots):
            pods = index.pods[line[potential[i]]].tolist()
            keys = pods_violating(pods, pdbs)
            violates[i, : len(pods)] = [pod.key in keys for pod in pods]
    return violates


def _reprieved(
    fits: Callable[[], Bools], nodes: SupposedNodes, requests: Ints, potential: Bools, violates: Bools
) -> Bools:
    """Put the pods ([n, k], with their ``requests`` [resource, n, k]) back one round at a time; who cannot
    stay is a victim."""
    victim = np.zeros(potential.shape, dtype=np.bool_)
    every = np.arange(len(potential))
    for turn in np.argsort(~violates, axis=1, kind="stable").T:
        back = potential[every, turn]
        more = np.where(back, requests[:, every, turn], 0)
        nodes.shift(more, back.astype(np.int64))
        out = back & ~fits()
        nodes.shift(np.where(out, -more, 0), -out.astype(np.int64))
        victim[every, turn] = out
    return victim
