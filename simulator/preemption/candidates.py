"""Nodes that preemption could free, and the choice among them."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Bools, Ints, Rows
from simulator.objects.pod import Pod

PRIORITY_OFFSET = 1 << 31
"""Added to each priority in the sum, so that many pods of negative priority do not count as less than few."""
LOWEST = int(np.iinfo(np.int64).min)


class Candidates(NamedTuple):
    """n nodes that preemption could free, as columns. ``pods`` (Pod or None), ``victim`` and ``violates`` are
    [n, k]: a node's pods, most important first; which of them are victims, and whose eviction would violate a
    PDB."""

    rows: Rows
    pods: NDArray[Any]
    victim: Bools
    violates: Bools
    priority: Ints
    start: NDArray[np.float64]

    def victims(self, i: int) -> list[Pod]:
        """Most important first."""
        return list(self.pods[i, self.victim[i]])

    def taken(self, indices: Rows | Bools) -> "Candidates":
        return Candidates._make(column[indices] for column in self)

    # What the tie-break rules compare, one figure a node.

    def pdb_violations(self) -> Ints:
        count: Ints = np.sum(self.victim & self.violates, axis=1, dtype=np.int64)
        return count

    def highest_priority(self) -> Ints:
        highest: Ints = np.where(self.victim, self.priority, LOWEST).max(axis=1, initial=LOWEST)
        return highest

    def priority_sum(self) -> Ints:
        total: Ints = np.where(self.victim, self.priority + PRIORITY_OFFSET, 0).sum(axis=1)
        return total

    def victim_count(self) -> Ints:
        count: Ints = np.sum(self.victim, axis=1, dtype=np.int64)
        return count

    def earliest_start(self) -> NDArray[np.float64]:
        """Of the victims of the highest priority."""
        top = self.victim & (self.priority == self.highest_priority()[:, np.newaxis])
        earliest: NDArray[np.float64] = np.where(top, self.start, np.inf).min(axis=1, initial=np.inf)
        return earliest


def as_columns(found: Sequence[tuple[int, Sequence[Pod], AbstractSet[str]]]) -> Candidates:
    """Candidates from (row, victims with the most important first, keys of those that violate a PDB)."""
    widest = max((len(victims) for _, victims, _ in found), default=0)
    pods = np.full((len(found), widest), None, dtype=object)
    for i, (_, victims, _) in enumerate(found):
        pods[i, : len(victims)] = victims

    def column(ask: Callable[[int, Pod], Any], dtype: Any) -> Any:
        values = [[0 if p is None else ask(i, p) for p in line] for i, line in enumerate(pods)]
        return np.array(values, dtype=dtype).reshape(pods.shape)

    return Candidates(
        np.array([row for row, _, _ in found], dtype=np.intp),
        pods,
        column(lambda _, p: True, np.bool_),
        column(lambda i, p: p.key in found[i][2], np.bool_),
        column(lambda _, p: p.priority, np.int64),
        column(lambda _, p: p.start_seconds, np.float64),
    )


def joined(parts: Sequence[Candidates]) -> Candidates:
    """All of them, brought to one width."""
    widest = max((part.pods.shape[1] for part in parts), default=0)

    def padded(column: NDArray[Any]) -> NDArray[Any]:
        if column.ndim == 1 or column.shape[1] == widest:
            return column
        wider = np.zeros((len(column), widest), dtype=column.dtype)
        wider[:, : column.shape[1]] = column
        return wider

    columns = zip(*parts, strict=True)
    return Candidates._make(np.concatenate([padded(c) for c in column]) for column in columns)


LADDER: tuple[Callable[[Candidates], NDArray[Any]], ...] = (
    Candidates.pdb_violations,
    Candidates.highest_priority,
    Candidates.priority_sum,
    Candidates.victim_count,
    lambda candidates: -candidates.earliest_start(),
)
"""The tie-break rules in order; on each, the smallest stay. The last one left to chance is rule 6."""


def pick(candidates: Candidates) -> tuple[Candidates, int]:
    """pickOneNodeForPreemption: who is left at the end, and the rule (1 to 6) that decided; 0 = only one from
    the start."""
    if len(candidates.rows) == 1:
        return candidates, 0
    for rule, score in enumerate(LADDER, start=1):
        scores = score(candidates)
        candidates = candidates.taken(scores == scores.min())
        if len(candidates.rows) == 1:
            return candidates, rule
    return candidates, len(LADDER) + 1
