"""The record of one scheduling attempt, for display: the cycle panel, permalinks, ``explain`` and ``decide``.
The scheduler does not read it (see :mod:`simulator.scheduler.schedule_result`).

What there is of every node is a column in the order of ``nodes``, what there is of every feasible node a
column in the order of ``feasible``. :mod:`simulator.decision_columns` has the columns, and how Decisions are
encoded and decoded. At 5,000 nodes a stored Decision has some 20 to 40 kB.
"""

from typing import Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from simulator.cluster.node_names import UNSTORED_NAMES, NodeNames
from simulator.decision_columns import UNSTORED, IntColumn, SumColumn, TiedNames
from simulator.framework.score_explanation import ScoreInput, ScoreTerm
from simulator.framework.status import Code


class Failure(msgspec.Struct, frozen=True, gc=False):
    """The status of all nodes that were rejected for the same reasons."""

    plugin: str
    code: Code
    reasons: list[str]
    by_pre_filter: bool = False
    """Whether the nodes are excluded by a PreFilter result, so that no Filter plugin was run."""


class PreFilter(msgspec.Struct, frozen=True):
    code: Code
    plugin: str
    reasons: list[str]
    node_names: list[str] | None
    """The nodes that the PreFilter results allow; None = all."""
    skipped: list[str]


class PluginScores(msgspec.Struct, frozen=True):
    """One score plugin over the feasible nodes."""

    plugin: str
    weight: int
    raw: IntColumn
    """UNSTORED when it is made if it is equal to ``normalized``."""
    normalized: IntColumn
    weighted: IntColumn = UNSTORED
    """The product of ``normalized`` and ``weight``; it need not be given."""
    strategy: str = ""
    """The strategy of NodeResourcesFit: LeastAllocated, MostAllocated or RequestedToCapacityRatio."""
    shape: tuple[tuple[int, int], ...] = ()
    """The shape of RequestedToCapacityRatio: utilization in percent, and score from 0 to 10."""
    inputs: list[ScoreInput] = []
    """The inputs of the scores, over the decision's ``explained``; empty for plugins whose raw score is a sum
    of ``terms``."""
    terms: list[ScoreTerm] = []
    """The terms of a raw score that is a sum, over the decision's ``explained``."""

    def __post_init__(self) -> None:
        if self.raw is UNSTORED:
            msgspec.structs.force_setattr(self, "raw", SumColumn((self.normalized, 1)))
        if self.weighted is UNSTORED:
            same = self.weight == 1 and type(self.raw) is SumColumn
            weighted = self.raw if same else SumColumn((self.normalized, self.weight))
            msgspec.structs.force_setattr(self, "weighted", weighted)


class Shortage(NamedTuple):
    """What a rejected node has of a resource, and what the pod needs of it."""

    resource: str
    """The resource, or ``pods``: the number of pods."""
    needs: int
    free: int
    """The allocatable amount less the requests of the pods on the node, and of those that are nominated to it
    with at least the pod's priority; negative on an overcommitted node."""
    allocatable: int


class Shortages(msgspec.Struct, frozen=True):
    """The nodes that have too little of one resource, in the unit of the decision's ``requests``: columns in
    the order of ``nodes``, which are indices in the decision's nodes."""

    resource: str
    needs: int
    nodes: list[int]
    free: list[int]
    allocatable: list[int]


