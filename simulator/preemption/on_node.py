"""The dry run on one node, for any plugins."""

from collections.abc import Sequence

import numpy as np

from simulator.framework.interface import CycleState, Status, unresolvable
from simulator.framework.node_batch import SupposedNodes
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.preemption.budgets import Budget, pods_violating
from simulator.preemption.eligibility import importance, is_preemption_allowed

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")


def select_victims_on_node(
    framework: Framework, state: CycleState, pod: Pod, row: int, pdbs: Sequence[Budget]
) -> tuple[list[Pod], set[str]] | Status:
    """SelectVictimsOnNode: take away every pod of lower priority; if the pod then fits, put back as many as
    possible, those whose eviction would violate a PDB first, the more important first. Returns the victims,
    most important first, and the keys of pods whose eviction would violate a PDB."""
    cluster = state.cluster
    potential = [p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, pod)]
    if not potential:
        return NO_VICTIMS
    supposed = SupposedNodes(cluster, np.array([row]))
    state = state.clone()

    def fits() -> Status | None:
        verdicts = framework.run_filter_with_nominated_pods(state, pod, supposed)
        return verdicts.statuses[int(verdicts.codes[0]) - 1] if verdicts.codes[0] else None

    def lift(victim: Pod) -> Status | None:
        supposed.remove_pod(0, victim)
        return framework.run_remove_pod(state, pod, victim, row)

    def put_back(victim: Pod) -> Status | None:
        supposed.add_pod(0, victim)
        return framework.run_add_pod(state, pod, victim, row)

    supposed.remove_pods(0, potential)
    for victim in potential:
        fault = framework.run_remove_pod(state, pod, victim, row)
        if fault is not None:
            return fault
    status = fits()
    if status is not None:
        return status
    potential.sort(key=importance)
    violating = pods_violating(potential, pdbs)
    victims = []
    for victim in sorted(potential, key=lambda p: p.key not in violating):
        fault = put_back(victim)
        if fault is None and fits() is not None:
            victims.append(victim)
            fault = lift(victim)
        if fault is not None:
            return fault
    if not victims:
        return no_victim_needed(cluster.node(row).name)
    victims.sort(key=importance)
    return victims, violating


def no_victim_needed(node: str) -> Status:
    return Status("Error", (f'expected at least one victim pod on node "{node}"',))
