"""A Simulation that continues the queue of an earlier one has its pods at the same places."""

from collections import Counter
from collections.abc import Iterable
from random import Random

from msgspec.structs import replace

from simulator.api import SECOND
from simulator.apiserver.server import ApiServer
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.simulation import Options, Simulation
from simulator.trace import IN_FLIGHT, QueuePlace
from tests.queue_places import standing

from .builders import Manifest


def pod(name: str, random: Random) -> Manifest:
    spec: Manifest = {"priorityClassName": "high"} if random.random() < 0.3 else {}
    if random.random() < 0.15:
        spec["schedulingGates"] = [{"name": "example.com/gate"}]
    if random.random() < 0.2:
        spec["nodeSelector"] = {"disk": "ssd"}
    requests = {"cpu": random.choice(["500m", "1", "3"])}
    spec["containers"] = [{"name": "c", "image": "x", "resources": {"requests": requests}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def a_sandbox(random: Random) -> MemorySandbox:
    """Two small nodes, and pods that come one after another; some of them fit nowhere."""
    nodes: list[Manifest] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{number}"},
            "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"}},
        }
        for number in range(2)
    ]
    high = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 5}
    nodes.append({"apiVersion": "scheduling.k8s.io/v1", **high})
    sandbox = MemorySandbox(SandboxOptions("kept", nodes, seed=1, pace=SECOND // 3))
    for number in range(10):
        sandbox.create([pod(f"p{number}", random)])
        sandbox.run(f"time {sandbox.now() + random.choice([0, 1, 3]) * SECOND}")
        if random.random() < 0.3:
            label(sandbox, other=str(number))
    if random.random() < 0.5:
        sandbox.step("point", random.randrange(4))
    else:
        sandbox.create([pod("last", Random(2))])
        sandbox.run(f"time {sandbox.now() + SECOND // 2}")
        label(sandbox, disk="ssd")
    return sandbox


def label(sandbox: MemorySandbox, **labels: str) -> None:
    """Label a node. Pods that wait for the label go to backoffQ or activeQ."""
    metadata = {"name": "n0", "labels": labels}
    sandbox.patch_named({"apiVersion": "v1", "kind": "Node", "metadata": metadata})


def continued(sandbox: MemorySandbox, places: Iterable[QueuePlace]) -> dict[str, QueuePlace]:
    """The places in a new Simulation of the sandbox's objects, which continues this queue."""
    version, gates = sandbox.features.version.patch, sandbox.features.gates
    made = Simulation(sandbox._api, ApiServer, Options(seed=1, kubernetes=version, feature_gates=gates))
    made.keep_queue(places)
    made.relist([*sandbox._listed()], sandbox.version())
    while made.take_in(sandbox.now()):
        pass
    return {pod: place for pod, place in made.take_queue_places().items() if place}


def test_all_places_are_kept() -> None:
    lanes: Counter[str] = Counter()
    for seed in range(30):
        sandbox = a_sandbox(Random(seed))
        places = dict(sandbox.queue()[0])
        lanes.update(place.lane for place in places.values())
        again = continued(sandbox, places.values())
        # The nomination of a pod in flight is in its object, and may not be the scheduler's any more.
        for pod in [pod for pod, place in places.items() if place.lane in IN_FLIGHT]:
            places[pod], again[pod] = (replace(each, nominated_node="") for each in (places[pod], again[pod]))
        assert standing(again) == standing(places), seed
        order = sorted(places, key=lambda pod: places[pod].sequence)
        assert sorted(again, key=lambda pod: again[pod].sequence) == order
    assert {"activeQ", "backoffQ", "unschedulable", "gated", "inFlight"} <= lanes.keys()


def test_another_pod_of_the_same_name_is_new() -> None:
    sandbox = a_sandbox(Random(2))
    strange = [replace(place, uid="another") for place in sandbox.queue()[0].values()]
    found = continued(sandbox, strange)
    assert found
    assert {place.attempts for place in found.values()} == {0}
