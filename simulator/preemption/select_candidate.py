"""Selects one of the candidates: callExtenders and SelectCandidate
(pkg/scheduler/framework/preemption/preemption.go)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.framework.extender import Extender, ExtenderError, ExtenderVictims
from simulator.objects.pod import Pod
from simulator.preemption.candidates import Candidates, make_candidates
from simulator.preemption.dry_run import DryRun

EVALUATION = "Preemption/evaluation"
"""The key under which a PreemptionPlugin writes its :class:`Evaluation` to the CycleState."""


class Evaluation(NamedTuple):
    """What a PreemptionPlugin found. The scheduler does not read it; the record for display is made from it
    (:mod:`simulator.scheduler.preemption_record`)."""

    ineligible_reason: str = ""
    """The reason for which the pod may not preempt others."""
    dry_run: DryRun | None = None
    """None where the pod may not preempt others, or the eviction of pods would help on no node."""
    tied: Candidates | None = None
    """The candidates that are left after all tie-break rules; None where the dry run found no candidate."""
    chosen: str = ""
    """The node that is nominated."""
    rule: int = 0
    """The tie-break rule that decided."""


def call_extenders(
    extenders: Sequence[Extender], cluster: Cluster, pod: Pod, candidates: Candidates
) -> Candidates:
    """Return the candidates that all extenders keep (callExtenders). An extender can remove candidates and
    choose other victims. Raises ExtenderError."""
    interested = [e for e in extenders if e.config.preempt_verb and e.is_interested(pod)]
    if not interested or not len(candidates.rows):
        return candidates
    violations = candidates.pdb_violations().tolist()
    victims = {
        cluster.node(row).name: ExtenderVictims(candidates.victims(i), violations[i])
        for i, row in enumerate(candidates.rows.tolist())
    }
    for extender in interested:
        if not victims:
            break
        try:
            victims = _call_extender(extender, cluster, pod, victims)
        except ExtenderError:
            if not extender.ignorable:
                raise
    # An extender returns the number of PDB violations and not the pods. The rules compare only the number.
    found = [
        (cluster.rows[name], v.pods, {p.key for p in v.pods[: v.pdb_violations]})
        for name, v in victims.items()
    ]
    return make_candidates(found)


def _call_extender(
    extender: Extender, cluster: Cluster, pod: Pod, victims: dict[str, ExtenderVictims]
) -> dict[str, ExtenderVictims]:
    left = extender.process_preemption(pod, victims, cluster)
    empty = [name for name, chosen in left.items() if not chosen.pods]
    if empty and not extender.ignorable:
        raise ExtenderError(f'expected at least one victim pod on node "{empty[0]}"')
    return {name: chosen for name, chosen in left.items() if chosen.pods}


TIE_BREAK_RULES: tuple[Callable[[Candidates], NDArray[Any]], ...] = (
    Candidates.pdb_violations,
    Candidates.highest_priority,
    Candidates.priority_sum,
    Candidates.victim_count,
    lambda candidates: -candidates.earliest_start(),
)
"""Rules 1 to 5. Each rule keeps the candidates with the smallest value. Rule 6, which has no entry here,
takes any of the remaining candidates: upstream takes the first one of a map, whose order is random."""


def pick_one_node(candidates: Candidates) -> tuple[Candidates, int]:
    """Return the candidates that remain after rules 1 to 5, and the number of the rule after which one
    remained: 0 = there was only one candidate, 6 = several remain (pickOneNodeForPreemption)."""
    if len(candidates.rows) == 1:
        return candidates, 0
    for rule, score in enumerate(TIE_BREAK_RULES, start=1):
        scores = score(candidates)
        candidates = candidates.take(scores == scores.min())
        if len(candidates.rows) == 1:
            return candidates, rule
    return candidates, len(TIE_BREAK_RULES) + 1
