"""What the VolumeBinding plugin's PreBind writes (bindAPIUpdate in volumebinding/binder.go, v1.34): volumes
get their claim's name, claims to be provisioned the node's.

The persistent volume controller does the rest. Upstream's plugin waits for it; here it is the kubelet that
waits, with a pod that is bound already."""

from functools import partial

from simulator.api import Manifest
from simulator.framework.interface import CycleState
from simulator.objects.volumes import (
    BOUND_BY_CONTROLLER,
    PVCS,
    PVS,
    SELECTED_NODE,
    claim_reference_to,
    with_annotations,
)
from simulator.plugins.volume_binding.volume_binding import RESERVED
from simulator.world.world import World


def bind_volumes(world: World, state: CycleState, node: str) -> None:
    """Nothing to do where the plugin reserved none."""
    reserved = state.find(RESERVED)
    for claim, volume in reserved.bindings if reserved is not None else ():
        found = world.informer.get(PVS, volume)
        if found is not None:
            world.update(PVS, volume, found["metadata"]["uid"], partial(_claimed, claim=claim))
    for claim in reserved.provisions if reserved is not None else ():
        metadata = claim["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        world.update(PVCS, key, metadata["uid"], lambda pvc: with_annotations(pvc, {SELECTED_NODE: node}))


def _claimed(volume: Manifest, claim: Manifest) -> Manifest:
    new = with_annotations(volume, {BOUND_BY_CONTROLLER: "yes"})
    return {**new, "spec": {**volume["spec"], "claimRef": claim_reference_to(claim)}}
