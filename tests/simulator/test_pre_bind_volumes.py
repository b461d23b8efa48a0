"""PreBind of the VolumeBinding plugin: its writes, what it waits for, and how the wait ends."""

from collections.abc import Callable
from typing import Any

import pytest

from simulator import trace
from simulator.api import SECOND, Manifest
from simulator.controllers.persistent_volume import PROVISION_SECONDS
from simulator.objects.volumes import SELECTED_NODE
from simulator.plugins.gang import GROUP, SIZE
from simulator.simulation import Options
from tests.simulator.controllers.storage import claim, storage_class, user, volume
from tests.simulator.controllers.workloads import new_leader
from tests.simulator.lab import Lab, node, pod, priority_class

PVCS, PVS = "persistentvolumeclaims", "persistentvolumes"
PREFIX = 'running PreBind plugin "VolumeBinding": binding volumes: '


def slow_class(seconds: float) -> Manifest:
    made = storage_class("slow", "WaitForFirstConsumer")
    made["metadata"]["annotations"] = {PROVISION_SECONDS: str(seconds)}
    return made


def waiting(seconds: int = 30, **options: Any) -> Lab:
    """A pod whose claim is being provisioned, and the first second of that."""
    lab = Lab(Options(**options))
    lab.create(node("n1"), slow_class(seconds), claim(storageClassName="slow"))
    lab.run(1)
    lab.create(user())
    return lab.run(1)


def local_class() -> Manifest:
    return storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")


def annotations(lab: Lab) -> dict[str, str]:
    found: dict[str, str] = lab.api.objects[PVCS]["default/data"]["metadata"].get("annotations", {})
    return found


def failures(lab: Lab) -> list[str]:
    return [event.message for event in lab.of(trace.BindFailed)]


def without_node(manifest: Manifest) -> Manifest:
    """As a provisioner gives up."""
    kept = {k: v for k, v in manifest["metadata"]["annotations"].items() if k != SELECTED_NODE}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": kept}}


def elsewhere(manifest: Manifest) -> Manifest:
    annotations = {**manifest["metadata"]["annotations"], SELECTED_NODE: "n2"}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def test_a_pod_is_bound_after_its_claim_and_other_pods_are_scheduled_meanwhile() -> None:
    lab = waiting(30)
    assert annotations(lab)[SELECTED_NODE] == "n1"
    [awaited] = lab.of(trace.VolumesAwaited)
    assert (awaited.pod, awaited.node, awaited.claims) == ("default/user", "n1", ["default/data"])
    assert lab.lane("user") == "inFlight"
    lab.create(pod("other"))
    lab.run(2)
    assert (lab.node_of("other"), lab.node_of("user")) == ("n1", "")
    lab.run(30)
    [bound] = lab.of(trace.VolumeBound)
    [_, user_bound] = lab.of(trace.Bound)
    assert bound.t <= user_bound.t < bound.t + SECOND, "the scheduler looks every second"
    assert lab.pod("user")["status"]["phase"] == "Running"


def test_a_pod_whose_claims_are_bound_already_does_not_wait() -> None:
    lab = Lab()
    lab.create(node("n1"), volume("disk", "5Gi"), claim())
    lab.run(1)
    lab.create(user())
    lab.run(0)
    assert lab.node_of("user") == "n1"
    assert not lab.of(trace.VolumesAwaited)


def test_a_wait_beyond_the_timeout_sends_the_pod_back_to_the_node_that_was_chosen() -> None:
    args = {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 10}}
    lab = waiting(60, config={"profiles": [{"pluginConfig": [args]}]})
    lab.run(8.5)
    assert failures(lab) == []
    lab.run(1)
    assert failures(lab) == [PREFIX + "context deadline exceeded"]
    assert lab.lane("user") == "backoffQ"
    assert lab.condition("user", "PodScheduled")["reason"] == "SchedulerError"
    assert annotations(lab)[SELECTED_NODE] == "n1", "what was written stays"
    lab.create(node("bigger", cpu="64"))
    lab.run(120)
    assert lab.node_of("user") == "n1"


def test_the_timeout_is_ten_minutes_by_default() -> None:
    lab = waiting(3600)
    lab.run(598)
    assert failures(lab) == []
    lab.run(1)
    assert failures(lab) == [PREFIX + "context deadline exceeded"]


