"""Which controllers are informed of which changes, and in which order."""

from simulator.apiserver.server import ApiServer
from simulator.client.world import World
from simulator.controllers.manager import CONTROLLERS, ControllerManager
from simulator.controllers.workload_controller import WorkloadController
from simulator.memory import MemoryStorage
from simulator.versions.features import DEFAULT_FEATURES


def components(resource: str) -> list[str]:
    manager = ControllerManager(World(MemoryStorage(), ApiServer, DEFAULT_FEATURES), {}, {})
    return [component for component, _ in manager.handlers(resource)]


def test_a_controller_watches_its_own_objects_and_their_dependents() -> None:
    for controller in CONTROLLERS:
        if not controller.watches:
            continue
        assert controller.resource in controller.watches, controller
        if issubclass(controller, WorkloadController):
            assert {*controller.dependents} <= {*controller.watches}, controller


def test_pods_are_delivered_to_owners_before_the_garbage_collector() -> None:
    found = components("pods")
    assert found[0] == "Ownership informer"
    assert found[1:4] == [
        "Kubelet informer",
        "PodGarbageCollector informer",
        "DisruptionController informer",
    ]
    assert found[-2:] == ["GarbageCollector informer", "ResourceQuota informer"]


def test_a_kind_that_no_controller_watches_is_still_garbage_collected_and_counted() -> None:
    everything = ["Ownership informer", "GarbageCollector informer", "ResourceQuota informer"]
    assert components("configmaps") == everything