class Victim(msgspec.Struct, frozen=True, gc=False):
    pod: str
    priority: int
    violates_pdb: bool
    start_time: str


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A node that preemption could free, with the figures that the tie-break rules compare."""

    node: str
    victims: list[Victim]
    """The victims, most important first."""
    pdb_violations: int
    highest_priority: int
    priority_sum: int
    """The sum of (priority + 2^31), as upstream adds it up."""
    earliest_start: str
    """The earliest start time among the victims of the highest priority."""
    cleared_nominations: list[str]
    spared: list[Victim] = []
    """Pods of lower priority that need not be evicted, most important first."""
    tried: list[str] = []
    """The keys of victims and spared pods in the order of the reprieve. Both fields are empty for most
    candidates: see simulator/scheduler/preemption_record.py."""

    @property
    def figures(self) -> tuple[int, int, int, int, str]:
        """The figures that the tie-break rules 1 to 5 compare."""
        return (
            self.pdb_violations,
            self.highest_priority,
            self.priority_sum,
            len(self.victims),
            self.earliest_start,
        )


class Preemption(msgspec.Struct, frozen=True):
    eligible: bool
    """Whether the pod may preempt others."""
    ineligible_reason: str = ""
    candidates: list[Candidate] = []
    non_candidates: dict[str, Failure] = {}
    """Other nodes of the dry run -> the reason for which each is no candidate."""
    tied: list[str] = []
    """The candidates that are left after all tie-break rules; one of them is drawn by the seed."""
    chosen: str = ""
    """The nominated node; empty when preemption found none."""
    rule: int = 0
    """The tie-break rule that decided, 1 to 6 (6 = drawn by the seed); 0 when there was one candidate."""
    code: Code = "Success"
    """The status of PostFilter: of all its plugins together, as are ``plugin`` and ``message``."""
    plugin: str = ""
    message: str = ""

    @property
    def chosen_candidate(self) -> Candidate | None:
        """The candidate that was chosen. None if preemption found none, or if another plugin than
        DefaultPreemption nominated the node."""
        return next((each for each in self.candidates if each.node == self.chosen), None)


class TwoPasses(msgspec.Struct, frozen=True):
    """A node that is filtered twice because it has nominated pods of equal or higher priority: the pod must
    pass with these pods on the node and without them."""

    node: str
    nominated: list[str]
    with_them: bool
    """Whether the pod passes."""
    without_them: bool


MIN_FEASIBLE_NODES_TO_FIND = 100
"""The number of nodes below which all nodes of a cluster are filtered, and of feasible nodes before which no
search stops that scores nodes (minFeasibleNodesToFind)."""


class NodeSample(NamedTuple):
    """The nodes that were looked at in a cycle that did not look at all."""

    first: str
    """The node at which the search began (nextStartNodeIndex)."""
    looked_at: int
    """The number of nodes on which the Filter plugins were run."""
    nodes: int
    """The number of nodes of the cluster."""
    feasible: int

    @property
    def is_enough(self) -> bool:
        """Whether the search stopped as enough nodes were feasible (percentageOfNodesToScore). Else the nodes
        were left out for another reason: a pod of a group is tried on the nodes of a placement."""
        return self.feasible >= MIN_FEASIBLE_NODES_TO_FIND


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
    nodes: NodeNames
    pre_filter: PreFilter | None
    filter_plugins: list[str]
    """The Filter plugins that were run, in order."""
    verdicts: IntColumn
    """A node each: 0 = passed, k > 0 = rejected with ``failures[k - 1]``, -1 = not evaluated."""
    failures: list[Failure]
    feasible: IntColumn
    """The feasible nodes: their indices in ``nodes``."""
    scores: list[PluginScores]
    pre_score_skipped: list[str]
    totals: IntColumn
    """The sum of the weighted scores: with scores, UNSTORED when a Decision is made."""
    tied: NodeNames
    """Nodes that share the top total; UNSTORED_NAMES when a Decision is made."""
    selected: str
    """The chosen node; empty when the pod fits nowhere."""
    nominated_shortcut: bool
    preemption: Preemption | None
    unschedulable_plugins: list[str]
    message: str
    """The PodScheduled condition's message: empty when the pod fits."""
    outcome: Literal["scheduled", "unschedulable", "preempting", "error", "gated", "ignored", ""]
    """The outcome; "" while the attempt is under way. "gated" and "ignored" (no profile has the pod's
    schedulerName) are answers of ``explain`` only: there is no attempt."""
    two_passes: list[TwoPasses] = []
    explained: list[int] = []
    """The best nodes, best first, of which ``scores`` has the inputs: their indices in ``feasible``."""
    shortages: list[Shortages] = []
    """What nodes lack that NodeResourcesFit rejected: of all of them if these are few, else of the node of
    each failure that lacks least (:mod:`simulator.scheduler.shortages`)."""
    hinted: Literal[True] | UnsetType = UNSET
    """Whether ``selected`` is the next best node of the cycle before, so that nodes were not scored
    (:mod:`simulator.framework.batch`)."""

    def __post_init__(self) -> None:
        if self.totals is UNSTORED:
            totals = SumColumn(*[(scores.normalized, scores.weight) for scores in self.scores])
            msgspec.structs.force_setattr(self, "totals", totals)
        if self.tied is UNSTORED_NAMES:
            msgspec.structs.force_setattr(self, "tied", TiedNames(self.nodes, self.feasible, self.totals))

    @property
    def sample(self) -> NodeSample | None:
        """The nodes that were looked at, where nodes were feasible and others were left out; None where none
        was, and where the nominated node fitted.

        The nodes that were looked at follow each other, without those that PreFilter excludes."""
        if self.nominated_shortcut or not len(self.feasible):
            return None
        codes = self.verdicts.array()
        excluded = [place for place, failure in enumerate(self.failures, start=1) if failure.by_pre_filter]
        considered = np.flatnonzero(~np.isin(codes, excluded))
        left_out = codes[considered] < 0
        if not left_out.any():
            return None
        # Back from a feasible node to the first one: a nominated node may have been looked at before.
        place = int(np.searchsorted(considered, self.feasible[0]))
        back = np.roll(left_out, -place)[::-1]
        first = considered[(place - int(np.argmax(back))) % len(considered)]
        looked_at = len(considered) - int(np.count_nonzero(left_out))
        return NodeSample(self.nodes[int(first)], looked_at, len(self.nodes), len(self.feasible))

    def shortages_of(self, node: int) -> list[Shortage]:
        """Return what is recorded of a node. node: its index in ``nodes``."""
        return [
            Shortage(each.resource, each.needs, each.free[place], each.allocatable[place])
            for each in self.shortages
            for place, index in enumerate(each.nodes)
            if index == node
        ]

    @property
    def chosen_node(self) -> str:
        """The node to which the pod is bound or nominated; empty if there is none."""
        return self.selected or (self.preemption.chosen if self.preemption else "")

    @property
    def chosen_candidate(self) -> Candidate | None:
        """The candidate that preemption chose."""
        return self.preemption.chosen_candidate if self.preemption else None

    @property
    def victims(self) -> list[Victim]:
        """The pods that are evicted for it."""
        return self.chosen_candidate.victims if self.chosen_candidate else []


class UnderWay(msgspec.Struct, frozen=True):
    """A scheduling or binding cycle that is stopped between two extension points. It is not a trace event:
    the trace has the events of the points."""

    point: str
    """The one that runs next."""
    cycle: int
    pod: str
    decision: Decision | None
    """The record of the cycle until now; None once the cycle's own Decision is there."""
