"""The nodes that can serve a pod's claims: FindPodVolumes in volumebinding/binder.go, over all nodes
at once."""

from typing import NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.cluster.node_selectors import match_node_selector
from simulator.cluster.volume_objects import migration_column
from simulator.framework.node_batch import NodeBatch
from simulator.objects import quantity
from simulator.objects.csi_migration import (
    IN_TREE_VOLUME_PLUGINS,
    TranslationError,
    in_tree_source,
    translated_node_affinity,
)
from simulator.objects.labels import label_selector
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm, node_selector_term
from simulator.objects.volumes import (
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    NO_PROVISIONER,
    PVS,
    STORAGE_CLASSES,
    requested_storage,
    storage_class_name,
    volume_node_affinity,
)
from simulator.plugins.volume_binding.claims import DelayedClaim, PodVolumeClaims

NODE_CONFLICT = 1
BIND_CONFLICT = 2
NOT_ENOUGH_SPACE = 4
PV_NOT_EXIST = 8
UNKNOWN = -1


class Binding(NamedTuple):
    """The volumes for one claim. ``picks[i]`` is the index among the claim's candidates of the volume for
    node i; -1 = none."""

    delayed: DelayedClaim
    picks: Ints


class Provision(NamedTuple):
    """A claim for which a volume would be provisioned."""

    claim: Manifest
    where: Bools
    """bool[n]: on which nodes."""
    capacity: Ints
    """int64[n]: the capacity of the storage that the node reaches, in bytes; UNKNOWN where no
    CSIStorageCapacity says it."""


class VolumesByNode:
    """The result for each node of the batch.

    ``conflicts`` is uint8[n], the sum of the constants above (0 = the node can serve all claims); ``faults``
    are errors and the nodes where they happened; ``bindings`` and ``provisions`` are what would be done with
    each delayed claim, on the nodes that have neither conflict nor fault.
    """

    def __init__(self, nodes: NodeBatch) -> None:
        self.conflicts = np.zeros(len(nodes), dtype=np.uint8)
        self.faults: list[tuple[Bools, str]] = []
        self.bindings: list[Binding] = []
        self.provisions: list[Provision] = []


def find_pod_volumes(nodes: NodeBatch, claims: PodVolumeClaims) -> VolumesByNode:
    found = VolumesByNode(nodes)
    alive = _check_bound_claims(nodes, claims, found)
    for delayed in claims.delayed:
        if delayed.selected_node is not None:
            elsewhere = alive & (nodes.rows != nodes.cluster.rows.get(delayed.selected_node, -1))
            found.conflicts[elsewhere] |= BIND_CONFLICT
            alive &= ~elsewhere
    wanted = [
        (d.claim, np.ones(len(nodes), dtype=np.bool_)) for d in claims.delayed if d.selected_node is not None
    ]
    wanted += _find_matching_volumes(nodes, claims, alive, found)
    _check_volume_provisions(nodes, wanted, alive, found)
    return found


def _check_bound_claims(nodes: NodeBatch, claims: PodVolumeClaims, found: VolumesByNode) -> Bools:
    """Check the volumes of bound claims; the first claim whose volume is missing or not reached decides.
    Return the nodes without fault."""
    alive = np.ones(len(nodes), dtype=np.bool_)
    undecided = alive.copy()
    for claim in claims.bound:
        volume = nodes.cluster.objects(PVS).get(claim["spec"]["volumeName"])
        if volume is None:
            found.conflicts[undecided] |= PV_NOT_EXIST
            break
        reached = _reaching(nodes, volume_node_affinity(volume))
        source = in_tree_source(volume["spec"])
        if source is not None and IN_TREE_VOLUME_PLUGINS[source].bit:
            migrated: Bools = (
                nodes.take(migration_column(nodes.cluster)) & IN_TREE_VOLUME_PLUGINS[source].bit
            ) > 0
            try:
                translated = _reaching(nodes, translated_node_affinity(volume, source))
                reached = (migrated & translated) | (~migrated & reached)
            except TranslationError as failure:
                found.faults.append((undecided & migrated, f"could not translate pv: {failure}"))
                alive &= ~(undecided & migrated)
                undecided &= ~migrated
        found.conflicts[undecided & ~reached] |= NODE_CONFLICT
        undecided &= reached
    return alive


