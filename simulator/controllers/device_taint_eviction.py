"""The device taint eviction controller: deletes pods with a device that has a NoExecute taint which their
claim does not tolerate, or does so no longer (pkg/controller/devicetainteviction/device_taint_eviction.go,
with the feature gate DRADeviceTaints).

As upstream, only tolerations of the effect NoExecute count, and claims for extended resources do not."""

from collections.abc import Iterator
from typing import Final

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.controllers.controller import Controller, ControllerContext
from simulator.objects.conditions import with_condition
from simulator.objects.metadata import is_terminating, namespace_of, object_key
from simulator.objects.pod import Pod
from simulator.objects.status import status_of
from simulator.objects.timestamps import micros
from simulator.plugins.dynamic_resources.allocated_devices import device_of
from simulator.plugins.dynamic_resources.device import DeviceTaint
from simulator.plugins.dynamic_resources.device_selectors import ClaimError
from simulator.plugins.dynamic_resources.device_taints import tolerates
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.pod_claims import claim_name, is_owner, is_reserved_for
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID, DeviceToleration
from simulator.trace import PodEvicted

GATE: Final = "DRADeviceTaints"
REASON: Final = "DeletionByDeviceTaintManager"
MESSAGE: Final = "Device Taint manager: deleting due to NoExecute taint"
NO_EXECUTE: Final = "NoExecute"

Taints = dict[str, list[Manifest]]
"""The NoExecute taints of each device that has such, by its name."""


class DeviceTaintEvictionController(Controller):
    component = "DeviceTaintEviction"
    resource = "pods"
    watches = ("pods", RESOURCE_CLAIMS, RESOURCE_SLICES)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._enabled = context.world.features.enabled(GATE)
        self._slices: dict[tuple[str, str], dict[str, tuple[int, Taints]]] = {}
        """Driver and name of a pool -> the generation and the taints of each slice, by key."""
        self._tainted = 0
        """The number of slices with taints."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if not self._enabled:
            return
        if resource == RESOURCE_SLICES:
            self._slice_changed(key, old, new)
        elif self._tainted and new is not None:
            if resource == "pods":
                if new["spec"].get("nodeName") and new["spec"].get("resourceClaims"):
                    self.enqueue(key)
            elif status_of(new).get("allocation") is not None:
                self._enqueue_consumers(new)

    def _slice_changed(self, key: str, old: Manifest | None, new: Manifest | None) -> None:
        before = {} if old is None else no_execute_taints(old)
        after = {} if new is None else no_execute_taints(new)
        for manifest, taints, by in ((old, before, -1), (new, after, 1)):
            if manifest is None:
                continue
            pool, entry = _pool_of(manifest), (_generation(manifest), taints)
            self._tainted += by if taints else 0
            if by < 0:
                self._slices.get(pool, {}).pop(key, None)
            else:
                self._slices.setdefault(pool, {})[key] = entry
        if not self._tainted and not before:
            return
        pools = {_pool_of(each) for each in (old, new) if each is not None}
        for claim in self._world.informer.of(RESOURCE_CLAIMS).values():
            if any((device.driver, device.pool) in pools for device, _ in _allocated(claim)):
                self._enqueue_consumers(claim)

    def _enqueue_consumers(self, claim: Manifest) -> None:
        for consumer in status_of(claim).get("reservedFor") or ():
            if consumer["resource"] == "pods" and not consumer.get("apiGroup"):
                self.enqueue(object_key(namespace_of(claim), consumer["name"]))

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest) or not manifest["spec"].get("nodeName"):
            return
        ends = [each for claim in self._claims(Pod(manifest)) for each in self._ends(claim)]
        if not ends:
            return
        end, taint = min(ends)
        if end > self._world.now:
            self.enqueue(key, end)
            return
        node = manifest["spec"]["nodeName"]
        event = PodEvicted(t=self._world.now, pod=key, node=node, reason=f"device taint {taint}:{NO_EXECUTE}")
        self.write("pods", manifest, self._delete, event)

    def _claims(self, pod: Pod) -> Iterator[Manifest]:
        """Yield the claims that are reserved for the pod (podEvictionTime)."""
        for reference in pod.spec.get("resourceClaims") or ():
            try:
                name = claim_name(pod, reference)
            except ClaimError:
                continue
            claim = self._world.get(RESOURCE_CLAIMS, object_key(pod.namespace, name)) if name else None
            if claim is None or not is_reserved_for(claim, pod):
                continue
            if reference.get("resourceClaimName") or is_owner(pod, claim):
                yield claim

    def _ends(self, claim: Manifest) -> Iterator[tuple[Micros, str]]:
        """Yield for each taint that the claim does not tolerate forever when it ends to do so, and the key of
        the taint (claimEvictionTime)."""
        for device, tolerations in _allocated(claim):
            for taint in self._taints_of(device):
                seconds = _tolerated_seconds(taint, tolerations)
                if seconds is not None:
                    yield micros(taint["timeAdded"]) + seconds * SECOND, taint["key"]

    def _taints_of(self, device: DeviceID) -> list[Manifest]:
        slices = self._slices.get((device.driver, device.pool), {}).values()
        newest = max((generation for generation, _ in slices), default=0)
        for generation, taints in slices:
            if generation == newest and device.device in taints:
                return taints[device.device]
        return []

    def _delete(self, pod: Manifest) -> list[Change]:
        now = self._world.now
        marked = with_condition(pod, now, "DisruptionTarget", "True", reason=REASON, message=MESSAGE)
        return self._world.server.delete_by_component(marked)


def no_execute_taints(manifest: Manifest) -> Taints:
    """Return the NoExecute taints in a slice. One without a time is as old as the slice."""
    found: Taints = {}
    for device in manifest["spec"].get("devices") or ():
        taints = [taint for taint in device.get("taints") or () if taint.get("effect") == NO_EXECUTE]
        if taints:
            created = manifest["metadata"].get("creationTimestamp")
            found[device["name"]] = [{"timeAdded": created, **taint} for taint in taints]
    return found


def _pool_of(manifest: Manifest) -> tuple[str, str]:
    return manifest["spec"]["driver"], manifest["spec"]["pool"]["name"]


def _generation(manifest: Manifest) -> int:
    generation: int = manifest["spec"]["pool"].get("generation") or 0
    return generation


def _allocated(claim: Manifest) -> Iterator[tuple[DeviceID, list[Manifest]]]:
    """Yield the devices of a claim, each with the tolerations of its request."""
    allocation = status_of(claim).get("allocation") or {}
    for result in (allocation.get("devices") or {}).get("results") or ():
        yield device_of(result), result.get("tolerations") or []


def _tolerated_seconds(taint: Manifest, tolerations: list[Manifest]) -> int | None:
    """Return for how long the taint is tolerated: None = forever, 0 = it is not."""
    stated = DeviceTaint(taint["key"], taint.get("value") or "", NO_EXECUTE)
    seconds: list[int] = []
    for each in tolerations:
        toleration = DeviceToleration(*(each.get(field) or "" for field in DeviceToleration._fields))
        if toleration.effect == NO_EXECUTE and tolerates(toleration, stated):
            if each.get("tolerationSeconds") is None:
                return None
            seconds.append(max(0, each["tolerationSeconds"]))
    return min(seconds, default=0)
