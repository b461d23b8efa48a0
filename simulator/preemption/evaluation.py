"""How preemption was tried for a pod."""

from typing import NamedTuple

from simulator.preemption.candidates import Candidates
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
