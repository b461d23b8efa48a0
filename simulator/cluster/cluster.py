"""Cluster: the state of the cluster in columns. It has the data of the scheduler cache and its snapshot of
NodeInfos (pkg/scheduler/backend/cache).

Adding, updating or removing a node or a pod changes one row.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from simulator.cluster.columns import ColumnCache, InternedColumn, Ints, Rows, add_wrapping, grow_column
from simulator.cluster.host_ports import HostPorts
from simulator.cluster.node_columns import NodeImages, NodeLabels, NodeTree
from simulator.cluster.node_names import NodeNames
from simulator.cluster.other_objects import OtherObjects, in_order
from simulator.cluster.pod_group_state import PodGroupStates
from simulator.cluster.resource_amounts import ResourceAmounts
from simulator.objects.node import Node, Taint
from simulator.objects.pod import Pod

INITIAL_ROWS = 64
MAX_OF_ROWS = 64
"""Maximum number of values that :meth:`Cluster.of_rows` keeps."""

T = TypeVar("T")


class PodIndex(Protocol):
    """An index of the pods on nodes that the cluster keeps up to date, for example counts per selector and
    node.

    :meth:`Cluster.index` creates it and calls its methods for each pod on a node, now and later. Pods that
    are added or removed in a dry run of preemption, and nominated pods, are not reported to it. A plugin gets
    these by ``PreFilterExtensions.add_pod`` and ``remove_pod``.
    """

    def __init__(self, cluster: "Cluster") -> None: ...

    def pod_added(self, row: int, pod: Pod) -> None: ...

    def pod_removed(self, row: int, pod: Pod) -> None: ...

    def grow(self, capacity: int) -> None:
        """Extend the columns to ``capacity`` rows. It is called when those of the cluster are extended."""


I = TypeVar("I", bound=PodIndex)  # noqa: E741 - the index


class Cluster(OtherObjects):
    """Nodes in rows, the pods on them, and the manifests of all other objects.

    The columns are valid in ``[..., :width]``. A free row has ``nodes[row] is None`` and ``exists[row]``
    False.

    * ``allocatable``, ``requested``: the amounts of each resource by row
    * ``non_zero``: int64[2, row], the requests for cpu and memory with defaults for containers that request
      none (NonZeroRequested)
    * ``allowed_pods``, ``pod_count``: int64[row]
    * ``exists``, ``unschedulable``: bool[row]
    * ``taints``: the taints of each node
    * ``node_changed_at``: the generation of the last change of the node object
    * ``row_changed_at``: the generation of the last change of the node object or of the pods on the node
    """

    def __init__(self) -> None:
        super().__init__()
        capacity = INITIAL_ROWS
        self.generation = 0
        self.width = 0
        self.nodes: list[Node | None] = []
        self.rows: dict[str, int] = {}
        self.pods: dict[str, Pod] = {}
        """Pods with a node name, by ``namespace/name``. The node need not exist."""
        self.pod_groups = PodGroupStates()
        """The pods of each PodGroup, with and without a node; kept by who fills the cluster."""
        self.allocatable = ResourceAmounts(capacity)
        self.requested = ResourceAmounts(capacity)
        self.non_zero: Ints = np.zeros((2, capacity), dtype=np.int64)
        self.allowed_pods: Ints = np.zeros(capacity, dtype=np.int64)
        self.pod_count: Ints = np.zeros(capacity, dtype=np.int64)
        self.exists = np.zeros(capacity, dtype=np.bool_)
        self.unschedulable = np.zeros(capacity, dtype=np.bool_)
        self.taints: InternedColumn[tuple[Taint, ...]] = InternedColumn(capacity)
        self.node_changed_at: Ints = np.zeros(capacity, dtype=np.int64)
        self.row_changed_at: Ints = np.zeros(capacity, dtype=np.int64)
        self.images = NodeImages()
        self.ports = HostPorts()
        self._node_columns = ColumnCache()
        self._amounts_columns = ColumnCache()
        self._amounts: tuple[tuple[int, int, tuple[str, ...]], tuple[int, ...]] = (-1, 0, ()), ()
        """A row, a generation and resources, and the amounts of the row then: the columns that a cycle reads
        mostly depend on the same ones."""
        self._of_rows: dict[tuple[Hashable, bytes], tuple[int, Any]] = {}
        self._labels = NodeLabels(self.nodes, capacity)
        self._tree = NodeTree()
        self._order: Rows | None = None
        self._position: Ints | None = None
        self._names: NodeNames | None = None
        self._all_rows: Rows = np.arange(0)
        self._node_generation = 0
        self._row_generation = 0
        self._free: list[int] = []
        self._pods_by_row: list[dict[str, Pod]] = []
        self._pods_without_node: dict[str, dict[str, Pod]] = {}  # by node name
        self._indexes: dict[type[Any], PodIndex] = {}

    # Nodes

    @property
    def node_count(self) -> int:
        return len(self.rows)

    @property
    def capacity(self) -> int:
        """The length of the columns, at least ``width``."""
        return len(self.node_changed_at)

    def order(self) -> Rows:
        """Return the rows of all nodes in the order of the NodeTree, which is the order of Decision.nodes:
        :meth:`all_rows` where it is theirs."""
        if self._order is None:
            self._order = np.array([self.rows[name] for name in self.names()], dtype=np.intp)
            if np.array_equal(self._order, self.all_rows()):
                self._order = self._all_rows
        return self._order

    def position(self) -> Ints:
        """Return the inverse of :meth:`order`, int64[width]: the index of each row in it. The values of free
        rows have no meaning."""
        if self._position is None or len(self._position) != self.width:
            self._position = np.zeros(self.width, dtype=np.int64)
            self._position[self.order()] = np.arange(self.node_count)
        return self._position

    def all_rows(self) -> Rows:
        """Return all rows in ascending order, free ones among them."""
        if len(self._all_rows) != self.width:
            self._all_rows = np.arange(self.width)
        return self._all_rows

    def names(self) -> NodeNames:
        """Return the names of all nodes in the order of the NodeTree: the same object until a node is added
        or deleted. Callers must not write to it."""
        if self._names is None:
            self._names = NodeNames(self._tree.list())
        return self._names

    def node(self, row: int) -> Node:
        node = self.nodes[row]
        assert node is not None, f"row {row} is free"
        return node

    def add_node(self, node: Node) -> None:
        """Add a node, or replace the node of the same name."""
        row = self.rows.get(node.name)
        if row is None:
            row = self._new_row()
            self.rows[node.name] = row
            self.exists[row] = True
            self._write_node(row, None, node)
            for pod in self._pods_without_node.pop(node.name, {}).values():
                self._add_to_row(row, pod)
        else:
            self._write_node(row, self.nodes[row], node)

    def remove_node(self, name: str) -> None:
        """Remove a node. Its pods remain in ``pods``, and count again if a node of this name is added."""
        row = self.rows.pop(name)
        pods = list(self._pods_by_row[row].values())
        for pod in pods:
            self._remove_from_row(row, pod)
        if pods:
            self._pods_without_node[name] = {pod.key: pod for pod in pods}
        self._write_node(row, self.nodes[row], None)
        self.exists[row] = False
        self._free.append(row)

    def _write_node(self, row: int, old: Node | None, new: Node | None) -> None:
        self.generation += 1
        self._node_generation = self._row_generation = self.generation
        self.node_changed_at[row] = self.row_changed_at[row] = self.generation
        self.nodes[row] = new
        if old is not None:
            self.allocatable.add(row, old.allocatable, -1)
        if new is not None:
            self.allocatable.add(row, new.allocatable)
        self.allowed_pods[row] = new.allowed_pods if new else 0
        self.unschedulable[row] = bool(new and new.unschedulable)
        self.taints.set(row, new.taints if new else None)
        self._labels.set(row, new)
        self.images.set(row, old.images if old else (), new.images if new else ())
        if new is None:
            assert old is not None
            self._tree.remove(old.name)
            self._order = self._names = self._position = None
        elif self._tree.set(new.name, new.zone):
            self._order = self._names = self._position = None

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        row = self.width
        if row == self.capacity:
            self._grow(self.capacity * 2)
        self.width += 1
        self.nodes.append(None)
        self._pods_by_row.append({})
        return row

    def _grow(self, capacity: int) -> None:
        for name in (
            "non_zero", "allowed_pods", "pod_count",
            "exists", "unschedulable", "node_changed_at", "row_changed_at",
        ):  # fmt: skip
            setattr(self, name, grow_column(getattr(self, name), capacity))
        for columns in (self.allocatable, self.requested, self.taints, self._labels):
            columns.grow(capacity)
        for index in self._indexes.values():
            index.grow(capacity)

    def node_column(self, key: Hashable, compute: Any) -> Any:
        """Return a cached column that depends on node objects only; it is updated for changed nodes.

        ``compute(rows)`` gets an index array, or a slice for all rows, and returns their values. The values
        of free rows have no meaning. ``key`` must contain the name of the plugin, and everything except the
        nodes that the values depend on.
        """
        changed_at = self.node_changed_at[: self.width]
        return self._node_columns.get(key, changed_at, self._node_generation, compute)

    def amounts_column(self, key: Hashable, resources: tuple[str, ...], compute: Any) -> Any:
        """Return a cached column that depends only on amounts of the node: how much of these resources is
        allocatable and requested, ``non_zero``, ``pod_count`` and ``allowed_pods``. It has the smallest
        integer type that holds its values. See :meth:`node_column`."""
        changed_at = self.row_changed_at[: self.width]

        def amounts(row: int) -> tuple[int, ...]:
            of = row, self._row_generation, resources
            if of != self._amounts[0]:
                columns = [self.pod_count, self.allowed_pods, *self.non_zero]
                for name in resources:
                    columns += self.allocatable.column(name), self.requested.column(name)
                self._amounts = of, tuple([column.item(row) for column in columns])
            return self._amounts[1]

        return self._amounts_columns.get(key, changed_at, self._row_generation, compute, amounts)

    def of_rows(self, key: Hashable, rows: Rows, compute: Callable[[], T]) -> T:
        """Return what ``compute()`` gives for these rows, at least one, cached until a node or a pod on these
        rows changes. ``key``: see :meth:`node_column`."""
        of = key, rows.tobytes()
        made_at, kept = self._of_rows.get(of, (-1, None))
        value: T = kept
        changed_at = max(self._node_generation, int(np.maximum.reduce(self.row_changed_at[rows])))
        if made_at < changed_at:
            value = compute()
            if len(self._of_rows) >= MAX_OF_ROWS:
                self._of_rows.clear()
            self._of_rows[of] = self._row_generation, value
        return value

    def label(self, key: str) -> InternedColumn[str]:
        """Return the values of a node label."""
        return self._labels.column(key)

    # Pods

    def add_pod(self, pod: Pod) -> None:
        """Add a pod that is bound or assumed, or replace the pod of the same namespace and name."""
        known = self.pods.get(pod.key)
        row = self.rows.get(pod.node_name)
        if known is not None:
            if row is not None and _takes_the_same(known, pod):
                self._replace_in_row(row, known, pod)
                return
            self.remove_pod(known)
        self.pods[pod.key] = pod
        if row is None:
            self._pods_without_node.setdefault(pod.node_name, {})[pod.key] = pod
        else:
            self._add_to_row(row, pod)

    def remove_pod(self, pod: Pod) -> None:
        """Remove the pod of this namespace and name. Raises KeyError if there is none."""
        removed = self.pods.pop(pod.key)
        row = self.rows.get(removed.node_name)
        if row is not None:
            self._remove_from_row(row, removed)
            return
        pods = self._pods_without_node[removed.node_name]
        del pods[removed.key]
        if not pods:
            del self._pods_without_node[removed.node_name]

    def pods_on(self, row: int) -> Mapping[str, Pod]:
        """Return the pods on a node by ``namespace/name``, in the order in which they were added."""
        return self._pods_by_row[row]

    def pod_order(self, node_name: str) -> list[str]:
        """Return the keys of the pods on a node in the order in which they were added; an empty list if the
        node does not exist."""
        row = self.rows.get(node_name)
        return [] if row is None else [*self._pods_by_row[row]]

    def restore_pod_order(self, node_name: str, keys: Sequence[str]) -> None:
        """Put the pods on a node into the order of ``keys``, which are the keys of all of them."""
        row = self.rows.get(node_name)
        if row is not None:
            self._pods_by_row[row] = in_order(self._pods_by_row[row], keys)

    def _add_to_row(self, row: int, pod: Pod) -> None:
        self._pods_by_row[row][pod.key] = pod
        self._change_totals(row, pod, 1)
        for index in self._indexes.values():
            index.pod_added(row, pod)

    def _remove_from_row(self, row: int, pod: Pod) -> None:
        del self._pods_by_row[row][pod.key]
        self._change_totals(row, pod, -1)
        for index in self._indexes.values():
            index.pod_removed(row, pod)

    def _replace_in_row(self, row: int, old: Pod, new: Pod) -> None:
        """Replace a pod by a version of it that takes the same of the node. It becomes the last one, as a pod
        that is added; no total changes, so that no column is computed again."""
        for pods in (self.pods, self._pods_by_row[row]):
            del pods[new.key]
            pods[new.key] = new
        for index in self._indexes.values():
            index.pod_removed(row, old)
            index.pod_added(row, new)

    def _change_totals(self, row: int, pod: Pod, sign: int) -> None:
        """Add the pod to the columns of requests, pods and ports, or subtract it (``sign`` -1)."""
        self.generation += 1
        self.row_changed_at[row] = self._row_generation = self.generation
        self.requested.add(row, pod.requests, sign)
        for resource, amount in enumerate(pod.non_zero):
            add_wrapping(self.non_zero[resource], row, sign * amount)
        self.pod_count[row] += sign
        for port in pod.host_ports:
            self.ports.add(row, port, sign)

    def index(self, kind: type[I]) -> I:
        """Return the index of class ``kind`` over this cluster. The first call creates it and adds the pods
        on nodes."""
        index = self._indexes.get(kind)
        if index is None:
            index = self._indexes[kind] = kind(self)
            for row, pods in enumerate(self._pods_by_row):
                for pod in pods.values():
                    index.pod_added(row, pod)
        return index  # type: ignore[return-value]  # the dict maps each class to an instance of it


def _takes_the_same(old: Pod, new: Pod) -> bool:
    """Whether two versions of a pod count alike in the totals of the same node. Most writes of a bound pod
    change only its status."""
    return (
        old.node_name == new.node_name
        and old.requests == new.requests
        and old.non_zero == new.non_zero
        and old.host_ports == new.host_ports
    )
