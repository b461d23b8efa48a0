"""What preemption decided, as plain data."""

from collections.abc import Set
from math import inf

from simulator.decision import Candidate, Failure, Preemption, Victim
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import CycleState
from simulator.objects.pod import Pod
from simulator.preemption.budgets import budgets, pods_violating
from simulator.preemption.candidates import Candidates
from simulator.preemption.dry_run import DryRun
from simulator.preemption.eligibility import importance, is_preemption_allowed

EXPLAINED_AT_MOST = 16
"""Candidates of which it is kept who could stay: more than anybody follows step by step."""


def refused(reason: str) -> Preemption:
    """The pod may not preempt."""
    return _record(ineligible_reason=reason)


def nothing_to_try() -> Preemption:
    """On no node would evicting pods have helped."""
    return _record()


def dry_run(
    state: CycleState,
    pod: Pod,
    result: DryRun,
    *,
    left: Candidates | None = None,
    chosen: str = "",
    rule: int = 0,
) -> Preemption:
    """``left`` are the candidates that all rules leave standing, None where there were none from the
    start."""
    names = [node.name if node else "" for node in state.cluster.nodes]
    return _record(
        candidates=candidates(state, pod, result.candidates, chosen),
        non_candidates=_failures(result.diagnosis, names),
        tied=[] if left is None else [names[row] for row in left.rows.tolist()],
        chosen=chosen,
        rule=rule,
    )


def candidates(state: CycleState, pod: Pod, found: Candidates, chosen: str) -> list[Candidate]:
    highest, sums = found.highest_priority().tolist(), found.priority_sum().tolist()
    earliest, violations = found.earliest_start().tolist(), found.pdb_violations().tolist()
    made = []
    for i, row in enumerate(found.rows.tolist()):
        node = state.cluster.node(row).name
        pods = found.victims(i)
        violates = found.violates[i, found.victim[i]].tolist()
        start = next((v.start_time for v in pods if v.start_seconds == earliest[i] < inf), "")
        victims = [Victim(v.key, v.priority, b, v.start_time) for v, b in zip(pods, violates, strict=True)]
        cleared = sorted(
            other.key for other in state.nominated.get(node, ()) if other.priority < pod.priority
        )
        known = i < EXPLAINED_AT_MOST or node == chosen
        spared, tried = reprieve(state, pod, row, {v.key for v in pods}) if known else ([], [])
        made.append(
            Candidate(node, victims, violations[i], highest[i], sums[i], start, cleared, spared, tried)
        )
    return made


def reprieve(state: CycleState, pod: Pod, row: int, victims: Set[str]) -> tuple[list[Victim], list[str]]:
    """Who could stay on the node, and in which order all were put back."""
    cluster = state.cluster
    lifted = sorted(
        (p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, pod)), key=importance
    )
    violating = pods_violating(lifted, budgets(cluster))
    spared = [
        Victim(p.key, p.priority, p.key in violating, p.start_time) for p in lifted if p.key not in victims
    ]
    return spared, [p.key for p in sorted(lifted, key=lambda p: p.key not in violating)]


def _failures(diagnosis: Diagnosis, names: list[str]) -> dict[str, Failure]:
    made = [Failure(s.plugin, s.code, sorted(s.reasons)) for s in diagnosis.statuses]
    return {names[row]: made[code - 1] for row, code in enumerate(diagnosis.codes.tolist()) if code > 0}


def _record(
    *,
    ineligible_reason: str = "",
    candidates: list[Candidate] | None = None,
    non_candidates: dict[str, Failure] | None = None,
    tied: list[str] | None = None,
    chosen: str = "",
    rule: int = 0,
) -> Preemption:
    """``code``, ``plugin`` and ``message`` are those of all PostFilter plugins together: filled in by who ran
    them."""
    return Preemption(
        eligible=not ineligible_reason,
        ineligible_reason=ineligible_reason,
        candidates=candidates or [],
        non_candidates=non_candidates or {},
        tied=tied or [],
        chosen=chosen,
        rule=rule,
        code="Success",
        plugin="",
        message="",
    )
