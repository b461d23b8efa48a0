"""Candidates: the nodes on which preemption can make room for the preemptor, with their victims."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Bools, Ints, Rows
from simulator.objects.pod import Pod

PRIORITY_OFFSET = 1 << 31
"""Added to each priority in the sum, so that the sum of several negative priorities is not lower than the sum
of one (pickOneNodeForPreemption)."""
LOWEST = int(np.iinfo(np.int64).min)


class Candidates(NamedTuple):
    """The candidates of a preemption, n of them, as columns. ``rows`` is [n], the other columns are [n, k].

    ``pods``: pods of the node (Pod, or None), the most important first. ``victim``: which of them are
    victims. ``violates``: the pods whose eviction violates a PodDisruptionBudget. ``priority`` and ``start``:
    the priority and the start time (seconds) of each pod."""

    rows: Rows
    pods: NDArray[Any]
    victim: Bools
    violates: Bools
    priority: Ints
    start: NDArray[np.float64]

    def victims(self, i: int) -> list[Pod]:
        """Return the victims of the i-th candidate, the most important first."""
        return list(self.pods[i, self.victim[i]])

    def take(self, indices: Rows | Bools) -> "Candidates":
        return Candidates._make(column[indices] for column in self)

    # The values that the tie-break rules compare, one per candidate.

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
        """Return for each candidate the earliest start time of its victims with the highest priority."""
        earliest: NDArray[np.float64] = self._top_starts().min(axis=1, initial=np.inf)
        return earliest

    def earliest_start_time(self) -> list[str]:
        """Return the earliest start times as they stand in the pods' statuses; "" where none has started."""
        starts = self._top_starts()
        if not starts.size:
            return [""] * len(starts)
        nodes, first = np.arange(len(starts)), starts.argmin(axis=1)
        pods, seconds = self.pods[nodes, first].tolist(), starts[nodes, first].tolist()
        return [pod.start_time if s < np.inf else "" for pod, s in zip(pods, seconds, strict=True)]

    def _top_starts(self) -> NDArray[np.float64]:
        """Return float64[n, k]: the start times of the victims of the highest priority; inf for all other
        pods."""
        top = self.victim & (self.priority == self.highest_priority()[:, np.newaxis])
        starts: NDArray[np.float64] = np.where(top, self.start, np.inf)
        return starts


def make_candidates(found: Sequence[tuple[int, Sequence[Pod], AbstractSet[str]]]) -> Candidates:
    """Create Candidates from tuples of a row, its victims (the most important first), and the keys of the
    victims whose eviction violates a PodDisruptionBudget."""
    widest = max((len(victims) for _, victims, _ in found), default=0)
    pods = np.full((len(found), widest), None, dtype=object)
    for i, (_, victims, _) in enumerate(found):
        pods[i, : len(victims)] = victims

    def column(compute: Callable[[int, Pod], Any], dtype: Any) -> Any:
        values = [[0 if p is None else compute(i, p) for p in on_node] for i, on_node in enumerate(pods)]
        return np.array(values, dtype=dtype).reshape(pods.shape)

    return Candidates(
        np.array([row for row, _, _ in found], dtype=np.intp),
        pods,
        column(lambda _, p: True, np.bool_),
        column(lambda i, p: p.key in found[i][2], np.bool_),
        column(lambda _, p: p.priority, np.int64),
        column(lambda _, p: p.start_seconds, np.float64),
    )


def join_candidates(parts: Sequence[Candidates]) -> Candidates:
    """Concatenate Candidates, padding the [n, k] columns to the largest k."""
    widest = max((part.pods.shape[1] for part in parts), default=0)

    def padded(column: NDArray[Any]) -> NDArray[Any]:
        if column.ndim == 1 or column.shape[1] == widest:
            return column
        wider = np.zeros((len(column), widest), dtype=column.dtype)
        wider[:, : column.shape[1]] = column
        return wider

    columns = zip(*parts, strict=True)
    return Candidates._make(np.concatenate([padded(c) for c in column]) for column in columns)
