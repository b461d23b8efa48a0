"""What is found, as plain data: for pages, for JSON, for the command line."""

from typing import Literal

import msgspec

from simulator.what_if.edit import Edit

Kind = Literal[
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
    "spread",
    "host-port",
    "preemption-policy",
    "priority",
    "delete-pod",
    "drop-volume",
    "volume",
    "node",
]
"""docs/WHATIF.md says of each what it is, and what it costs."""


class Outcome(msgspec.Struct, frozen=True):
    """What one scheduling attempt comes to."""

    kind: Literal["bound", "nominated", "unschedulable", "gated", "ignored", "error"]
    """gated: not even queued. ignored: no profile has the pod's schedulerName."""
    node: str = ""
    """Where the pod would be bound, or nominated to."""
    victims: list[str] = []
    """Pods that would be evicted, most important first."""
    rule: int = 0
    """Of the ladder of preemption, see :class:`simulator.decision.Preemption`."""
    feasible: list[str] = []
    """Nodes that the pod fits on, in the scheduler's order; the first few."""
    feasible_count: int = 0
    message: str = ""
    """The scheduler's, where the pod is not bound."""


class Suggestion(msgspec.Struct, frozen=True):
    """One change that lets the pod run. It was made on a copy of the cluster, and ``outcome`` is what the
    model then did."""

    kind: Kind
    target: str
    """The object that is changed, made or deleted: ``namespace/name`` of a pod, or the name of a node."""
    what: str
    """What of it: the resource, the taint, the label, the constraint; see docs/WHATIF.md."""
    before: str
    after: str
    """Empty where there is nothing any more."""
    cost: float
    """How large a change it is; the smallest first."""
    edits: list[Edit]
    outcome: Outcome
    unit: str = ""
    """Of a request: the step down to which ``after`` is exact. One step more fits no node."""
    alike: list[str] = []
    """Other targets for which the same was tried, and does the same; the first few."""


class Obstacle(msgspec.Struct, frozen=True):
    plugin: str
    reason: str
    resource: str = ""
    short_by: str = ""
    """Of a resource: how much of it is missing there."""


class Lack(msgspec.Struct, frozen=True):
    """All that stands against one node, where the scheduler itself stops at the first reason."""

    node: str
    obstacles: list[Obstacle]


class Answer(msgspec.Struct, frozen=True):
    """``suggestions`` are ranked, the smallest change first. Where there is none, no single change of the
    kinds that are tried lets the pod run, and ``lacks`` says what more than one thing it would take."""

    pod: str
    owner: str
    """The controller that made the pod (``ReplicaSet web``): a pod made anew is to be changed in its
    template. Empty for a pod of its own."""
    now: Outcome
    """As things are."""
    suggestions: list[Suggestion]
    lacks: list[Lack]
    """The nodes with the least against them."""
    tried: int
    """Changes tried on the model."""


class Progress(msgspec.Struct, frozen=True):
    """``done`` of ``total`` kinds of changes have been gone through; ``tried`` changes so far."""

    doing: str
    done: int
    total: int
    tried: int
