"""All controllers together (kube-controller-manager): what the watch shows goes to each of them."""

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.controllers.cron_job import CronJobController
from simulator.controllers.daemon_set import DaemonSetController
from simulator.controllers.deployment import DeploymentController
from simulator.controllers.garbage_collector import GarbageCollector
from simulator.controllers.job import JobController
from simulator.controllers.node_lifecycle import NodeLifecycleController
from simulator.controllers.ownership import Ownership, Place
from simulator.controllers.persistent_volume import (
    EphemeralVolumeController,
    PersistentVolumeClaimController,
    PersistentVolumeController,
)
from simulator.controllers.replica_set import ReplicaSetController
from simulator.controllers.stateful_set import StatefulSetController
from simulator.controllers.taint_eviction import TaintEvictionController
from simulator.world.eviction_manager import EvictionManager
from simulator.world.node_reporter import NodeReporter
from simulator.world.world import World

CONTROLLERS: tuple[type[Controller], ...] = (
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    DaemonSetController,
    JobController,
    CronJobController,
    EphemeralVolumeController,
    PersistentVolumeClaimController,
    PersistentVolumeController,
    NodeReporter,
    NodeLifecycleController,
    TaintEvictionController,
    EvictionManager,
)
"""In the order in which they hear of a change. Two are parts of the kubelets rather."""


class ControllerManager:
    def __init__(self, world: World) -> None:
        self._ownership = Ownership()
        self._controllers = [controller(world, self._ownership) for controller in CONTROLLERS]
        self._collector = GarbageCollector(world, self._ownership)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        """An object as it was before (None = it was not there) and as it is (None = it is gone)."""
        self._ownership.changed(Place(resource, key), old, new)
        for controller in self._controllers:
            controller.changed(resource, key, old, new)
        self._collector.changed(resource, key, old, new)
