"""Bodies that are not stored (Binding, Eviction, DeleteOptions), and what comes of them."""

from typing import Any

import pytest

from simulator.api import SECOND, Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.kinds.pods.preparation import MAX_GRACE_SECONDS
from simulator.apiserver.pod_subresources import admit_binding
from simulator.apiserver.request_options import requested_grace_seconds
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import BadRequest, Conflict, Invalid, PlainError
from simulator.apiserver.types.api_types import BINDING, DELETE_OPTIONS, EVICTION
from simulator.objects.timestamps import timestamp
from tests.apiserver.cluster import NOW, Cluster, pod


@pytest.mark.parametrize(
    ("type_name", "body", "message"),
    [
        (BINDING, {"target": 5}, "Binding: target: Invalid value: 5: must be of type object"),
        (BINDING, {"target": {"name": ["n1"]}}, 'target.name: Invalid value: ["n1"]: must be of type string'),
        (BINDING, {"metadata": "web", "target": {"name": "n1"}}, "metadata: Invalid value"),
        (BINDING, {"kind": "Pod"}, 'kind: Unsupported value: "Pod"'),
        (EVICTION, {"deleteOptions": 5}, "Eviction: deleteOptions: Invalid value: 5: must be of type object"),
        (EVICTION, {"deleteOptions": []}, "deleteOptions: Invalid value: []"),
        (EVICTION, {"deleteOptions": {"gracePeriodSeconds": "1"}}, "deleteOptions.gracePeriodSeconds: "),
        (EVICTION, {"deleteOptions": {"preconditions": 1}}, "deleteOptions.preconditions: Invalid value: 1"),
        (EVICTION, {"deleteOption": {}}, 'unknown field "deleteOption"; did you mean "deleteOptions"?'),
        (DELETE_OPTIONS, {"gracePeriodSeconds": 1 << 63}, "gracePeriodSeconds: Invalid value: "),
        (DELETE_OPTIONS, {"dryRun": "All"}, 'dryRun: Invalid value: "All": must be of type array'),
    ],
)
def test_a_body_is_held_to_its_type(type_name: str, body: Manifest, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decode_body(type_name, body)
    assert message in refused.value.message


@pytest.mark.parametrize("version", ["policy/v1", "policy/v1beta1"])
def test_an_eviction_is_read_in_both_versions_and_without_its_nulls(version: str) -> None:
    body = {"apiVersion": version, "kind": "Eviction", "metadata": {"name": "web"}, "deleteOptions": None}
    assert decode_body(EVICTION, body)["metadata"] == {"name": "web"}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "target.name: Required value"),
        ({"name": ""}, "target.name: Required value"),
        (
            {"kind": "Pod", "name": "n"},
            'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
        ),
        ({"kind": "Pod"}, '[target.kind: Unsupported value: "Pod": supported values: '),
    ],
)
def test_a_binding_names_a_node(target: Manifest, message: str) -> None:
    cluster = Cluster()
    (created,) = cluster.create([pod()])
    with pytest.raises(PlainError) as refused:
        admit_binding(created, decode_body(BINDING, {"target": target}), cluster, NOW)
    assert refused.value.message.startswith(message)


def test_a_binding_is_of_the_pod_with_its_uid() -> None:
    cluster = Cluster()
    (created,) = cluster.create([pod()])
    binding: Any = {"metadata": {"uid": "another"}, "target": {"name": "n1"}}
    with pytest.raises(Conflict, match="UID in precondition: another"):
        admit_binding(created, binding, cluster, NOW)
    binding["metadata"]["uid"] = created["metadata"]["uid"]
    bound = admit_binding(created, binding, cluster, NOW).object
    assert bound is not None
    assert bound["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(("asked", "taken"), [(None, None), (0, 0), (7, 7), (-1, 1), (-(1 << 63), 1)])
def test_a_negative_grace_period_is_one_second(asked: int | None, taken: int | None) -> None:
    assert requested_grace_seconds({} if asked is None else {"gracePeriodSeconds": asked}) == taken


@pytest.mark.parametrize("asked", [MAX_GRACE_SECONDS + 1, 1_000_000_000_000, (1 << 63) - 1])
def test_a_grace_period_that_no_time_can_be_counted_from_is_refused(asked: int) -> None:
    with pytest.raises(Invalid, match="must be less than or equal to 2147483647"):
        requested_grace_seconds({"gracePeriodSeconds": asked})


def test_a_pods_own_grace_period_ends_while_times_can_be_written() -> None:
    (created,) = Cluster().create([pod(nodeName="n1", terminationGracePeriodSeconds=(1 << 63) - 1)])
    change = admit_delete(PODS, created, NOW)
    assert change is not None
    assert change.object is not None
    metadata = change.object["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == MAX_GRACE_SECONDS
    assert metadata["deletionTimestamp"] == timestamp(NOW + MAX_GRACE_SECONDS * SECOND)
