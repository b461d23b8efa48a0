"""Quantities of a real cluster that are none: they are told with their object and path."""

import cProfile
import re

import pytest

from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.dumps.fitting import MAX_WRONG_QUANTITIES, Unfit, fit_to_type
from tests.apiserver.imported_objects import KATA, LIMITS, QUOTA, imported, named, with_value
from tests.dumps import as_list, node, pod, workload
from tests.simulator.devices import resource_slice

CONTAINER = ("spec", "containers", 0, "resources")
CLAIM = named(
    "PersistentVolumeClaim", "c", spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {}}}
)
VOLUME = named(
    "PersistentVolume",
    "v",
    spec={"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}},
)
CAPACITY = named("CSIStorageCapacity", "c", "storage.k8s.io/v1", storageClassName="s")
TEMPLATE = ("spec", "template", *CONTAINER)


@pytest.mark.parametrize(
    ("manifest", "path", "said"),
    [
        (node("n"), ("status", "allocatable", "cpu"), "Node n: status.allocatable.cpu"),
        (node("n"), ("status", "capacity", "example.com/gpu"), "Node n: status.capacity.example.com/gpu"),
        (pod("p"), (*CONTAINER, "requests", "cpu"), "Pod shop/p: spec.containers[0].resources.requests.cpu"),
        (
            pod("p"),
            (*CONTAINER, "limits", "memory"),
            "Pod shop/p: spec.containers[0].resources.limits.memory",
        ),
        (pod("p"), ("spec", "overhead", "cpu"), "Pod shop/p: spec.overhead.cpu"),
        (pod("p"), ("spec", "resources", "requests", "cpu"), "Pod shop/p: spec.resources.requests.cpu"),
        # The first two volumes are left out: their places count.
        (
            with_value(pod("p"), ("spec", "volumes", 2), {"name": "v", "emptyDir": {}}),
            ("spec", "volumes", 2, "emptyDir", "sizeLimit"),
            "Pod shop/p: spec.volumes[2].emptyDir.sizeLimit",
        ),
        (
            workload("Deployment", "d", 1),
            (*TEMPLATE, "requests", "cpu"),
            "Deployment shop/d: spec.template.spec.containers[0].resources.requests.cpu",
        ),
        (CLAIM, ("spec", "resources", "requests", "storage"), "Claim c: spec.resources.requests.storage"),
        (VOLUME, ("spec", "capacity", "storage"), "PersistentVolume v: spec.capacity.storage"),
        (CAPACITY, ("capacity",), "CSIStorageCapacity c: capacity"),
        (CAPACITY, ("maximumVolumeSize",), "CSIStorageCapacity c: maximumVolumeSize"),
        (QUOTA, ("spec", "hard", "pods"), "ResourceQuota q: spec.hard.pods"),
        (LIMITS, ("spec", "limits", 0, "default", "cpu"), "LimitRange l: spec.limits[0].default.cpu"),
        (KATA, ("overhead", "podFixed", "cpu"), "RuntimeClass kata: overhead.podFixed.cpu"),
        (
            resource_slice("n"),
            ("spec", "devices", 0, "capacity", "memory", "value"),
            "ResourceSlice n-gpus: spec.devices[0].capacity.memory.value",
        ),
    ],
)
@pytest.mark.parametrize("value", ["2 cores", True, "1" * 30, [1], ""])
def test_a_quantity_that_is_none_is_told_with_its_object_and_path(
    manifest: Manifest, path: tuple[str | int, ...], said: str, value: object
) -> None:
    objects, report = imported(as_list([with_value(manifest, path, value), node("good")]))
    assert report.refusals == 1
    assert said in report.refused[0]
    problem = "must be less than 2^63" if value == "1" * 30 else "not a quantity"
    assert report.refused[0].split(said)[1].startswith(f": {problem}: ")
    kept = {
        key
        for resource, key in objects
        if resource not in ("namespaces", "priorityclasses.scheduling.k8s.io")
    }
    assert kept == {"good"}
    assert not report.dropped.keys() & {re.sub(r"\[\d\]", "[]", said.split(": ")[1])}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("status", "allocatable"), "4", 'status.allocatable: not of the type object: "4"'),
        (("status",), [], "status: not of the type object: []"),
    ],
)
def test_what_should_have_quantities_and_has_another_type_is_told(
    path: tuple[str | int, ...], value: object, said: str
) -> None:
    _, report = imported(as_list([with_value(node("n"), path, value), node("good")]))
    assert report.refused == [f"Node n: {said}"]


def test_all_wrong_quantities_of_an_object_are_told_and_what_may_be_meant() -> None:
    wrong = with_value(node("n"), ("status", "allocatable"), {"cpu": "2 cores", "memory": "1gb", "pods": "9"})
    _, report = imported(as_list([wrong, node("good")]))
    assert report.refused[0].split("; ") == [
        'Node n: status.allocatable.cpu: not a quantity: "2 cores" (meant as 2?)',
        'status.allocatable.memory: not a quantity: "1gb" (meant as 1Gi or 1G?)',
    ]


def test_the_work_for_wrong_quantities_of_an_object_is_bounded() -> None:
    def work(count: int) -> tuple[int, str]:
        limits = {"limits": {"cpu": "2 cores"}}
        containers = [{"name": f"c{number}", "image": "a", "resources": limits} for number in range(count)]
        manifest = with_value(pod("p"), ("spec", "containers"), containers)
        profile = cProfile.Profile()
        with pytest.raises(Unfit) as unfit:
            profile.runcall(fit_to_type, PODS, manifest, lambda _: None)
        return sum(entry.callcount for entry in profile.getstats()), str(unfit.value)

    work(MAX_WRONG_QUANTITIES)
    (some, _), (more, said) = work(200), work(400)
    assert more < 2.3 * some
    *listed, last = said.split("; ")
    assert listed[1] == 'spec.containers[1].resources.limits.cpu: not a quantity: "2 cores" (meant as 2?)'
    assert len(listed) == MAX_WRONG_QUANTITIES
    assert last == "further wrong quantities are not listed"


def test_a_wrong_quantity_that_nothing_reads_leaves_nothing_out() -> None:
    field = {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "no quantity"}}
    env = [{"name": "CPU", "valueFrom": field}]
    _, report = imported(as_list([with_value(pod("p"), ("spec", "containers", 0, "env"), env)]))
    assert (report.refusals, report.taken) == (0, 1)
