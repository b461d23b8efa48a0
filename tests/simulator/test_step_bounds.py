"""One step of the Simulation does a bounded amount of work, as a slice of a worker ends only between two
steps. Work is counted here in objects that are written, in bytes, and in pods that are examined."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from simulator.api import Change, Manifest
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.resources import find_built_in
from simulator.client import shared_informer
from simulator.controllers import controller, daemon_set, namespace, stateful_set
from simulator.kernel.parts import size_of
from simulator.scheduler.shortages import RESOURCES_AT_MOST
from simulator.trace import ControllerPostponed, ObjectsCreated
from tests.simulator.controllers.workloads import names, workload
from tests.simulator.lab import Lab, node, pod

BOUND = 10
PODS = 45


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "OBJECTS_OF_A_RUN", BOUND)
    monkeypatch.setattr(namespace, "DELETED_AT_ONCE", BOUND)
    monkeypatch.setattr(stateful_set, "MAX_WRITTEN", BOUND)
    monkeypatch.setattr(daemon_set, "BURST_REPLICAS", BOUND)


class Counted(Lab):
    """Counts the objects that each step writes, Events apart."""

    most = 0

    def run(self, seconds: float = 3600) -> "Lab":
        written = 0
        commit, step = self.api.commit, self.simulation.step

        def counting(changes: Sequence[Change]) -> list[int]:
            nonlocal written
            written += sum(change.resource != "events" for change in changes)
            return commit(changes)

        def stepping(*arguments: Any, **options: Any) -> bool:
            nonlocal written
            written = 0
            did = step(*arguments, **options)
            self.most = max(self.most, written)
            return did

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.api, "commit", counting)
            patch.setattr(self.simulation, "step", stepping)
            return super().run(seconds)


def delete(lab: Lab, resource: str, key: str, **options: Any) -> None:
    plural, _, group = resource.partition(".")
    kind = find_built_in(group, plural)
    assert kind
    change = admit_delete(kind, lab.api.objects[resource][key], lab.now, **options)
    assert change
    lab.api.commit([change])
    lab.simulation.observe(lab.api.take_events())


def config_map(name: str, namespace: str = "default", **metadata: Any) -> Manifest:
    metadata |= {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def orphan(lab: Lab) -> bool:
    lab.create(config_map("owner"))
    uid = lab.api.objects["configmaps"]["default/owner"]["metadata"]["uid"]
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}]
    lab.create(*[config_map(f"c{number}", ownerReferences=owners) for number in range(PODS)])
    lab.run(1)
    delete(lab, "configmaps", "default/owner", propagation="Orphan")
    lab.run(1)
    left = lab.api.objects["configmaps"].values()
    return len(left) == PODS and not any(each["metadata"].get("ownerReferences") for each in left)


def delete_namespace(lab: Lab) -> bool:
    team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    lab.create(team, *[config_map(f"c{number}", "team") for number in range(PODS)])
    lab.create(*[config_map(f"c{number}") for number in range(3)])
    lab.run(1)
    delete(lab, "namespaces", "team")
    lab.run(5)
    return len(lab.api.objects["configmaps"]) == 3 and "team" not in lab.api.objects["namespaces"]


def lose_a_node(lab: Lab) -> bool:
    lab.create(node("n"), *[pod(f"p{number}", nodeName="n") for number in range(PODS)])
    lab.run(1)
    lab.delete("nodes", "n")
    lab.run(60)
    return not lab.api.objects["pods"]


def fail_a_node(lab: Lab) -> bool:
    lab.create(node("n"), *[pod(f"p{number}", nodeName="n") for number in range(PODS)])
    lab.run(10)
    conditions = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
    lab.update("nodes", "n", lambda n: {**n, "status": {**n["status"], "conditions": conditions}})
    lab.run(1)
    return all("NodeNotReady" in str(each["status"]) for each in lab.api.objects["pods"].values())


def adopt(lab: Lab) -> bool:
    of_web = [pod(f"p{number}") for number in range(PODS)]
    for each in of_web:
        each["metadata"]["labels"] = {"app": "web"}
    lab.create(*of_web)
    lab.run(1)
    lab.create(workload("ReplicaSet", replicas=PODS))
    lab.run(1)
    found = lab.api.objects["pods"].values()
    return len(found) == PODS and all(each["metadata"].get("ownerReferences") for each in found)


def scale_a_stateful_set(lab: Lab) -> bool:
    parallel = {"podManagementPolicy": "Parallel", "serviceName": "web"}
    short = {"terminationGracePeriodSeconds": 0}
    lab.create(node("n"), workload("StatefulSet", replicas=PODS, pod=short, **parallel))
    lab.run(5)
    created = len(names(lab))
    lab.update("statefulsets.apps", "default/web", lambda s: {**s, "spec": {**s["spec"], "replicas": 0}})
    lab.run(5)
    return created == PODS and not names(lab, alive=False)


def fill_all_nodes(lab: Lab) -> bool:
    lab.create(*[node(f"n{number}") for number in range(PODS)], workload("DaemonSet"))
    lab.run(1)
    return len(names(lab)) == PODS


@pytest.mark.parametrize(
    "act",
    [
        orphan,
        delete_namespace,
        lose_a_node,
        fail_a_node,
        adopt,
        scale_a_stateful_set,
        fill_all_nodes,
    ],
)
def test_a_controller_leaves_what_is_much_to_further_runs_at_the_same_moment(
    act: Callable[[Lab], bool],
) -> None:
    lab = Counted()
    assert act(lab)
    # The status of the object itself is written, too.
    assert BOUND <= lab.most <= BOUND + 2
    assert not lab.of(ControllerPostponed)


def test_a_burst_of_large_pods_is_divided_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """To admit 500 pods of 20 containers took 0.7 s, and one run took up to 4 MB of them."""
    monkeypatch.setattr(controller, "BURST_BYTES", 20_000)
    lab = Lab()
    lab.create(node("n"), workload("ReplicaSet", annotations={"a": "x" * 4_000}, replicas=30))
    lab.run(1)
    bursts = [len(event.keys) for event in lab.of(ObjectsCreated)]
    assert sum(bursts) == 30
    assert max(bursts) * size_of(next(iter(lab.api.objects["pods"].values()))) < 40_000


def test_one_step_takes_in_few_objects_that_concern_many_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 nodes that were created at once beside 8,000 unschedulable pods were one step of 10 s."""

    def run() -> tuple[list[int], Lab]:
        lab = Lab()
        lab.create(*[pod(f"p{number}", cpu="100") for number in range(20)], node("n"))
        lab.run(30)
        lab.create(*[node(f"n{number}") for number in range(20)])
        queue = lab.simulation._scheduler.queue
        examined, before = [], queue.examined
        while lab.simulation.step(lab.now):
            lab.collect()
            examined.append(queue.examined - before)
            before = queue.examined
        return examined, lab.run(30)

    at_once, lab = run()
    monkeypatch.setattr(shared_informer, "EXAMINED_AT_ONCE", 50)
    divided, other = run()
    assert max(at_once) >= 400
    assert max(divided) <= 50 + 20
    assert sum(divided) == sum(at_once)
    assert other.trace == lab.trace


def test_one_step_takes_in_few_large_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_informer, "BYTES_AT_ONCE", 10_000)
    lab = Lab()
    lab.run(1)
    lab.create(*[config_map(f"c{number}", annotations={"a": "x" * 3_000}) for number in range(20)])
    steps = 0
    while lab.simulation._world.informer.waiting:
        lab.simulation.step(lab.now)
        steps += 1
    assert steps == 5


def test_the_record_of_an_attempt_has_the_amounts_of_few_resources() -> None:
    """They were looked up for each resource, with a search among all others: 30,000 of them held a worker for
    five seconds."""
    lab = Lab()
    lab.create(node("n1"), node("n2"))
    requests = {f"example.com/r{number}": "1" for number in range(RESOURCES_AT_MOST + 100)}
    wide = pod("wide")
    wide["spec"]["containers"][0]["resources"] = {"limits": requests, "requests": requests}
    lab.create(wide)
    lab.run(1)
    [decision] = [each for each in lab.decisions if each.pod == "default/wide"][:1]
    assert len(decision.failures[0].reasons) == len(requests)
    assert len(decision.shortages) == RESOURCES_AT_MOST