def test_a_write_that_is_observed_after_the_deadline_ends_the_wait() -> None:
    """The scheduler could not look at the deadline itself: something else happened, and was seen later."""
    lab = waiting(3600)
    lab.now += 700 * SECOND
    lab.update("nodes", "n1", lambda manifest: manifest)
    lab.run(0)
    assert failures(lab) == [PREFIX + "context deadline exceeded"]


def ending(change: Callable[[Lab], None]) -> list[str]:
    lab = waiting()
    change(lab)
    lab.run(1.5)
    return failures(lab)


def test_changes_of_the_claim_the_node_or_the_pod_end_the_wait() -> None:
    assert ending(lambda lab: lab.update(PVCS, "default/data", without_node)) == [
        PREFIX + 'selectedNode annotation reset for PVC "data"'
    ]
    assert ending(lambda lab: lab.update(PVCS, "default/data", elsewhere)) == [
        PREFIX + 'provisioning failed for PVC "data"'
    ]
    assert ending(lambda lab: lab.delete(PVCS, "default/data")) == [
        PREFIX + 'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "default/data"'
    ]
    assert ending(lambda lab: lab.delete("nodes", "n1")) == [
        PREFIX + 'failed to get node "n1": node "n1" not found'
    ]
    assert ending(lambda lab: lab.delete("pods", "default/user")) == [
        PREFIX + 'pod does not exist any more: pod "user" not found'
    ]


def test_a_pod_is_scheduled_again_after_its_provisioner_gave_up() -> None:
    lab = waiting(30)
    lab.create(node("bigger", cpu="64"))
    lab.update("nodes", "n1", lambda m: {**m, "spec": {**m["spec"], "unschedulable": True}})
    lab.update(PVCS, "default/data", without_node)
    lab.run(120)
    assert lab.node_of("user") == "bigger"
    assert annotations(lab)[SELECTED_NODE] == "bigger"


def test_an_assumed_volume_is_not_bound_to_another_claim() -> None:
    gang = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Gang"}]}}}]}
    lab = Lab(Options(config=gang))
    lab.create(node("n1"), local_class(), volume("disk", "5Gi", storageClassName="local"))
    lab.create(claim("a", storageClassName="local"), claim("b", storageClassName="local"))
    lab.run(1)
    first = user("first", of="a")
    first["metadata"] |= {"labels": {GROUP: "pair"}, "annotations": {SIZE: "2"}}
    lab.create(first)
    lab.run(1)
    assert lab.lane("first") == "waiting"
    assert "claimRef" not in lab.api.objects[PVS]["disk"]["spec"], "it is assumed, not written"
    lab.create(user("second", of="b"))
    lab.run(1)
    assert lab.lane("second") == "unschedulable"
    lab.delete_pod("first")
    lab.run(400)
    assert lab.node_of("second") == "n1", "the assumed volume is free again"


def test_a_volume_that_another_claim_gets_before_pre_bind_fails_the_binding() -> None:
    gang = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Gang"}]}}}]}
    lab = Lab(Options(config=gang))
    lab.create(node("n1"), local_class(), volume("disk", "5Gi", storageClassName="local"))
    lab.create(claim(storageClassName="local"))
    lab.run(1)
    members = [user("first"), pod("second")]
    for member in members:
        member["metadata"] |= {"labels": {GROUP: "pair"}, "annotations": {SIZE: "2"}}
    lab.create(members[0])
    lab.run(1)
    lab.update(PVS, "disk", lambda m: {**m, "metadata": {**m["metadata"], "labels": {"by": "another"}}})
    lab.create(members[1])
    lab.run(0.5)
    [message] = failures(lab)
    assert message.startswith(
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumes "disk": '
        "the object has been modified; "
    )


