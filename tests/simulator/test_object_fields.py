"""Metadata, owner references, conditions and statuses of manifests."""

from msgspec import UNSET

from simulator.api import SECOND, Manifest
from simulator.controllers.status_types import JobStatus, with_status_fields
from simulator.objects.conditions import condition, condition_status, with_condition
from simulator.objects.metadata import key_of, with_annotations
from simulator.objects.owner_references import controller_of, owner_uids, with_controller, without_owners


def manifest(name: str = "web", **metadata: object) -> Manifest:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "uid": f"{name}-uid", **metadata}}


def test_a_key_has_the_namespace_only_if_there_is_one() -> None:
    assert key_of(manifest(namespace="default")) == "default/web"
    assert key_of(manifest()) == key_of(manifest(namespace="")) == "web"


def test_an_object_that_has_the_annotations_already_is_not_copied() -> None:
    pod = manifest(annotations={"a": "1", "b": "2"})
    assert with_annotations(pod, {"a": "1"}) is pod
    assert with_annotations(pod, {"a": "3"})["metadata"]["annotations"] == {"a": "3", "b": "2"}
    assert pod["metadata"]["annotations"] == {"a": "1", "b": "2"}


def test_a_controller_is_added_and_removed_by_its_uid() -> None:
    pod = manifest(ownerReferences=[{"kind": "Other", "name": "other", "uid": "other-uid"}])
    assert controller_of(pod) is None
    owned = with_controller(pod, manifest("owner"))
    assert (controller_of(owned) or {})["uid"] == "owner-uid"
    assert [*owner_uids(owned)] == ["other-uid", "owner-uid"]
    assert without_owners(owned, {"owner-uid"}) == pod


def test_a_condition_keeps_its_transition_time_while_its_status_stays() -> None:
    pod = with_condition(manifest(), 0, "Ready", "False", reason="Starting")
    assert with_condition(pod, SECOND, "Ready", "False", reason="Starting") is pod
    other = with_condition(pod, SECOND, "Ready", "False", reason="Failed")
    assert (condition(other, "Ready") or {})["lastTransitionTime"] == "1970-01-01T00:00:00Z"
    ready = with_condition(other, SECOND, "Ready", "True")
    assert condition(ready, "Ready") == {
        "type": "Ready",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": "1970-01-01T00:00:01Z",
    }
    assert condition_status(manifest(), "Ready") == ""


def test_a_status_field_is_removed_by_none_and_left_by_unset() -> None:
    kind = {"apiVersion": "batch/v1", "kind": "Job"}
    job = {**manifest(), **kind, "status": {"startTime": "2025-01-01T00:00:00Z", "succeeded": 1}}
    changed = with_status_fields(job, JobStatus(active=2, start_time=None, succeeded=UNSET, failed=0))
    assert changed["status"] == {"succeeded": 1, "active": 2}
