"""What preemption decided, as plain data."""

from math import inf

from simulator.decision import Candidate, Failure, Preemption, Victim
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import CycleState
from simulator.pod import Pod
from simulator.preemption.candidates import Candidates
from simulator.preemption.dry_run import DryRun


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
        candidates=candidates(state, pod, result.candidates),
        non_candidates=_failures(result.diagnosis, names),
        tied=[] if left is None else [names[row] for row in left.rows.tolist()],
        chosen=chosen,
        rule=rule,
    )


def candidates(state: CycleState, pod: Pod, found: Candidates) -> list[Candidate]:
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
        made.append(Candidate(node, victims, violations[i], highest[i], sums[i], start, cleared))
    return made


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
