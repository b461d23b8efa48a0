"""NodeBatch: the nodes that a plugin filters or scores in one call, and CopiedNodes, whose pods can be
changed without a change of the cluster."""

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows, add_wrapping, wrapped
from simulator.cluster.pod_columns import PodColumns
from simulator.objects.node import Node
from simulator.objects.pod import Pod

T = TypeVar("T", bound=np.generic)


class NodeBatch:
    """A batch of ``n = len(batch)`` nodes of a cluster. The arrays that a plugin returns for a batch have
    length n.

    ``rows[i]`` is the cluster's row of the i-th node. A batch is *whole* if it has all rows in order. It then
    includes free rows; the framework ignores the results for these.

    A plugin reads columns that depend on node objects with ``batch.take(column)``. For a whole batch the
    result is a view, so the plugin must not write to it. A plugin reads what depends on pods only with
    ``requested``, ``non_zero``, ``pod_count`` and ``pods(i)``, because the batch can be a
    :class:`CopiedNodes`, whose pods differ from those of the cluster.
    """

    changed: Collection[int] = ()
    """The indices in the batch of the nodes whose pods differ from those of the cluster."""
    is_copy = False
    """Whether this is a CopiedNodes. If not, results that depend on pods can be cached (amounts_column)."""

    def __init__(self, cluster: Cluster, rows: Rows | None = None) -> None:
        self.cluster = cluster
        self.whole = rows is None
        self._rows = rows

    def __len__(self) -> int:
        return self.cluster.width if self._rows is None else len(self._rows)

    @property
    def rows(self) -> Rows:
        if self._rows is None:
            self._rows = self.cluster.all_rows()
        return self._rows

    def take(self, column: NDArray[T]) -> NDArray[T]:
        """Return the values of a column (whose last axis is the rows) for the nodes of this batch."""
        if self.whole:
            return column[..., : self.cluster.width]
        return column[self.rows] if column.ndim == 1 else column.take(self.rows, axis=-1)

    def requested(self, resource: str) -> Ints:
        """Return the requests for a resource on the nodes, int64[n]."""
        return self.take(self.cluster.requested.column(resource))

    @property
    def non_zero(self) -> Ints:
        """The requests with defaults for containers that request none, int64[2, n]: cpu in millicores and
        memory in bytes (NonZeroRequested)."""
        return self.take(self.cluster.non_zero)

    @property
    def pod_count(self) -> Ints:
        """The number of pods on each node, int64[n]."""
        return self.take(self.cluster.pod_count)

    def node(self, i: int) -> Node:
        return self.cluster.node(int(self.rows[i]))

    def pods(self, i: int) -> Iterable[Pod]:
        """Return the pods of the i-th node in this batch."""
        return self.cluster.pods_on(int(self.rows[i])).values()

    def copy_nodes(self, indices: Rows) -> "CopiedNodes":
        """Return a copy of the nodes with these indices, to which pods can be added."""
        return CopiedNodes(self.cluster, self.rows[indices])


