"""A node with devices publishes them. They are deleted with the node."""

import re

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.apiserver.status import Invalid
from simulator.objects.device_features import DeviceNotationError
from simulator.objects.device_notation import DEVICES, parse_devices
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.simulation import Options
from tests.simulator.controllers.workloads import new_leader
from tests.simulator.devices import DRIVER, claim_template, device_class, pod_of_template, resource_slice
from tests.simulator.lab import Lab, node


def with_devices(name: str, text: str) -> Manifest:
    made = node(name)
    made["metadata"]["annotations"] = {DEVICES: text}
    return made


def slices(lab: Lab) -> dict[str, Manifest]:
    """Driver -> the spec of its slice."""
    found = lab.api.objects.get(RESOURCE_SLICES, {}).values()
    return {each["spec"]["driver"]: each["spec"] for each in found}


def test_a_text_describes_devices() -> None:
    found = parse_devices(
        "gpu.example.com: 2 x a100 memory=40Gi numa=0, t4 shared=true driver=1.2.3 link=nv\n"
        "nic.example.com:1 x cx7"
    )
    a100 = {
        "attributes": {"model": {"string": "a100"}, "numa": {"int": 0}},
        "capacity": {"memory": {"value": "40Gi"}},
    }
    t4 = {
        "model": {"string": "t4"},
        "shared": {"bool": True},
        "driver": {"version": "1.2.3"},
        "link": {"string": "nv"},
    }
    assert found == {
        DRIVER: [{"name": "gpu-0", **a100}, {"name": "gpu-1", **a100}, {"name": "gpu-2", "attributes": t4}],
        "nic.example.com": [{"name": "nic-0", "attributes": {"model": {"string": "cx7"}}}],
    }
    assert parse_devices(" \n;") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4 x a100", "must begin with the name of a driver and a colon"),
        ("GPU: a100", "must begin with the name of a driver and a colon"),
        ("a.b: x; a.b: y", "the driver a.b is there twice"),
        ("a.b:", "does not have the form NUMBER x MODEL KEY=VALUE"),
        ("a.b: 0 x a100", "a driver must have 1 to 128 devices"),
        ("a.b: 100 x a100, 100 x t4", "a driver must have 1 to 128 devices"),
        ("a.b: a100 memory", '"memory" does not have the form KEY=VALUE'),
        ("a.b: a100 +fast", '"+fast" is none of +shared'),
        ("a.b: a100 +taint=broken", '"+taint=broken" must have the form KEY=VALUE:EFFECT'),
        ("a.b: a100 +taint=broken:None", "with NoSchedule or NoExecute"),
        ("a.b: a100 +partitions=7x5Gi", "+partitions needs a capacity before it"),
        ("a.b: a100 memory=4Gi +partitions=2x5Gi", "must not have more than the memory of its device"),
        ("a.b: a100 memory=4Gi +partitions=none", "must have the form NUMBERxAMOUNT"),
        ("a.b: a100 +attach=soon", "must be whole seconds, from 1s to 1h"),
        ("a.b: a100 m=4Gi +shared +partitions=2x1Gi", "cannot have +partitions and +shared"),
        ("a.b: 10 x a100 m=7Gi +partitions=7x1Gi", "at most 64 devices, as some have taints or partitions"),
        ("a.b: a100 9=1", '"9=1" does not have the form KEY=VALUE'),
        ("a.b: a100 model=x", '"model" is there twice in "a100 model=x"'),
    ],
)
def test_a_wrong_text_is_refused_with_its_field(text: str, message: str) -> None:
    with pytest.raises(DeviceNotationError, match=re.escape(message)):
        parse_devices(text)
    with pytest.raises(Invalid) as refused:
        Lab().create(with_devices("n1", text))
    [cause] = refused.value.causes
    assert cause.field == f"metadata.annotations[{DEVICES}]"
    assert message in cause.message


def test_a_node_publishes_its_devices_and_pods_get_them() -> None:
    lab = Lab()
    lab.create(
        with_devices("n1", f"{DRIVER}: 2 x a100"), device_class(), claim_template(), pod_of_template("a")
    )
    lab.run(30)
    spec = slices(lab)[DRIVER]
    assert (spec["nodeName"], spec["pool"]) == (
        "n1",
        {"name": "n1", "generation": 1, "resourceSliceCount": 1},
    )
    assert lab.pod("a")["status"]["phase"] == "Running"
    assert lab.pod("a")["spec"]["nodeName"] == "n1"


