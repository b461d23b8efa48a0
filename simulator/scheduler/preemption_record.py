"""The record of a preemption for display."""

from collections.abc import Set

import numpy as np

from simulator.decision import Candidate, Failure, Preemption, Victim
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.preemption.candidates import Candidates
from simulator.preemption.disruption_budgets import list_budgets, pods_violating_pdbs
from simulator.preemption.eligibility import importance_key, is_preemption_allowed
from simulator.preemption.select_candidate import Evaluation

EXPLAINED_AT_MOST = 16
"""Maximum number of candidates for which the record has the spared pods and the order of the reprieve: the
first ones, and the selected one. More of them are too many to show step by step."""


def record_preemption(state: CycleState, pod: Pod, found: Evaluation, status: Status) -> Preemption:
    """Return the record. ``status`` is that of PostFilter, of all its plugins together."""
    tried, tied = found.dry_run, found.tied
    return Preemption(
        eligible=not found.ineligible_reason,
        ineligible_reason=found.ineligible_reason,
        candidates=candidates(state, pod, tried.candidates, found.chosen) if tried else [],
        non_candidates=_failures(tried.diagnosis) if tried else {},
        tied=[] if tied is None else [state.cluster.node(row).name for row in tied.rows.tolist()],
        chosen=found.chosen,
        rule=found.rule,
        code=status.code,
        plugin=status.plugin,
        message=status.message,
    )


def candidates(state: CycleState, pod: Pod, found: Candidates, chosen: str) -> list[Candidate]:
    """Return the candidates as plain data, in their order."""
    rows = found.rows.tolist()
    columns = zip(
        [state.cluster.node(row).name for row in rows],
        _victims(found),
        found.pdb_violations().tolist(),
        found.highest_priority().tolist(),
        found.priority_sum().tolist(),
        found.earliest_start_time(),
        strict=True,
    )
    cleared = _cleared_nominations(state, pod)
    made = []
    for i, (node, victims, violations, highest, priority_sum, start) in enumerate(columns):
        explained = i < EXPLAINED_AT_MOST or node == chosen
        spared, tried = reprieve(state, pod, rows[i], {v.pod for v in victims}) if explained else ([], [])
        made.append(
            Candidate(
                node,
                victims,
                violations,
                highest,
                priority_sum,
                start,
                cleared.get(node, []),
                spared,
                tried,
            )
        )
    return made


def _victims(found: Candidates) -> list[list[Victim]]:
    """Return each candidate's, most important first."""
    pods, violates = found.pods[found.victim].tolist(), found.violates[found.victim].tolist()
    every = [Victim(p.key, p.priority, b, p.start_time) for p, b in zip(pods, violates, strict=True)]
    ends = np.cumsum(found.victim_count()).tolist()
    return [every[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _cleared_nominations(state: CycleState, pod: Pod) -> dict[str, list[str]]:
    """Return, by node, the pods of lower priority that lose their nomination to it."""
    return {
        node: sorted(other.key for other in nominated if other.priority < pod.priority)
        for node, nominated in state.nominated.items()
    }


def reprieve(state: CycleState, pod: Pod, row: int, victims: Set[str]) -> tuple[list[Victim], list[str]]:
    """Return the pods that need not be evicted from the node, most important first, and the keys of all
    potential victims in the order of the reprieve (SelectVictimsOnNode)."""
    cluster = state.cluster
    potential = sorted(
        (p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, pod)), key=importance_key
    )
    violating = pods_violating_pdbs(potential, list_budgets(cluster))
    spared = [
        Victim(p.key, p.priority, p.key in violating, p.start_time) for p in potential if p.key not in victims
    ]
    return spared, [p.key for p in sorted(potential, key=lambda p: p.key not in violating)]


def _failures(diagnosis: Diagnosis) -> dict[str, Failure]:
    """Return the reasons for which the nodes that were tried and are no candidates are none, by their
    names."""
    made = [Failure(s.plugin, s.code, sorted(s.reasons)) for s in diagnosis.statuses]
    rows = np.flatnonzero(diagnosis.codes > 0)
    codes = diagnosis.codes[rows].tolist()
    return {
        diagnosis.cluster.node(row).name: made[code - 1]
        for row, code in zip(rows.tolist(), codes, strict=True)
    }