def _find_matching_volumes(
    nodes: NodeBatch, claims: PodVolumeClaims, alive: Bools, found: VolumesByNode
) -> list[tuple[Manifest, Bools]]:
    """Choose volumes for claims, the smallest claim first. Return the claims for which there is no volume,
    and on which nodes."""
    to_match = sorted(
        (d for d in claims.delayed if d.selected_node is None), key=lambda d: requested_storage(d.claim) or 0
    )
    nowhere = np.zeros(len(nodes), dtype=np.bool_)
    taken: dict[str, Bools] = {}
    unmatched = []
    for delayed in to_match:
        picks: Ints = np.full(len(nodes), -1, dtype=np.int64)
        remaining = alive.copy()
        for i, volume in enumerate(delayed.candidates):
            already = taken.get(volume.name, nowhere)
            free = remaining & ~already
            reached = free & _reaching(nodes, volume.affinity)
            picks[reached] = i
            taken[volume.name] = already | reached
            remaining &= ~(free if volume.reserved else reached)
            if not remaining.any():
                break
        found.bindings.append(Binding(delayed, picks))
        unmatched.append((delayed.claim, picks < 0))
    return unmatched


def _check_volume_provisions(
    nodes: NodeBatch, wanted: list[tuple[Manifest, Bools]], alive: Bools, found: VolumesByNode
) -> None:
    """Check whether volumes can be provisioned for these claims; the first claim for which that is impossible
    decides for a node."""
    for claim, where in wanted:
        here = alive & where
        if not here.any():
            continue
        capacity: Ints = np.full(len(nodes), UNKNOWN, dtype=np.int64)
        found.provisions.append(Provision(claim, here, capacity))
        # The claim waits for its first consumer, so it has a class.
        storage_class = nodes.cluster.objects(STORAGE_CLASSES)[storage_class_name(claim)]
        if storage_class.get("provisioner", "") in ("", NO_PROVISIONER):
            found.conflicts[here] |= BIND_CONFLICT
            alive = alive & ~here
            continue
        outside = here & ~_in_topology(nodes, storage_class)
        found.conflicts[outside] |= BIND_CONFLICT
        full = here & ~outside & ~_with_capacity(nodes, claim, storage_class, capacity)
        found.conflicts[full] |= NOT_ENOUGH_SPACE
        alive = alive & ~(outside | full)


def _in_topology(nodes: NodeBatch, storage_class: Manifest) -> Bools:
    """Return the nodes for which the class may provision volumes (MatchTopologySelectorTerms)."""
    terms = storage_class.get("allowedTopologies")
    if not terms:
        return np.ones(len(nodes), dtype=np.bool_)
    return _reaching(
        nodes,
        tuple(
            node_selector_term(
                {
                    "matchExpressions": [
                        {**expression, "operator": "In"}
                        for expression in term.get("matchLabelExpressions") or ()
                    ]
                }
            )
            for term in terms
        ),
    )


def _with_capacity(nodes: NodeBatch, claim: Manifest, storage_class: Manifest, capacity: Ints) -> Bools:
    """Return the nodes that reach a storage with enough capacity (hasEnoughCapacity), and write the capacity
    of the storages. Drivers without storageCapacity are not checked."""
    size = requested_storage(claim)
    driver = nodes.cluster.objects(CSI_DRIVERS).get(storage_class["provisioner"])
    if size is None or driver is None or not driver["spec"].get("storageCapacity"):
        return np.ones(len(nodes), dtype=np.bool_)
    found = np.zeros(len(nodes), dtype=np.bool_)
    for storage in nodes.cluster.objects(CSI_STORAGE_CAPACITIES).values():
        precise = storage.get("maximumVolumeSize")
        limit = storage.get("capacity") if precise is None else precise
        topology = label_selector(storage.get("nodeTopology"))
        if (
            storage.get("storageClassName") == storage_class["metadata"]["name"]
            and limit is not None
            and quantity.value(quantity.parse_quantity(limit)) >= quantity.value(size)
            and topology is not None
        ):
            selector = None if topology.empty else (NodeSelectorTerm(topology.requirements, ()),)
            reached = _reaching(nodes, selector)
            total = storage.get("capacity")
            if total is not None:
                capacity[reached & ~found] = quantity.value(quantity.parse_quantity(total))
            found |= reached
    return found


def _reaching(nodes: NodeBatch, selector: NodeSelector | None) -> Bools:
    """Return bool[n]: the nodes that a selector selects; None = all."""
    if selector is None:
        return np.ones(len(nodes), dtype=np.bool_)
    cluster: Cluster = nodes.cluster
    if len(selector) == 1 and len(selector[0].expressions) == 1 and not selector[0].fields:
        key, operator, values = selector[0].expressions[0]
        if operator == "In":
            # Local volumes name their hosts: there are too many selectors to keep a column for each.
            column = cluster.label(key)
            ids = nodes.take(column.ids)
            found = np.zeros(len(nodes), dtype=np.bool_)
            for number in map(column.number, values):
                if number >= 0:
                    found |= ids == number
            return found
    selected: Bools = nodes.take(match_node_selector(cluster, selector))
    return selected
