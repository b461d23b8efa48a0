"""The workload *basic* of :mod:`simulator.harness.workloads`, scheduled by NumPy alone: what the fit and the
scores cost without plugins, objects, queue and reasons. The benchmark has it as the limit."""

import numpy as np

from simulator.cluster.columns import Ints, Rows

NODE = (4_000, 32 * 2**30, 110)
"""The allocatable cpu in millicores, bytes of memory, and pods of a node."""
POD = (100, 500 * 2**20, 1)
"""The requests of a pod."""


class BareNodes:
    """Equal nodes, and pods of one kind on them."""

    def __init__(self, count: int, pods: int) -> None:
        on_node = np.bincount(np.arange(pods) % count, minlength=count)
        self._allocatable: Ints = np.repeat(np.array([NODE]).T, count, axis=1)
        self._requested: Ints = np.array([POD]).T * on_node
        self._request: Ints = np.array([POD]).T

    def best(self) -> Rows:
        """Return the feasible nodes with the highest sum of LeastAllocated and the balanced allocation."""
        after = self._requested + self._request
        fits = (after <= self._allocatable).all(axis=0)
        allocatable, used = self._allocatable[:2], after[:2]
        least = ((allocatable - used) * 100 // allocatable).sum(axis=0) // 2
        balance, before = (self._balance(amounts) for amounts in (used, self._requested[:2]))
        gained = 50 + ((50 + balance - before) / 2).astype(np.int64)
        totals = np.where(fits, least + gained, -1)
        best: Rows = (totals == totals.max()).nonzero()[0]
        return best if fits.any() else best[:0]

    def bind(self, node: int) -> None:
        self._requested[:, node] += POD

    def _balance(self, used: Ints) -> Ints:
        cpu, memory = np.minimum(used / self._allocatable[:2], 1.0)
        balance: Ints = ((1 - np.abs((cpu - memory) / 2)) * 100).astype(np.int64)
        return balance
