"""A node with devices publishes them. They are deleted with the node."""

import re

import pytest

from simulator.api import Manifest
from simulator.apiserver.status import Invalid
from simulator.objects.device_notation import DEVICES, DeviceNotationError, parse_devices
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
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
