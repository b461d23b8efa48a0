"""The results of a what-if search as plain data, for pages, JSON and the command line."""

from typing import Literal

import msgspec

from simulator.what_if.edit import Edit

ChangeKind = Literal[
    "gate",
    "scheduler",
    "uncordon",
    "toleration",
    "taint",
    "label",
    "request",
    "selector",
    "node-affinity",
    "pod-affinity",
    "pod-anti-affinity",
    "spread-policy",
    "spread-domains",
    "spread-skew",
    "spread-anyway",
    "spread",
    "host-port",
    "preemption-policy",
    "priority",
    "delete-pod",
    "claim",
    "device-class",
    "device-toleration",
    "claim-count",
    "claim-capacity",
    "claim-size",
    "claim-class",
    "claim-selector",
    "class-selector",
    "claim-constraint",
    "delete-claim",
    "free-device",
    "device",
    "drop-claim",
    "drop-volume",
    "volume",
    "node",
    "min-count",
    "topology-key",
    "topology",
    "group-priority",
    "nodes",
]
"""The kinds of changes. docs/WHATIF.md describes each, and its cost."""


class GangOutcome(msgspec.Struct, frozen=True):
    """What became of a gang in its cycle."""

    group: str
    """``namespace/name`` of the PodGroup."""
    fits: int
    """The number of its pods that have a place, the bound ones included, of ``size``."""
    size: int
    needs: int
    """Its minCount."""
    placement: str = ""
    """The placement that was chosen; "" = all nodes."""
    nodes: dict[str, str] = {}
    """The pods that would get a node, and which; only the first few."""
    unplaced: str = ""
    """The first pod that has no place."""


class AttemptOutcome(msgspec.Struct, frozen=True):
    """The result of one scheduling attempt, or of the cycle of a gang."""

    kind: Literal["bound", "nominated", "unschedulable", "gated", "ignored", "error"]
    """The kind of the result. gated: PreEnqueue rejects the pod. ignored: no profile has the pod's
    schedulerName."""
    node: str = ""
    """The node to which the pod would be bound or nominated."""
    victims: list[str] = []
    """Pods that would be evicted, most important first."""
    rule: int = 0
    """The rule that chose the node, see :class:`simulator.decision.Preemption`."""
    feasible: list[str] = []
    """The feasible nodes in the scheduler's order; only the first few."""
    feasible_count: int = 0
    message: str = ""
    """The scheduler's message if the pod is not bound."""
    gang: GangOutcome | None = None
    """For a pod of a gang, which is tried as a whole: then ``node`` is that of the first member that does not
    fit now, and the kind is that of the gang."""


class ChangePart(msgspec.Struct, frozen=True):
    """One change of a suggestion, in words."""

    kind: ChangeKind
    target: str
    """The object that is changed, created or deleted: ``namespace/name`` of a pod, or the name of a node."""
    what: str
    """The changed part: the resource, the taint, the label, the constraint; see docs/WHATIF.md."""
    before: str
    after: str
    """The new value; "" if the part is removed."""
    within: str = ""
    """The request of a claim that has the changed part, where the claim may have others like it."""
    unit: str = ""
    """The unit of which ``after`` is a multiple, for a request. One unit more fits no node."""


class Suggestion(ChangePart, frozen=True, kw_only=True):
    """A change that lets the pod run, or two that do so together. ``outcome`` is the result of the attempt on
    a copy of the cluster with this change."""

    cost: float
    """The size of the change, for two changes their sum. Suggestions are sorted by it, smallest first."""
    edits: list[Edit]
    """The writes, those of ``further`` included."""
    outcome: AttemptOutcome
    further: list[ChangePart] = []
    """The second change, if none suffices alone; otherwise empty."""
    follows: list[Edit] = []
    """The writes of the controllers that follow from the change, which the attempt took into account. They
    are not to be applied."""
    alike: list[str] = []
    """The other targets for which the same change was tried and helps too; only the first few."""
    alike_more: int = 0
    """The number of further targets like those, which were not tried."""
    rivals: list[str] = []
    """The other pending pods that fit the same node with this change, and may take the room first. Only for
    changes of other objects than the pod; see :mod:`simulator.what_if.rivals`."""
    rivals_partial: bool = False
    """Whether not all pending pods were tried, so that there may be more rivals."""

    @property
    def parts(self) -> list[ChangePart]:
        """The changes: the suggestion itself, and the second one if there is one."""
        return [self, *self.further]


class Obstacle(msgspec.Struct, frozen=True):
    """One reason for which a node cannot take the pod."""

    plugin: str
    reason: str
    resource: str = ""
    short_by: str = ""
    """The amount that is missing on the node, if the reason is a lack of ``resource``."""


class NodeObstacles(msgspec.Struct, frozen=True):
    """All obstacles of one node. The scheduler itself stops at the first filter plugin that rejects a
    node."""

    node: str
    obstacles: list[Obstacle]


class WhatIfAnswer(msgspec.Struct, frozen=True):
    """The result of a search. ``suggestions`` are sorted, the smallest change first. They are single changes,
    or if no single change lets the pod run, pairs of changes.

    If there is none, neither one change nor two of those that are tried let the pod run; ``lacks`` then
    contains the nodes with the fewest obstacles."""

    pod: str
    owner: str
    """The controller of the pod (``ReplicaSet web``), in whose template the change has to be made. Empty for
    a pod without controller."""
    now: AttemptOutcome
    """The result without any change."""
    suggestions: list[Suggestion]
    lacks: list[NodeObstacles]
    """The nodes with the fewest obstacles; empty if a node has none, as for a pod with scheduling gates."""
    tried: int
    """Number of changes that were tried."""
    when_queued: AttemptOutcome | None = None
    """For a pod that is not queued and for which nothing was found: the result after all its scheduling gates
    are removed, or with the schedulerName of the first profile."""
    group: str = ""
    """The gang of the pod, which was tried as a whole; "" = the pod was tried alone."""


class Progress(msgspec.Struct, frozen=True):
    """A report on a running search: ``done`` of ``total`` stages are complete, ``doing`` is the name of the
    current one, ``tried`` changes have been tried."""

    doing: str
    done: int
    total: int
    tried: int
