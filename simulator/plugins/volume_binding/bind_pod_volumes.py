"""PreBind of VolumeBinding: BindPodVolumes in pkg/scheduler/framework/plugins/volumebinding/binder.go.

It writes the claims' names into their volumes, and the node into the claims to be provisioned. The persistent
volume controller and the provisioners do the rest; the plugin checks every second whether they have."""

from typing import Final, NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.component_writes import ComponentWrites
from simulator.framework.handle import Client
from simulator.framework.status import PluginError, Status, error
from simulator.kernel.requests import Refused, Steps, Wait, Write
from simulator.objects import node_selector
from simulator.objects.metadata import annotations_of, with_annotations
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    BOUND_BY_CONTROLLER,
    PVCS,
    PVS,
    SELECTED_NODE,
    claim_reference_to,
    is_fully_bound,
    is_volume_bound_to_claim,
    not_found_message,
    volume_node_affinity,
)
from simulator.trace import VolumesAwaited


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


CHECK_PERIOD: Final[Micros] = SECOND
"""Upstream, too, checks for the first time after one period."""


def bind_pod_volumes(
    client: Client, pod: Pod, node_name: str, volumes: PodVolumes, *, timeout: Micros, cycle: int
) -> Steps[Status | None]:
    """Write what is to be written, each object by itself: if a write is refused, those before it stay. Then
    wait until all claims are bound. Returns an Error if that is impossible, or takes longer than
    ``timeout``."""
    for assumed in volumes.assumed:
        if assumed.after is not assumed.before:
            changes = ComponentWrites.update_by_component(assumed.resource, assumed.before, assumed.after)
            outcome = yield Write(changes)
            if isinstance(outcome, Refused):
                return error(outcome.message)
    deadline = client.clock() + timeout
    client.emit(
        VolumesAwaited(t=client.clock(), cycle=cycle, pod=pod.key, node=node_name, claims=volumes.claims)
    )
    while True:
        try:
            yield Wait(min(client.clock() + CHECK_PERIOD, deadline))
            if client.clock() >= deadline:
                raise PluginError("context deadline exceeded")
            if _check_bindings(client, pod, node_name, volumes):
                return None
        except PluginError as fault:
            return error(f"binding volumes: {fault}")


def _check_bindings(client: Client, pod: Pod, node_name: str, volumes: PodVolumes) -> bool:
    """Whether all claims are bound (checkBindings). Raises PluginError if that is impossible by now. Volumes
    of in-tree drivers are not translated."""
    node = client.get("nodes", node_name)
    if node is None:
        raise PluginError(f'failed to get node "{node_name}": {not_found_message("node", node_name)}')
    if client.get("pods", pod.key) is None:
        raise PluginError(f"pod does not exist any more: {not_found_message('pod', pod.name)}")
    for claim, assumed in volumes.bindings:
        if not _check_binding(client, node, key_of(claim), assumed.key):
            return False
    return all(_check_provision(client, node, claim.key) for claim in volumes.provisions)


def _check_binding(client: Client, node: Manifest, claim_key: str, volume_key: str) -> bool:
    try:
        volume, claim = _get(client, PVS, volume_key), _get(client, PVCS, claim_key)
    except PluginError as fault:
        raise PluginError(f"failed to check binding: {fault}") from None
    _check_node_affinity(volume, node)
    if not (volume["spec"].get("claimRef") or {}).get("uid"):
        raise PluginError(f'ClaimRef got reset for pv "{volume_key}"')
    return is_fully_bound(claim)


def _check_provision(client: Client, node: Manifest, key: str) -> bool:
    try:
        claim = _get(client, PVCS, key)
    except PluginError as fault:
        raise PluginError(f"failed to check provisioning pvc: {fault}") from None
    name = claim["metadata"]["name"]
    if annotations_of(claim).get(SELECTED_NODE) != node["metadata"]["name"]:
        reset = "provisioning failed" if annotations_of(claim) else "selectedNode annotation reset"
        raise PluginError(f'{reset} for PVC "{name}"')
    volume = client.get(PVS, claim["spec"].get("volumeName") or "")
    if volume is not None:
        _check_node_affinity(volume, node)
    elif claim["spec"].get("volumeName"):
        return False
    return is_fully_bound(claim)


def _get(client: Client, resource: str, key: str) -> Manifest:
    found = client.get(resource, key)
    if found is None:
        kind = "PersistentVolume" if resource == PVS else "PersistentVolumeClaim"
        raise PluginError(f'could not find v1.{kind} "{key}"')
    return found


def _check_node_affinity(volume: Manifest, node: Manifest) -> None:
    selector, metadata = volume_node_affinity(volume), node["metadata"]
    name, labels = metadata["name"], metadata.get("labels") or {}
    if selector is not None and not node_selector.node_selector_matches(selector, name, labels):
        pv = volume["metadata"]["name"]
        raise PluginError(
            f'pv "{pv}" node affinity doesn\'t match node "{name}": no matching NodeSelectorTerms'
        )
