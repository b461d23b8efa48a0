"""All controllers together (kube-controller-manager and the kubelets): each change is delivered to those that
watch its resource."""

from collections.abc import Callable, Mapping, Sequence

from simulator.api import Manifest
from simulator.client.world import World
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.cron_job import CronJobController
from simulator.controllers.daemon_set import DaemonSetController
from simulator.controllers.deployment import DeploymentController
from simulator.controllers.device_attacher import DeviceAttacher
from simulator.controllers.device_driver import DeviceDriver
from simulator.controllers.device_taint_eviction import DeviceTaintEvictionController
from simulator.controllers.disruption import DisruptionController
from simulator.controllers.garbage_collector import GarbageCollector
from simulator.controllers.job import JobController
from simulator.controllers.kubelet.eviction_manager import EvictionManager
from simulator.controllers.kubelet.kubelet import Kubelet
from simulator.controllers.kubelet.node_status import NodeStatusReporter
from simulator.controllers.namespace import NamespaceController
from simulator.controllers.node_lifecycle import NodeLifecycleController
from simulator.controllers.ownership import OwnershipIndex
from simulator.controllers.persistent_volume import (
    EphemeralVolumeController,
    PersistentVolumeClaimController,
    PersistentVolumeController,
)
from simulator.controllers.pod_gc import PodGarbageCollector
from simulator.controllers.pod_group_protection import PodGroupProtectionController
from simulator.controllers.replica_set import ReplicaSetController
from simulator.controllers.resource_claim import ResourceClaimController
from simulator.controllers.resource_quota import ResourceQuotaController
from simulator.controllers.stateful_set import StatefulSetController
from simulator.controllers.storage_protection import (
    PersistentVolumeClaimProtectionController,
    PersistentVolumeProtectionController,
    VolumeAttributesClassProtectionController,
)
from simulator.controllers.taint_eviction import TaintEvictionController
from simulator.controllers.timetable import TimetableController
from simulator.objects.node import Node
from simulator.objects.pod import Pod

CONTROLLERS: tuple[type[Controller], ...] = (
    TimetableController,
    Kubelet,
    PodGarbageCollector,
    DisruptionController,
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    DaemonSetController,
    JobController,
    CronJobController,
    EphemeralVolumeController,
    ResourceClaimController,
    DeviceDriver,
    DeviceAttacher,
    PersistentVolumeClaimController,
    PersistentVolumeController,
    PersistentVolumeClaimProtectionController,
    PersistentVolumeProtectionController,
    VolumeAttributesClassProtectionController,
    PodGroupProtectionController,
    NodeStatusReporter,
    NodeLifecycleController,
    TaintEvictionController,
    DeviceTaintEvictionController,
    EvictionManager,
    GarbageCollector,
    NamespaceController,
    ResourceQuotaController,
)
"""The controllers, in the order in which they are informed of a change."""

Handler = Callable[[str, str, Manifest | None, Manifest | None], None]
"""``handler(resource, key, old, new)``: ``old`` is None for an object that was created, ``new`` for one that
was deleted."""


class ControllerManager:
    """Runs the controllers. ``pods`` and ``nodes`` are the parsed objects by key; the caller updates them
    before the handlers run."""

    def __init__(self, world: World, pods: Mapping[str, Pod], nodes: Mapping[str, Node]) -> None:
        ownership = OwnershipIndex()
        context = ControllerContext(world, ownership, pods, nodes)
        controllers = [controller(context) for controller in CONTROLLERS]
        handlers: list[tuple[Sequence[str], str, Handler]] = [((), "Ownership informer", ownership.changed)]
        handlers += [(c.watches, f"{c.component} informer", c.changed) for c in controllers]
        watched = {resource for resources, _, _ in handlers for resource in resources}
        self._handlers = {resource: _handlers_of(resource, handlers) for resource in watched}
        self._handlers_of_all = _handlers_of("", handlers)

    def handlers(self, resource: str) -> Sequence[tuple[str, Handler]]:
        """Return the handlers of changes to this resource, each with its component's name, in the order in
        which they are to be called."""
        return self._handlers.get(resource, self._handlers_of_all)


def _handlers_of(
    resource: str, handlers: Sequence[tuple[Sequence[str], str, Handler]]
) -> list[tuple[str, Handler]]:
    return [(name, handler) for watched, name, handler in handlers if not watched or resource in watched]