def test_slices_follow_the_annotation_and_are_deleted_with_the_node() -> None:
    lab = Lab()
    lab.create(with_devices("n1", f"{DRIVER}: 2 x a100; nic.example.com: cx7"))
    lab.create(node("n2"), resource_slice("n2"))
    lab.run(1)
    [name] = [key for key, each in lab.api.objects[RESOURCE_SLICES].items() if key.startswith(f"n1-{DRIVER}")]
    text = f"{DRIVER}: 2 x a100, t4"
    lab.update(
        "nodes",
        "n1",
        lambda old: {
            **with_devices("n1", text),
            "metadata": {**old["metadata"], "annotations": {DEVICES: text}},
        },
    )
    lab.run(1)
    kept = lab.api.objects[RESOURCE_SLICES][name]["spec"]
    assert [each["name"] for each in kept["devices"]] == ["gpu-0", "gpu-1", "gpu-2"]
    assert kept["pool"]["generation"] == 2
    assert len(lab.api.objects[RESOURCE_SLICES]) == 2
    other = new_leader(lab)
    other.delete(RESOURCE_SLICES, name)
    other.run(1)
    assert sum(key.startswith("n1-") for key in other.api.objects[RESOURCE_SLICES]) == 1, "published again"
    other.delete("nodes", "n1")
    other.run(1)
    assert [*other.api.objects[RESOURCE_SLICES]] == ["n2-gpus"], "others' slices stay"


FEATURES = (
    f"{DRIVER}: 2 x a100 memory=40Gi +partitions=2x20Gi, t4 +taint=broken:NoSchedule +attach=30s; "
    "nic.example.com: nic bandwidth=10G +shared"
)


def published(lab: Lab, driver: str) -> list[Manifest]:
    found = lab.api.objects[RESOURCE_SLICES].values()
    return [each["spec"] for each in found if each["spec"]["driver"] == driver]


def test_features_are_published_where_their_gates_are_on() -> None:
    lab = Lab(Options(kubernetes="v1.36"))
    lab.create(with_devices("n1", FEATURES))
    lab.run(2)
    devices, counters = published(lab, DRIVER)
    assert [each["pool"]["resourceSliceCount"] for each in (devices, counters)] == [2, 2]
    assert devices["pool"]["generation"] == counters["pool"]["generation"]
    names = ["gpu-0", "gpu-0-part-0", "gpu-0-part-1", "gpu-1", "gpu-1-part-0", "gpu-1-part-1", "gpu-2"]
    assert [each["name"] for each in devices["devices"]] == names
    whole, part, *_, t4 = devices["devices"]
    assert whole["consumesCounters"] == [{"counterSet": "gpu-0", "counters": {"memory": {"value": "40Gi"}}}]
    assert part["capacity"] == {"memory": {"value": "20Gi"}}
    assert [each["name"] for each in counters["sharedCounters"]] == ["gpu-0", "gpu-1"]
    [taint] = t4["taints"]
    assert (taint["key"], taint["effect"], bool(taint["timeAdded"])) == ("broken", "NoSchedule", True)
    assert t4["bindingConditions"] == ["schedviz/attached"]
    [nic] = published(lab, "nic.example.com")
    assert nic["devices"][0]["allowMultipleAllocations"]
    count = len(lab.of(trace.ObjectsCreated))
    lab.run(60)
    assert len(lab.of(trace.ObjectsCreated)) == count, "nothing more to do"

    older = Lab(Options(kubernetes="v1.35"))
    older.create(with_devices("n1", FEATURES))
    older.run(2)
    [spec] = published(older, DRIVER)
    assert [each["name"] for each in spec["devices"]] == ["gpu-0", "gpu-1", "gpu-2"]
    assert all(each.keys() <= {"name", "attributes", "capacity"} for each in spec["devices"])


def test_partitions_share_their_device_and_attached_devices_make_a_pod_wait() -> None:
    lab = Lab(Options(kubernetes="v1.36"))
    text = f"{DRIVER}: a100 memory=40Gi +partitions=2x20Gi, t4 +attach=30s"
    half = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("20Gi")) == 0'
    lab.create(
        with_devices("n1", text),
        device_class("half", f'"{DRIVER}" in device.capacity', half),
        device_class("t4", f'device.attributes["{DRIVER}"].model == "t4"'),
        claim_template("half", deviceClassName="half"),
        claim_template("t4", deviceClassName="t4"),
    )
    lab.run(2)
    lab.create(*(pod_of_template(f"p{i}", "half") for i in range(3)), pod_of_template("slow", "t4"))
    lab.run(10)
    assert sum("nodeName" in lab.pod(f"p{i}")["spec"] for i in range(3)) == 2
    assert "nodeName" not in lab.pod("slow")["spec"]
    lab.run(30)
    assert lab.node_of("slow") == "n1"
