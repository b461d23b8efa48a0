"""Functions with which the volume plugins read PersistentVolumeClaims and CSINodes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Rows
from simulator.objects.csi_migration import migrated_plugins
from simulator.objects.pod import Pod
from simulator.objects.volumes import CSI_NODES, PVCS


def find_claim(cluster: Cluster, pod: Pod, name: str) -> Manifest | None:
    return cluster.objects(PVCS).get(f"{pod.namespace}/{name}")


def csi_node_column(
    cluster: Cluster, key: tuple[str, ...], compute: Callable[[Manifest | None], Any], dtype: Any
) -> Any:
    """Return a column of ``compute(csi_node)`` for each node (None = the node has no CSINode). It is cached
    until a node or a CSINode changes."""

    def compute_rows(rows: Rows | slice) -> Any:
        csi_nodes = cluster.objects(CSI_NODES)
        nodes = [cluster.nodes[row] for row in np.arange(cluster.width)[rows].tolist()]
        return np.array([compute(csi_nodes.get(node.name)) if node else 0 for node in nodes], dtype=dtype)

    return cluster.node_column((*key, cluster.objects_version(CSI_NODES)), compute_rows)


def migration_column(cluster: Cluster) -> NDArray[np.uint8]:
    """Return for each node the bits of the in-tree volume plugins that are migrated to CSI drivers."""
    column: NDArray[np.uint8] = csi_node_column(cluster, ("CSI migration",), migrated_plugins, np.uint8)
    return column