def test_a_reset_volume_and_one_out_of_reach_end_the_wait() -> None:
    def pre_bound(change: Callable[[Manifest], Manifest]) -> list[str]:
        lab = Lab(Options(controllers=False))
        lab.create(node("n1"), local_class(), claim(storageClassName="local"))
        lab.create(volume("disk", "5Gi", storageClassName="local"))
        lab.update(PVS, "disk", lambda m: {**m, "status": {"phase": "Available"}})
        lab.create(user())
        lab.run(0.5)
        assert lab.api.objects[PVS]["disk"]["spec"]["claimRef"]["name"] == "data"
        lab.update(PVS, "disk", change)
        lab.run(1)
        return failures(lab)

    def reset(manifest: Manifest) -> Manifest:
        return {**manifest, "spec": {k: v for k, v in manifest["spec"].items() if k != "claimRef"}}

    def out_of_reach(manifest: Manifest) -> Manifest:
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}
        required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        return {**manifest, "spec": {**manifest["spec"], "nodeAffinity": {"required": required}}}

    assert pre_bound(reset) == [PREFIX + 'ClaimRef got reset for pv "disk"']
    assert pre_bound(out_of_reach) == [
        PREFIX + 'pv "disk" node affinity doesn\'t match node "n1": no matching NodeSelectorTerms'
    ]


def test_a_new_leader_continues_the_wait_from_the_state_of_the_claim() -> None:
    lab = new_leader(waiting(30))
    lab.create(node("bigger", cpu="64"))
    lab.run(60)
    assert lab.node_of("user") == "n1"
    assert lab.pod("user")["status"]["phase"] == "Running"


def test_steps_by_extension_point_give_the_same_trace() -> None:
    def story(*, by_point: bool) -> list[trace.Event]:
        lab = Lab(by_point=by_point)
        lab.create(node("n1"), slow_class(5), claim(storageClassName="slow"), user())
        return lab.run(60).trace

    assert story(by_point=True) == story(by_point=False)


def nominated(lab: Lab, name: str) -> str:
    found: str = lab.pod(name)["status"].get("nominatedNodeName", "")
    return found


@pytest.mark.parametrize(("version", "while_it_waits"), [("v1.34", ""), ("v1.35", "n1"), ("v1.36", "n1")])
def test_the_status_names_the_node_while_pre_bind_works(version: str, while_it_waits: str) -> None:
    lab = waiting(10, kubernetes=version)
    assert nominated(lab, "user") == while_it_waits
    lab.run(10)
    assert (lab.node_of("user"), nominated(lab, "user")) == ("n1", ""), "the binding clears it"


def test_a_pod_that_is_bound_at_once_is_written_once() -> None:
    generations = []
    for version in ("v1.34", "v1.36"):
        lab = Lab(Options(kubernetes=version, controllers=False))
        lab.create(node("n1"), pod("p"))
        lab.run(1)
        generations.append((lab.node_of("p"), lab.api.version))
    assert generations[0] == generations[1]


def preempted_in_pre_bind(version: str) -> Lab:
    lab = Lab(Options(kubernetes=version))
    lab.create(
        priority_class("high", 1000), node("n1", cpu="2"), slow_class(30), claim(storageClassName="slow")
    )
    lab.run(1)
    lab.create(user())
    lab.run(2)
    lab.create(pod("urgent", "2", priorityClassName="high"))
    return lab.run(10)


def test_a_victim_in_pre_bind_is_tried_again() -> None:
    lab = preempted_in_pre_bind("v1.36")
    assert lab.node_of("urgent") == "n1"
    assert failures(lab) == [f"{PREFIX}context canceled"]
    assert (nominated(lab, "user"), lab.lane("user")) == ("", "unschedulable")


def test_until_v1_35_a_victim_in_pre_bind_is_deleted() -> None:
    lab = preempted_in_pre_bind("v1.35")
    assert lab.node_of("urgent") == "n1"
    assert "default/user" not in lab.api.objects["pods"]


@pytest.mark.parametrize(("version", "at_once"), [("v1.34", ""), ("v1.35", "n1")])
def test_a_pod_that_is_deleted_in_pre_bind_leaves_its_node(version: str, at_once: str) -> None:
    lab = Lab(Options(kubernetes=version))
    lab.create(node("n1", cpu="2"), slow_class(30), claim(storageClassName="slow"))
    lab.run(1)
    lab.create(user(), pod("next", "2"))
    lab.run(1.5)
    lab.delete_pod("user")
    lab.run(0.1)
    assert lab.node_of("next") == at_once
    lab.run(2)
    assert lab.node_of("next") == "n1"
