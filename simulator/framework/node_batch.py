"""What filter and score plugins look at: many nodes at once, as they are or as they are supposed to be."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows, shift
from simulator.objects.node import Node
from simulator.objects.pod import Pod

T = TypeVar("T", bound=np.generic)


class NodeBatch:
    """``len(batch)`` nodes of a cluster; every array that comes out of it, or goes back to it, has this
    length.

    ``rows[i]`` is the cluster's row of the i-th node. A *whole* batch covers all rows in order, free ones
    among them: whatever a plugin says about free rows is not looked at, so that it needs no special care.

    Read columns of the cluster by ``batch.take(column)`` (for a whole batch a view, so never write to it);
    read what depends on pods by ``requested``, ``non_zero``, ``pod_count``, ``pods(i)``, and never from the
    cluster, because in a :class:`SupposedNodes` some pods are supposed to be gone or to be there already.
    ``changed`` names the batch's indices for which that is so.
    """

    changed: Collection[int] = ()
    real = True
    """The nodes are as they are: what depends on their pods may be read from the cluster, and cached."""

    def __init__(self, cluster: Cluster, rows: Rows | None = None) -> None:
        self.cluster = cluster
        self.whole = rows is None
        self._rows = rows

    def __len__(self) -> int:
        return self.cluster.width if self._rows is None else len(self._rows)

    @property
    def rows(self) -> Rows:
        if self._rows is None:
            self._rows = np.arange(self.cluster.width)
        return self._rows

    def take(self, column: NDArray[T]) -> NDArray[T]:
        """The column's values (its last axis is the cluster's rows) for this batch's nodes."""
        if self.whole:
            return column[..., : self.cluster.width]
        return column[..., self.rows]

    @property
    def requested(self) -> Ints:
        """int64[resource, n], see Cluster.resource."""
        return self.take(self.cluster.requested)

    @property
    def non_zero(self) -> Ints:
        """int64[2, n]: milli cpu and bytes of memory, with defaults where containers request none."""
        return self.take(self.cluster.non_zero)

    @property
    def pod_count(self) -> Ints:
        return self.take(self.cluster.pod_count)

    def node(self, i: int) -> Node:
        return self.cluster.node(int(self.rows[i]))

    def pods(self, i: int) -> Iterable[Pod]:
        """The pods of the i-th node, as this batch supposes them."""
        return self.cluster.pods_on(int(self.rows[i])).values()

    def supposed(self, indices: Rows) -> "SupposedNodes":
        """Some of these nodes, to suppose things about."""
        return SupposedNodes(self.cluster, self.rows[indices])


class SupposedNodes(NodeBatch):
    """Nodes with some of their pods supposed to be gone, others to be there: a cheap overlay, the cluster
    itself is left alone. A node may be in it more than once."""

    real = False

    def __init__(self, cluster: Cluster, rows: Rows) -> None:
        super().__init__(cluster, rows)
        self._requested = cluster.requested[:, rows]
        self._non_zero = cluster.non_zero[:, rows]
        self._pod_count = cluster.pod_count[rows]
        self._pods: dict[int, dict[str, Pod]] = {}

    @property
    def changed(self) -> Collection[int]:  # type: ignore[override]  # a property stands for the attribute
        return self._pods.keys()

    @property
    def requested(self) -> Ints:
        return self._requested

    @property
    def non_zero(self) -> Ints:
        return self._non_zero

    @property
    def pod_count(self) -> Ints:
        return self._pod_count

    def pods(self, i: int) -> Iterable[Pod]:
        changed = self._pods.get(i)
        return super().pods(i) if changed is None else changed.values()

    def shift(self, requests: Ints, pods: Ints) -> None:
        """Suppose that so much more is requested (int64[resource, n]; fewer resources than there are will do)
        by so many more pods (int64[n]). ``pods`` and ``non_zero`` know nothing of it."""
        self.requested[: len(requests)] += requests
        self._pod_count += pods

    def add_pod(self, i: int, pod: Pod) -> None:
        self._own(i)[pod.key] = pod
        self._count(i, pod, 1)

    def remove_pod(self, i: int, pod: Pod) -> None:
        del self._own(i)[pod.key]
        self._count(i, pod, -1)

    def remove_pods(self, i: int, pods: Sequence[Pod]) -> None:
        """The same for many, which costs little more than for one."""
        own = self._own(i)
        for pod in pods:
            del own[pod.key]
        for name in {name for pod in pods for name in pod.requests}:
            line = self.cluster.resources.get(name)
            if line is not None:
                shift(self._requested[line], i, -_sum(pod.requests.get(name, 0) for pod in pods))
        for line in range(len(self._non_zero)):
            shift(self._non_zero[line], i, -_sum(pod.non_zero[line] for pod in pods))
        self._pod_count[i] -= len(pods)

    def supposed(self, indices: Rows) -> "SupposedNodes":
        copy = SupposedNodes(self.cluster, self.rows[indices])
        copy._requested = self._requested[:, indices]
        copy._non_zero = self._non_zero[:, indices]
        copy._pod_count = self._pod_count[indices]
        copy._pods = {k: dict(self._pods[i]) for k, i in enumerate(indices.tolist()) if i in self._pods}
        return copy

    def _own(self, i: int) -> dict[str, Pod]:
        own = self._pods.get(i)
        if own is None:
            own = self._pods[i] = dict(self.cluster.pods_on(int(self.rows[i])))
        return own

    def _count(self, i: int, pod: Pod, sign: int) -> None:
        for name, amount in pod.requests.items():
            line = self.cluster.resources.get(name)
            if line is not None:  # else no node has it, and it is not asked for
                shift(self._requested[line], i, sign * amount)
        for line, amount in enumerate(pod.non_zero):
            shift(self._non_zero[line], i, sign * amount)
        self._pod_count[i] += sign


def _sum(amounts: Iterable[int]) -> int:
    """Beyond int64 it wraps around, as when they are added one by one (see ``shift``)."""
    return int(np.fromiter(amounts, dtype=np.int64).sum())


def batch_of(cluster: Cluster, rows: Rows | slice) -> NodeBatch:
    """The batch that a cached column is computed for (see Cluster.row_column): some rows, or all as a
    slice."""
    return NodeBatch(cluster, None if isinstance(rows, slice) else rows)
