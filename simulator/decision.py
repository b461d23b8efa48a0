"""What one scheduling attempt decided, whole: the record behind the cycle panel, receipts and ``decide``.

Columns, not objects: per-node facts are lists in the order of ``nodes``; per-feasible-node facts are lists in
the order of ``feasible`` (indices into ``nodes``). A record of 5,000 nodes stays in the tens of kilobytes.
"""

from typing import Literal

import msgspec

Code = Literal["Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error", "Skip", "Pending", "Wait"]


class Failure(msgspec.Struct, frozen=True):
    """A distinct verdict: many nodes share one."""

    plugin: str
    code: Code
    reasons: list[str]
    by_pre_filter: bool = False
    """True for nodes left out by a PreFilter result: no filter ran there."""


class PreFilter(msgspec.Struct, frozen=True):
    code: Code
    plugin: str
    reasons: list[str]
    node_names: list[str] | None
    """The nodes that the PreFilter results allow; None = all."""
    skipped: list[str]


class ScoreInput(msgspec.Struct, frozen=True):
    """What a plugin scored nodes by, in the order of the decision's ``explained``: one resource, what would
    be requested of it with the pod on, and what there is of it; or the images, by their bytes, with their
    number as the weight."""

    resource: str
    weight: int
    requested: list[int]
    allocatable: list[int]


TermKind = Literal["taint", "node", "affinity", "anti-affinity", "existing", "required", "spread", "rest"]


class ScoreTerm(msgspec.Struct, frozen=True):
    """One of the terms that a count adds up from, over the decision's ``explained``.

    taint: an untolerated taint (counts 0 or 1). node: a preferred node selector term (0 or 1). affinity,
    anti-affinity: the pod's own preferred terms, and how many pods match in the node's domain; existing,
    required: terms of pods that are there, and how many of these the domain has. spread: a constraint, and
    the matching pods in the domain; -1 where the node lacks the key. rest: all further terms, weighted."""

    kind: TermKind
    name: str
    """Taint, selector, or topology key and selector, in Kubernetes' own words."""
    weight: int
    counts: list[int]
    domains: int = 0
    """Of a spread: among how many domains."""
    max_skew: int = 0


class PluginScores(msgspec.Struct, frozen=True):
    """One score plugin over the feasible nodes."""

    plugin: str
    weight: int
    raw: list[int]
    normalized: list[int]
    weighted: list[int]
    strategy: str = ""
    """LeastAllocated, MostAllocated or RequestedToCapacityRatio, of NodeResourcesFit."""
    shape: tuple[tuple[int, int], ...] = ()
    """RequestedToCapacityRatio's: utilization in percent, and score from 0 to 10."""
    inputs: list[ScoreInput] = []
    """Empty for plugins whose raw score is itself a count, or was not counted out."""
    terms: list[ScoreTerm] = []
    """What a count adds up from."""


class Victim(msgspec.Struct, frozen=True):
    pod: str
    priority: int
    violates_pdb: bool
    start_time: str


class Candidate(msgspec.Struct, frozen=True):
    """A node that preemption could free, with the figures that the tie-break rules compare."""

    node: str
    victims: list[Victim]
    """Most important first."""
    pdb_violations: int
    highest_priority: int
    priority_sum: int
    """Sum of (priority + 2^31), as upstream adds it up."""
    earliest_start: str
    """Earliest start time among the victims of the highest priority."""
    cleared_nominations: list[str]
    spared: list[Victim] = []
    """Pods of lower priority that could stay, most important first."""
    tried: list[str] = []
    """Victims and spared, in the order in which they were put back. Both kept for some candidates only."""


class Preemption(msgspec.Struct, frozen=True):
    eligible: bool
    ineligible_reason: str
    candidates: list[Candidate]
    non_candidates: dict[str, Failure]
    tied: list[str]
    """Nodes that all rules leave standing; the choice among them is drawn by the seed."""
    chosen: str
    """The nominated node; empty when preemption found none."""
    rule: int
    """Which tie-break rule decided, 1 to 6 (6 = drawn by the seed); 0 when there was nothing to compare."""
    code: Code
    plugin: str
    message: str


class TwoPasses(msgspec.Struct, frozen=True):
    """A node that was filtered twice, because pods of equal or higher priority are nominated to it: it must
    take the pod with them and without them."""

    node: str
    nominated: list[str]
    with_them: bool
    """Whether the pod passes."""
    without_them: bool


class Decision(msgspec.Struct, frozen=True):
    cycle: int
    t: int
    """Simulated microseconds."""
    pod: str
    uid: str
    attempt: int
    profile: str
    priority: int
    requests: dict[str, int]
    """Resource to amount: cpu in millicores, the rest in units."""
    nodes: list[str]
    pre_filter: PreFilter | None
    filter_plugins: list[str]
    """The filter plugins that ran, in order."""
    verdicts: list[int]
    """Per node: 0 passes, k > 0 failed by ``failures[k - 1]``, -1 was not looked at."""
    failures: list[Failure]
    feasible: list[int]
    scores: list[PluginScores]
    pre_score_skipped: list[str]
    totals: list[int]
    tied: list[str]
    """Nodes that share the top total."""
    selected: str
    """The chosen node; empty when the pod fits nowhere."""
    nominated_shortcut: bool
    preemption: Preemption | None
    unschedulable_plugins: list[str]
    message: str
    """The PodScheduled condition's message: empty when the pod fits."""
    outcome: Literal["scheduled", "unschedulable", "preempting", "error", ""]
    """Empty while the attempt is under way."""
    two_passes: list[TwoPasses] = []
    explained: list[int] = []
    """The best nodes, best first, for which the scores' inputs are kept: places in ``feasible``."""


class UnderWay(msgspec.Struct, frozen=True):
    """A scheduling or binding cycle that stands between two extension points (not a trace event: what happens
    there is traced by what comes of it)."""

    point: str
    """The one that runs next."""
    cycle: int
    pod: str
    decision: Decision | None
    """What is known so far; None once the cycle's own Decision is there."""
