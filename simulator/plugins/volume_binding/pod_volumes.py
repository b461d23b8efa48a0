"""The volumes for a pod's claims on the node that was chosen: the PodVolumes of
pkg/scheduler/framework/plugins/volumebinding/binder.go, v1.34."""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.objects.metadata import with_annotations
from simulator.objects.volumes import (
    BOUND_BY_CONTROLLER,
    PVCS,
    PVS,
    SELECTED_NODE,
    claim_reference_to,
    is_volume_bound_to_claim,
)


class Assumed(NamedTuple):
    """A volume or a claim as it is, and as PreBind will write it. If both are the same object, there is
    nothing to write."""

    resource: str
    key: str
    before: Manifest
    after: Manifest


class PodVolumes(NamedTuple):
    bindings: tuple[tuple[Manifest, Assumed], ...]
    """Claims, and the volumes to bind them to."""
    provisions: tuple[Assumed, ...]
    """Claims for which volumes are to be provisioned."""

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """The volumes and claims, in the order in which they are written."""
        return (*(volume for _, volume in self.bindings), *self.provisions)

    @property
    def claims(self) -> list[str]:
        """The claims' keys."""
        return [*(key_of(claim) for claim, _ in self.bindings), *(claim.key for claim in self.provisions)]


def bound_to(volume: Manifest, claim: Manifest) -> Assumed:
    """Return the volume with a reference to the claim (GetBindVolumeToClaim in
    component-helpers/storage/volume/pv_helpers.go). A volume that a user bound to the claim beforehand is not
    annotated as bound by a controller."""
    after, reference = volume, claim_reference_to(claim)
    if not is_volume_bound_to_claim(volume, claim):
        after = with_annotations(after, {BOUND_BY_CONTROLLER: "yes"})
    if volume["spec"].get("claimRef") != reference:
        after = {**after, "spec": {**volume["spec"], "claimRef": reference}}
    return Assumed(PVS, volume["metadata"]["name"], volume, after)


def placed(claim: Manifest, node: str) -> Assumed:
    """Return the claim with the node on which its volume is to be provisioned."""
    return Assumed(PVCS, key_of(claim), claim, with_annotations(claim, {SELECTED_NODE: node}))


def key_of(claim: Manifest) -> str:
    metadata = claim["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