class CopiedNodes(NodeBatch):
    """A copy of nodes, to and from which pods can be added and removed. The cluster does not change.

    Upstream uses a copy of the NodeInfo for this: in dry runs of preemption and to filter nodes with their
    nominated pods. A node can be in the batch more than once.

    Pods are added and removed one by one, or by slots of PodColumns. Slots are faster, but they can only
    remove pods that are on the nodes in the cluster and add these again, and this must come first."""

    is_copy = True

    def __init__(self, cluster: Cluster, rows: Rows) -> None:
        super().__init__(cluster, rows)
        self._requested: dict[str, Ints] = {}  # by resource: those that were read
        self._non_zero = cluster.non_zero[:, rows]
        self._pod_count = cluster.pod_count[rows]
        self._pods: dict[int, dict[str, Pod]] = {}  # by index and key, for nodes that changed one by one
        self._removed: Bools | None = None  # by slot

    @property
    def changed(self) -> Collection[int]:  # type: ignore[override]  # a property overrides the attribute
        if self._removed is None:
            return self._pods.keys()
        _, removed = self._removed_slots(self._removed)
        return self._pods.keys() | set(np.flatnonzero(removed.any(axis=1)).tolist())

    def requested(self, resource: str) -> Ints:
        amounts = self._requested.get(resource)
        if amounts is not None:
            return amounts
        amounts = self._requested[resource] = self.cluster.requested.column(resource)[self.rows]
        if self._removed is not None:
            slots, removed = self._removed_slots(self._removed)
            of_pods = self.cluster.index(PodColumns).requests.column(resource)
            amounts -= np.where(removed, of_pods[slots], 0).sum(axis=1)
        for i, pods in self._pods.items():
            amounts[i] = wrapped(sum(pod.requests.get(resource, 0) for pod in pods.values()))
        return amounts

    @property
    def non_zero(self) -> Ints:
        if self._removed is None:
            return self._non_zero
        # Computed here and not in remove_slots, because filter plugins do not read non_zero.
        slots, removed = self._removed_slots(self._removed)
        amounts = self.cluster.index(PodColumns).non_zero[:, slots]
        left: Ints = self._non_zero - np.where(removed, amounts, 0).sum(axis=2)
        return left

    @property
    def pod_count(self) -> Ints:
        return self._pod_count

    def pods(self, i: int) -> Iterable[Pod]:
        changed = self._pods.get(i)
        if changed is not None:
            return changed.values()
        pods = super().pods(i)
        if self._removed is None:
            return pods
        index = self.cluster.index(PodColumns)
        return [pod for pod in pods if not self._removed[index.slot(pod)]]

    def remove_slots(self, indices: Rows, slots: Ints) -> None:
        """Remove the pod in ``slots[k]`` of PodColumns from node ``indices[k]`` of the batch, for all k."""
        assert not self._pods, "remove_slots must be called before add_pod and remove_pod"
        if self._removed is None:
            self._removed = np.zeros(len(self.cluster.index(PodColumns).priority), dtype=np.bool_)
        self._removed[slots] = True
        self._count_slots(indices, slots, -1)

    def add_slots(self, indices: Rows, slots: Ints) -> None:
        """Add pods again that :meth:`remove_slots` removed."""
        assert self._removed is not None, "add_slots adds only pods that remove_slots removed"
        self._removed[slots] = False
        self._count_slots(indices, slots, 1)

    def add_pod(self, i: int, pod: Pod) -> None:
        self._changeable_pods(i)[pod.key] = pod
        self._change_totals(i, pod, 1)

    def remove_pod(self, i: int, pod: Pod) -> None:
        del self._changeable_pods(i)[pod.key]
        self._change_totals(i, pod, -1)

    def remove_pods(self, i: int, pods: Sequence[Pod]) -> None:
        """Remove several pods, faster than with :meth:`remove_pod`."""
        own = self._changeable_pods(i)
        for pod in pods:
            del own[pod.key]
        for name, amounts in self._requested.items():
            add_wrapping(amounts, i, -sum(pod.requests.get(name, 0) for pod in pods))
        for resource in range(len(self._non_zero)):
            add_wrapping(self._non_zero[resource], i, -sum(pod.non_zero[resource] for pod in pods))
        self._pod_count[i] -= len(pods)

    def copy_nodes(self, indices: Rows) -> "CopiedNodes":
        part = copy(self)
        part._rows = self.rows[indices]
        part._requested = {name: amounts[indices] for name, amounts in self._requested.items()}
        part._non_zero = self._non_zero[:, indices]
        part._pod_count = self._pod_count[indices]
        part._removed = None if self._removed is None else self._removed.copy()
        part._pods = {}
        if self._pods:
            places = enumerate(indices.tolist())
            part._pods = {k: dict(self._pods[i]) for k, i in places if i in self._pods}
        return part

    def _count_slots(self, indices: Rows, slots: Ints, sign: int) -> None:
        of_pods = self.cluster.index(PodColumns).requests
        for name, amounts in self._requested.items():
            np.add.at(amounts, indices, sign * of_pods.column(name)[slots])
        np.add.at(self._pod_count, indices, sign)

    def _removed_slots(self, by_slot: Bools) -> tuple[Ints, Bools]:
        """Return the slots of the nodes' pods, int64[n, k], and which of them are removed, bool[n, k]."""
        slots, there = self.cluster.index(PodColumns).on(self.rows)
        return slots, by_slot[slots] & there

    def _changeable_pods(self, i: int) -> dict[str, Pod]:
        own = self._pods.get(i)
        if own is None:
            own = self._pods[i] = {pod.key: pod for pod in self.pods(i)}
        return own

    def _change_totals(self, i: int, pod: Pod, sign: int) -> None:
        for name, amount in pod.requests.items():
            amounts = self._requested.get(name)
            if amounts is not None:
                add_wrapping(amounts, i, sign * amount)
        for resource, amount in enumerate(pod.non_zero):
            add_wrapping(self._non_zero[resource], i, sign * amount)
        self._pod_count[i] += sign


def batch_of(cluster: Cluster, rows: Rows | slice) -> NodeBatch:
    """Return the batch of the rows for which Cluster.amounts_column computes a column; a slice = all rows."""
    return NodeBatch(cluster, None if isinstance(rows, slice) else rows)


class CountChanges:
    """The difference, per row, to a number of pods that a plugin counted in PreFilter."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._changes: Ints | None = None

    def __bool__(self) -> bool:
        """Whether :meth:`add` was called."""
        return self._changes is not None

    def add(self, rows: Rows, amount: int) -> None:
        """Add ``amount`` pods (negative = remove pods) on each of these rows. A row that occurs twice gets
        the amount twice."""
        if self._changes is None:
            self._changes = np.zeros(self._width, dtype=np.int64)
        np.add.at(self._changes, rows, amount)

    def for_nodes(self, nodes: NodeBatch) -> Ints | int:
        """Return the changes on the nodes of a batch, int64[n], or 0 if there are none."""
        return 0 if self._changes is None else nodes.take(self._changes)

    def clone(self) -> "CountChanges":
        clone = CountChanges(self._width)
        clone._changes = None if self._changes is None else self._changes.copy()
        return clone
