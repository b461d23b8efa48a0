"""The objects of a node beside the Node: its devices, and the drivers of its volumes."""

from simulator.objects.metadata import name_of, with_metadata
from simulator.objects.volumes import CSI_NODES
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.questions.journal import Journal


def add_node_objects(journal: Journal, like: str, name: str) -> None:
    """Add the ResourceSlices and the CSINode of a node for another one, as its drivers would."""
    drivers = journal.cluster.objects(CSI_NODES).get(like)
    if drivers is not None:
        journal.set_object(CSI_NODES, name, with_metadata(drivers, name=name))
    for each in [*journal.cluster.objects(RESOURCE_SLICES).values()]:
        spec = each["spec"]
        if spec.get("nodeName") == like:
            copied = with_metadata(each, name=f"{name_of(each)}-{name}")
            # The pool of a node's devices has the name of the node, or is made of it.
            pool = spec["pool"]["name"]
            pool = pool.replace(like, name) if like in pool else f"{pool}-{name}"
            copied["spec"] = {**spec, "nodeName": name, "pool": {**spec["pool"], "name": pool}}
            journal.set_object(RESOURCE_SLICES, name_of(copied), copied)
