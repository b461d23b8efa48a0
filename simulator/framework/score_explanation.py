"""The numbers from which a plugin computes its scores, for display."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType


class ScoreInput(msgspec.Struct, frozen=True):
    """An input of a plugin's scores, a node each: one resource, the amount that would be requested with
    the pod on the node, and the allocatable amount; or the bytes of the images, with the number of images as
    the weight."""

    resource: str
    weight: int
    requested: list[int]
    allocatable: list[int]
    request: int | UnsetType = UNSET
    """The pod's part of the requested amount, where the score also depends on the node without the pod."""


TermKind = Literal["taint", "node", "affinity", "anti-affinity", "existing", "required", "spread", "rest"]


class ScoreTerm(msgspec.Struct, frozen=True):
    """One of the terms that a count adds up from, a node each.

    taint: an untolerated taint (counts 0 or 1). node: a preferred node selector term (0 or 1). affinity,
    anti-affinity: the pod's own preferred terms, and how many pods match in the node's domain; existing,
    required: terms of pods that are there, and how many of these the domain has. spread: a constraint, and
    the matching pods in the domain; -1 where the node lacks the key. rest: all further terms, weighted."""

    kind: TermKind
    name: str
    """The name in Kubernetes' own words: taint, selector, or topology key and selector."""
    weight: int
    counts: list[int]
    domains: int = 0
    """The number of domains of a spread."""
    max_skew: int = 0


class ScoreExplanation(NamedTuple):
    """The numbers from which scores are computed; see :class:`simulator.decision.PluginScores`."""

    inputs: Sequence[ScoreInput] = ()
    strategy: str = ""
    shape: tuple[tuple[int, int], ...] = ()
    terms: Sequence[ScoreTerm] = ()
