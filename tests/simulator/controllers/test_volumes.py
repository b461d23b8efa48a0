"""Claims get their volumes, and pods wait for them."""

import pytest

from simulator import trace
from tests.simulator.controllers.storage import claim, storage_class, user, volume, zoned
from tests.simulator.controllers.workloads import names, new_leader, workload
from tests.simulator.lab import Lab, node, pod


def of(lab: Lab, name: str = "data") -> tuple[str, str]:
    found = lab.api.objects["persistentvolumeclaims"][f"default/{name}"]
    return found["status"]["phase"], found["spec"].get("volumeName", "")


def phases(lab: Lab) -> dict[str, str]:
    return {name: v["status"]["phase"] for name, v in lab.api.objects["persistentvolumes"].items()}


def test_a_claim_is_bound_to_the_smallest_volume_that_fits_and_its_pod_may_go() -> None:
    lab = Lab()
    lab.create(node("n1"), user(), claim())
    lab.run(10)
    assert of(lab) == ("Pending", "")
    assert lab.condition("user", "PodScheduled")["message"].startswith(
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims"
    )
    lab.create(volume("small", "1Gi"), volume("big", "50Gi"), volume("right", "5Gi"))
    lab.run(60)
    assert of(lab) == ("Bound", "right")
    assert phases(lab) == {"small": "Available", "big": "Available", "right": "Bound"}
    assert lab.pod("user")["status"]["phase"] == "Running"
    lab.delete("persistentvolumeclaims", "default/data")
    lab.run(1)
    assert phases(lab)["right"] == "Released"


def test_an_immediate_class_provisions_a_volume_at_once_and_deletes_it_with_the_claim() -> None:
    lab = Lab()
    lab.create(storage_class("fast", "Immediate"), claim(storageClassName="fast"))
    lab.run(1)
    [name] = phases(lab)
    assert of(lab) == ("Bound", name)
    made = lab.api.objects["persistentvolumes"][name]
    assert made["spec"]["capacity"] == {"storage": "5Gi"}
    assert made["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "disks.example"
    lab.delete("persistentvolumeclaims", "default/data")
    lab.run(1)
    assert phases(lab) == {}


def test_a_class_that_waits_makes_the_volume_where_the_scheduler_puts_the_first_pod() -> None:
    lab = Lab()
    lab.create(zoned("a", "east", cpu="0"), zoned("b", "west"), storage_class("wait", "WaitForFirstConsumer"))
    lab.create(claim(storageClassName="wait"))
    lab.run(60)
    assert of(lab) == ("Pending", "")
    lab.create(user())
    lab.run(5)
    [name] = phases(lab)
    assert of(lab) == ("Bound", name)
    assert lab.pod("user")["status"]["phase"] == "Running"
    lab.create(zoned("c", "east", cpu="64"))
    lab.create(user("another"))
    lab.run(5)
    assert lab.node_of("another") == "b", "the volume is in the west"
    assert [event.volume for event in lab.of(trace.VolumeBound)] == [name]


def test_a_local_volume_is_chosen_with_its_node() -> None:
    lab = Lab()
    on_b = {
        "required": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}]}
            ]
        }
    }
    lab.create(
        node("a"), node("b"), storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")
    )
    lab.create(volume("disk", "10Gi", nodeAffinity=on_b, storageClassName="local"))
    lab.create(claim(storageClassName="local"))
    lab.run(1)
    lab.create(user())
    lab.run(10)
    assert (lab.node_of("user"), of(lab)) == ("b", ("Bound", "disk"))


@pytest.mark.parametrize(
    ("provisioner", "driver"),
    [
        ("disks.example", "disks.example"),
        ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
        ("example.com/disks", "example.com.disks"),
    ],
)
def test_any_provisioner_creates_a_volume(provisioner: str, driver: str) -> None:
    lab = Lab()
    lab.create(storage_class("fast", "Immediate", provisioner), claim(storageClassName="fast"))
    lab.run(10)
    [made] = lab.api.objects["persistentvolumes"].values()
    assert made["spec"]["csi"]["driver"] == driver
    assert of(lab)[0] == "Bound"


def test_a_claim_whose_volume_is_deleted_is_lost() -> None:
    lab = Lab()
    lab.create(volume("disk", "5Gi"), claim())
    lab.run(1)
    lab.delete("persistentvolumes", "disk")
    lab.run(1)
    assert of(lab) == ("Lost", "disk")


def test_an_ephemeral_volume_is_deleted_with_its_pod() -> None:
    lab = Lab()
    template = {"spec": claim(storageClassName="fast")["spec"]}
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}
    lab.create(node("n1"), storage_class("fast", "Immediate"), pod("user", volumes=[scratch]))
    lab.run(60)
    assert of(lab, "user-scratch")[0] == "Bound"
    assert lab.pod("user")["status"]["phase"] == "Running"
    lab.delete_pod("user")
    lab.run(60)
    assert not lab.api.objects["persistentvolumeclaims"]
    assert phases(lab) == {}


def test_the_pods_of_a_stateful_set_keep_their_volumes_under_a_new_leader() -> None:
    template = {"metadata": {"name": "data"}, "spec": claim(storageClassName="wait")["spec"]}
    lab = Lab()
    lab.create(node("n1"), storage_class("wait", "WaitForFirstConsumer"))
    lab.create(workload("StatefulSet", replicas=2, volumeClaimTemplates=[template]))
    lab.run(60)
    before = [of(lab, f"data-web-{i}") for i in (0, 1)]
    assert [phase for phase, _ in before] == ["Bound", "Bound"]
    lab.delete_pod("web-0")
    lab = new_leader(lab.run(90))
    assert names(lab) == ["web-1", "web-0"]
    assert [of(lab, f"data-web-{i}") for i in (0, 1)] == before
    lab.run(1)
    version = lab.api.version
    new_leader(lab).run(60)
    assert lab.api.version == version
