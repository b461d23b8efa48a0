"""Trace events with what the model says of the decisions of a real scheduler."""

from typing import Literal

import msgspec

from simulator.trace.event import Event

Verdict = Literal["agrees", "tie", "sampled", "differs", "impossible", "not this scheduler", "unknown"]
"""agrees: the model decides the same. tie: it could decide the same, among several equal ones. sampled: it
decides so if only a part of the nodes is looked at (percentageOfNodesToScore, or the candidates of a
preemption). differs: it decides otherwise. impossible: a filter rejects what was decided. unknown: it is not
known for which pod it was decided."""

NODES_AT_MOST = 16
"""Maximum number of candidates that a verdict on a preemption lists."""


class JudgedScore(msgspec.Struct, frozen=True, gc=False):
    """The weighted scores of one plugin for both nodes."""

    plugin: str
    theirs: int
    """That of the node that the scheduler chose."""
    best: int
    """That of the node that the model chooses."""


class JudgedState(msgspec.Struct, frozen=True, gc=False):
    """The state of the cluster in which the model's attempt was made."""

    version: int
    """The resourceVersion of the first change that is not in it."""
    age: int
    """How many microseconds older it is than the state just before the decision was written."""
    assumed: list[str] = []
    """Pods that count as being on their nodes, which were written later."""
    undone: list[str] = []
    """Pods that do not count as being on their nodes, though this had been written."""


class BindingJudged(Event, frozen=True, tag=True):
    """The verdict on a binding."""

    pod: str
    node: str
    scheduler: str
    """The pod's schedulerName."""
    verdict: Verdict
    state: JudgedState
    best: str = ""
    """The node that the model chooses, where it is another one; "" = none fits."""
    total: int = 0
    best_total: int = 0
    """The totals of both nodes."""
    scores: list[JudgedScore] = []
    """The plugins whose scores of both nodes differ."""
    equal: int = 0
    """The number of nodes with the highest total; 0 = nodes were not scored."""
    plugin: str = ""
    """The plugin that rejects the node."""
    reason: str = ""
    """Its message; or why the binding is not this scheduler's."""
    first: str = ""
    """Of a sample: the node at which the search begins."""
    looked_at: int = 0
    """Of a sample: the number of feasible nodes that are scored."""
    judged_as: str = ""
    """The version by which it is judged, where the scheduler has another minor version."""


class FailureJudged(Event, frozen=True, tag=True):
    """The verdict on a message of the scheduler that a pod cannot be scheduled."""

    pod: str
    scheduler: str
    verdict: Verdict
    state: JudgedState
    message: str
    """The scheduler's message."""
    model: str = ""
    """The model's message, where it is another one."""
    best: str = ""
    """The node that the model binds the pod to."""
    judged_as: str = ""


class JudgedCandidate(msgspec.Struct, frozen=True, gc=False):
    """A node that preemption could free, with the figures that the tie-break rules compare."""

    node: str
    victims: list[str]
    pdb_violations: int
    highest_priority: int
    priority_sum: int
    """The sum of (priority + 2^31), as upstream adds it up."""
    earliest_start: str


class PreemptionJudged(Event, frozen=True, tag=True):
    """The verdict on the eviction of a pod by the scheduler."""

    pod: str
    """The victim."""
    node: str
    scheduler: str
    verdict: Verdict
    state: JudgedState
    preemptor: str = ""
    """"" = unknown."""
    preemptor_uid: str = ""
    owner: str = ""
    """The kind and name of the preemptor's controller."""
    candidates: list[JudgedCandidate] = []
    """The first NODES_AT_MOST of the model's candidates, with the node in any case if it is one."""
    candidate_count: int = 0
    rule: int = 0
    """The tie-break rule by which the model chooses, as in a Decision; 0 = there was one candidate."""
    best: str = ""
    """The node that the model frees, where it is another one; "" = none."""
    reason: str = ""
    """Why the node is no candidate, or why the model does not preempt."""
    judged_as: str = ""


class VictimReplaced(Event, frozen=True, tag=True):
    """A pod of the controller of a victim of preemption was bound in its place."""

    pod: str
    """The victim."""
    node: str
    """The node from which it was evicted."""
    by: str
    """The new pod."""
    to: str
    """Its node."""
    waited: int
    """Microseconds since the eviction."""
