"""The cluster as columns: what upstream keeps as its cache and snapshot of NodeInfos
(pkg/scheduler/backend/cache).

Everything is incremental: adding, updating or removing a node or a pod touches one row.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from simulator.api import Manifest
from simulator.cluster.columns import Bools, ColumnCache, Interned, Ints, Rows, grown, shift
from simulator.cluster.host_ports import HostPorts
from simulator.cluster.node_images import NodeImages
from simulator.cluster.node_labels import NodeLabels
from simulator.cluster.node_tree import NodeTree
from simulator.objects.node import Node, Taint
from simulator.objects.node_selector import NodeSelector
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import CPU, EPHEMERAL_STORAGE, MEMORY

INITIAL_ROWS = 64


class PodIndex(Protocol):
    """Something that a plugin keeps up to date about the pods on nodes, e.g. counts per selector and row.

    Made by :meth:`Cluster.index` and told of every pod that comes to a row or leaves it afterwards. Supposed
    changes (preemption's dry runs, nominated pods) are never told to it: these come through
    ``PreFilterExtensions.add_pod`` and ``remove_pod``.
    """

    def __init__(self, cluster: "Cluster") -> None: ...

    def pod_added(self, row: int, pod: Pod) -> None: ...

    def pod_removed(self, row: int, pod: Pod) -> None: ...

    def grow(self, capacity: int) -> None:
        """The columns of the cluster have got longer; ``capacity`` is at least ``cluster.width`` from now
        on."""


I = TypeVar("I", bound=PodIndex)  # noqa: E741 - the index
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Cluster:
    """Nodes in rows, pods on nodes, and plain lists of all other kinds.

    Columns (valid in ``[..., :width]``; free rows among them have ``nodes[row] is None`` and ``exists[row]``
    False):

    * ``allocatable``, ``requested``: int64[resource, row]; which resource is which line says :meth:`resource`
      (0 cpu in millicores, 1 memory, 2 ephemeral-storage, then others as they turn up)
    * ``non_zero``: int64[2, row], cpu and memory with defaults for containers that request none
    * ``allowed_pods``, ``pod_count``: int64[row]
    * ``exists``, ``unschedulable``: bool[row]
    * ``taints``: the interned taint list per row
    * ``node_clock``, ``row_clock``: the generation at which the node object (the node, or its pods) last
      changed
    """

    def __init__(self) -> None:
        capacity = INITIAL_ROWS
        self.generation = 0
        self.width = 0
        self.nodes: list[Node | None] = []
        self.rows: dict[str, int] = {}
        self.pods: dict[str, Pod] = {}
        """Pods with a node name, by ``namespace/name``; also those whose node does not exist."""
        self.resources: dict[str, int] = {CPU: 0, MEMORY: 1, EPHEMERAL_STORAGE: 2}
        self.allocatable: Ints = np.zeros((3, capacity), dtype=np.int64)
        self.requested: Ints = np.zeros((3, capacity), dtype=np.int64)
        self.non_zero: Ints = np.zeros((2, capacity), dtype=np.int64)
        self.allowed_pods: Ints = np.zeros(capacity, dtype=np.int64)
        self.pod_count: Ints = np.zeros(capacity, dtype=np.int64)
        self.exists = np.zeros(capacity, dtype=np.bool_)
        self.unschedulable = np.zeros(capacity, dtype=np.bool_)
        self.taints: Interned[tuple[Taint, ...]] = Interned(capacity)
        self.node_clock: Ints = np.zeros(capacity, dtype=np.int64)
        self.row_clock: Ints = np.zeros(capacity, dtype=np.int64)
        self.images = NodeImages()
        self.ports = HostPorts()
        self._node_columns = ColumnCache()
        self._row_columns = ColumnCache()
        self.next_start_node_index = 0
        """Where the next search for nodes starts, when not all are looked at
        (Scheduler.nextStartNodeIndex)."""
        self._labels = NodeLabels(self)
        self._tree = NodeTree()
        self._order: Rows | None = None
        self._position: Ints | None = None
        self._names: list[str] | None = None
        self._node_generation = 0
        self._row_generation = 0
        self._free: list[int] = []
        self._on_row: list[dict[str, Pod]] = []
        self._waiting: dict[str, dict[str, Pod]] = {}  # pods on nodes that do not exist
        self._indexes: dict[type[Any], PodIndex] = {}
        self._objects: dict[str, dict[str, Manifest]] = {}
        self._versions: dict[str, int] = {}
        self._derived: dict[Callable[[Cluster], Any], tuple[int, Any]] = {}

    # Nodes

    @property
    def node_count(self) -> int:
        return len(self.rows)

    @property
    def capacity(self) -> int:
        """Length of the columns; only ``width`` of it is in use."""
        return len(self.node_clock)

    def order(self) -> Rows:
        """Rows of all nodes in the scheduler's order (by zone in turn): the order of Decision.nodes."""
        if self._order is None:
            self._order = np.array([self.rows[name] for name in self.names()], dtype=np.intp)
        return self._order

    def position(self) -> Ints:
        """The inverse of :meth:`order`: each row's place in it (anything for free rows)."""
        if self._position is None or len(self._position) != self.width:
            self._position = np.zeros(self.width, dtype=np.int64)
            self._position[self.order()] = np.arange(self.node_count)
        return self._position

    def names(self) -> list[str]:
        """The names of all nodes in the scheduler's order; not to be written to."""
        if self._names is None:
            self._names = self._tree.list()
        return self._names

    def node(self, row: int) -> Node:
        node = self.nodes[row]
        assert node is not None, f"row {row} is free"
        return node

    def add_node(self, node: Node) -> None:
        """Add a node, or put it in the place of the one of the same name."""
        row = self.rows.get(node.name)
        if row is None:
            row = self._new_row()
            self.rows[node.name] = row
            self.exists[row] = True
            self._write_node(row, None, node)
            for pod in self._waiting.pop(node.name, {}).values():
                self._place(row, pod)
        else:
            self._write_node(row, self.nodes[row], node)

    def remove_node(self, name: str) -> None:
        """Its pods stay known and count again when a node of this name comes back."""
        row = self.rows.pop(name)
        leaving = list(self._on_row[row].values())
        for pod in leaving:
            self._displace(row, pod)
        if leaving:
            self._waiting[name] = {pod.key: pod for pod in leaving}
        self._write_node(row, self.nodes[row], None)
        self.exists[row] = False
        self._free.append(row)

    def _write_node(self, row: int, old: Node | None, new: Node | None) -> None:
        self.generation += 1
        self._node_generation = self._row_generation = self.generation
        self.node_clock[row] = self.row_clock[row] = self.generation
        self.nodes[row] = new
        self.allocatable[:, row] = 0
        if new is not None:
            for name, amount in new.allocatable.items():
                line = self.resource(name)  # before the array is read: a new resource makes a new one
                self.allocatable[line, row] = amount
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
        self._on_row.append({})
        return row

    def _grow(self, capacity: int) -> None:
        for name in (
            "allocatable", "requested", "non_zero", "allowed_pods", "pod_count",
            "exists", "unschedulable", "node_clock", "row_clock",
        ):  # fmt: skip
            setattr(self, name, grown(getattr(self, name), capacity))
        self.taints.grow(capacity)
        self._labels.grow(capacity)
        for index in self._indexes.values():
            index.grow(capacity)

    def resource(self, name: str) -> int:
        """The line of a resource in ``allocatable`` and ``requested``; a new resource gets one."""
        line = self.resources.get(name)
        if line is None:
            line = self.resources[name] = len(self.resources)
            more = np.zeros((1, self.capacity), dtype=np.int64)
            self.allocatable = np.concatenate([self.allocatable, more])
            self.requested = np.concatenate([self.requested, more])
        return line

    def node_column(self, key: Hashable, compute: Any) -> Any:
        """A column that depends on node objects only, computed once and then for changed nodes only.

        ``compute(rows)`` gets an index array or a slice of rows and returns their values; ``key`` must say
        all that the values depend on beside the nodes, the name of the plugin first. Free rows get any value.
        """
        clock = self.node_clock[: self.width]
        return self._node_columns.get(key, clock, self._node_generation, compute)

    def row_column(self, key: Hashable, compute: Any) -> Any:
        """The same for columns that depend on the nodes and on the pods that are on them."""
        return self._row_columns.get(key, self.row_clock[: self.width], self._row_generation, compute)

    def label(self, key: str) -> Interned[str]:
        """The values of a node label per row."""
        return self._labels.column(key)

    def selected(self, selector: NodeSelector) -> Bools:
        """bool[width]: the nodes that a node selector (any of its terms) selects."""
        return self._labels.selected(selector)

    # Pods

    def add_pod(self, pod: Pod) -> None:
        """Count a pod (bound or assumed) on its node. One of the same name is replaced."""
        if pod.key in self.pods:
            self.remove_pod(self.pods[pod.key])
        self.pods[pod.key] = pod
        row = self.rows.get(pod.node_name)
        if row is None:
            self._waiting.setdefault(pod.node_name, {})[pod.key] = pod
        else:
            self._place(row, pod)

    def remove_pod(self, pod: Pod) -> None:
        """Raises KeyError where no pod of this name is known."""
        known = self.pods.pop(pod.key)
        row = self.rows.get(known.node_name)
        if row is not None:
            self._displace(row, known)
            return
        waiting = self._waiting[known.node_name]
        del waiting[known.key]
        if not waiting:
            del self._waiting[known.node_name]

    def pods_on(self, row: int) -> Mapping[str, Pod]:
        """The pods of a node by ``namespace/name``, in order of arrival."""
        return self._on_row[row]

    def _place(self, row: int, pod: Pod) -> None:
        self._on_row[row][pod.key] = pod
        self._count(row, pod, 1)
        for index in self._indexes.values():
            index.pod_added(row, pod)

    def _displace(self, row: int, pod: Pod) -> None:
        del self._on_row[row][pod.key]
        self._count(row, pod, -1)
        for index in self._indexes.values():
            index.pod_removed(row, pod)

    def _count(self, row: int, pod: Pod, sign: int) -> None:
        self.generation += 1
        self.row_clock[row] = self._row_generation = self.generation
        for name, amount in pod.requests.items():
            line = self.resource(name)
            shift(self.requested[line], row, sign * amount)
        for line, amount in enumerate(pod.non_zero):
            shift(self.non_zero[line], row, sign * amount)
        self.pod_count[row] += sign
        for port in pod.host_ports:
            self.ports.count(row, port, sign)

    def index(self, kind: type[I]) -> I:
        """The index of this class over this cluster; made (from the pods that are there) when first asked
        for."""
        index = self._indexes.get(kind)
        if index is None:
            index = self._indexes[kind] = kind(self)
            for row, pods in enumerate(self._on_row):
                for pod in pods.values():
                    index.pod_added(row, pod)
        return index  # type: ignore[return-value]  # the dict maps each class to an instance of it

    # All other kinds

    def set_object(self, resource: str, key: str, manifest: Manifest | None) -> None:
        """Keep an object of any other kind (``persistentvolumeclaims``, ``ns/name``); None removes it."""
        kept = self._objects.setdefault(resource, {})
        if manifest is None:
            kept.pop(key, None)
        else:
            kept[key] = manifest
        self.generation += 1
        self._versions[resource] = self.generation

    def objects(self, resource: str) -> Mapping[str, Manifest]:
        """The objects of a kind by key, in order of arrival."""
        return self._objects.get(resource, {})

    def objects_version(self, *resources: str) -> int:
        """A number that goes up whenever an object of one of these kinds changes: for what is computed from
        them."""
        return max((self._versions.get(resource, 0) for resource in resources), default=0)

    def derived(self, compute: "Callable[[Cluster], T]", *resources: str) -> T:
        """What ``compute`` (a function of a module, which is the key) makes of the objects of these kinds;
        made anew only after one of them has changed."""
        version = self.objects_version(*resources)
        found = self._derived.get(compute)
        if found is None or found[0] != version:
            found = self._derived[compute] = (version, compute(self))
        result: T = found[1]
        return result
