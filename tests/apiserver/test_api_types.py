"""The model of the API types, and what Go's types say that OpenAPI does not."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.decoding import decode
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.request_decoding.decode_request import decode_request
from simulator.apiserver.resources import BUILT_IN, PODS, find_by_kind
from simulator.apiserver.status import BadRequest
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import ListType, MapType, StructType, Type
from simulator.apiserver.types.schema_types import type_of_schema
from simulator.apiserver.types.zero_values import empty_object
from simulator.controllers.status_types import DeploymentStatus, written_fields
from tests.programs.write_api_types import data_of

CORE = "io.k8s.api.core.v1."


def field_type(struct: str, name: str) -> Type:
    return api_types().struct(CORE + struct).fields[name].type


@pytest.mark.parametrize("resource", [each for each in BUILT_IN if each.group != "schedviz"])
def test_each_kind_has_a_type_with_metadata(resource: Any) -> None:
    of = api_types().of_kind(resource.api_version, resource.kind)
    assert of is not None
    assert [*of.fields][:3] == ["kind", "apiVersion", "metadata"]


def structs_in(of: Type) -> Iterator[StructType]:
    match of:
        case StructType():
            yield of
        case ListType():
            yield from structs_in(of.items)
        case MapType():
            yield from structs_in(of.values)


def test_each_field_of_all_that_a_kind_contains_has_its_own_number() -> None:
    waiting = [api_types().struct(name) for name in {*api_types().kinds.values()} & {*api_types().names}]
    checked: set[str] = set()
    while waiting:
        of = waiting.pop()
        if of.name not in checked:
            checked.add(of.name)
            numbers = [field.number for field in of.declared if field.type.short_name != "TypeMeta"]
            assert len({*numbers} - {0}) == len(numbers), of.name
            waiting += [struct for field in of.declared for struct in structs_in(field.type)]
    assert len(checked) > 500


@pytest.mark.parametrize(
    ("struct", "field", "go_name"),
    [
        ("PodSpec", "containers", "[]v1.Container"),
        ("PodSpec", "restartPolicy", "v1.RestartPolicy"),
        ("ResourceRequirements", "limits", "v1.ResourceList"),
        ("Secret", "data", "map[string][]uint8"),
        (
            "PersistentVolumeClaimStatus",
            "allocatedResourceStatuses",
            "map[v1.ResourceName]v1.ClaimResourceStatus",
        ),
    ],
)
def test_types_have_the_names_of_go(struct: str, field: str, go_name: str) -> None:
    assert field_type(struct, field).go_name == go_name


def test_lists_and_maps_say_how_they_are_merged() -> None:
    ports, names = field_type("Container", "ports"), field_type("EphemeralContainer", "env")
    selector = field_type("PodSpec", "nodeSelector")
    assert isinstance(ports, ListType)
    assert (ports.relation, ports.keys) == ("map", ("containerPort", "protocol"))
    assert isinstance(names, ListType)
    assert (names.relation, names.keys) == ("map", ("name",))
    assert isinstance(selector, MapType)
    assert selector.relation == "atomic"


def test_the_fields_of_an_embedded_struct_are_those_of_the_struct_around_it() -> None:
    volume = api_types().struct(f"{CORE}Volume")
    assert [field.name for field in volume.declared] == ["name", ""]
    assert {"name", "hostPath", "csi"} <= volume.fields.keys()
    container = api_types().struct(f"{CORE}EphemeralContainer")
    assert container.fields["name"].is_required


def test_the_schema_of_a_custom_resource_becomes_the_same_types() -> None:
    items = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}
    merged = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    of = type_of_schema(
        {"type": "object", "properties": {"all": {"type": "array", "items": items, **merged}}}
    )
    assert isinstance(of, StructType)
    found = of.fields["all"].type
    assert isinstance(found, ListType)
    assert (found.relation, found.keys) == ("map", ("name",))
    assert isinstance(found.items, StructType)
    assert found.items.others is None


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "kept"),
    [
        # pointers, which keep the zero that they point to
        ("discovery.k8s.io/v1", "EndpointSlice", {"ports": [{"name": ""}]}, ("ports", 0, "name")),
        ("apps/v1", "StatefulSet", {"spec": {"ordinals": {}}}, ("spec", "ordinals", "start")),
        # without omitempty
        ("v1", "Event", {}, ("reportingComponent",)),
    ],
)
def test_empty_values_that_go_writes_are_kept(
    api_version: str, kind: str, fields: Manifest, kept: tuple[str | int, ...]
) -> None:
    resource = find_by_kind(api_version, kind)
    assert resource is not None
    value: Any = decode(resource, fields)[0]
    for step in kept:
        value = value[step]
    assert value in ("", 0)


def test_structs_and_times_are_written_where_they_are_missing() -> None:
    policies = find_by_kind("networking.k8s.io/v1", "NetworkPolicy")
    services = find_by_kind("v1", "Service")
    assert policies is not None
    assert services is not None
    assert decode(policies, {})[0] == {"metadata": {}, "spec": {"podSelector": {}}}
    conditions = [{"type": "a", "status": "True", "reason": "b"}]
    status = decode(services, {"status": {"conditions": conditions}})[0]["status"]
    assert status["conditions"] == [{**conditions[0], "message": "", "lastTransitionTime": None}]
    assert status["loadBalancer"] == {}


def test_a_deployment_without_pods_does_not_write_their_number() -> None:
    status = DeploymentStatus(0, 0, 0, 0, 0)
    assert written_fields({"apiVersion": "apps/v1", "kind": "Deployment"}, status) == dict.fromkeys(
        ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
    )


def test_the_selector_of_an_empty_deployment_is_null() -> None:
    deployments = find_by_kind("apps/v1", "Deployment")
    assert deployments is not None
    assert empty_object(deployments)["spec"]["selector"] is None


def test_a_wrong_value_is_refused_with_the_name_of_its_type() -> None:
    body = b'{"spec": {"containers": [{"resizePolicy": [{"resourceName": 5}]}]}}'
    with pytest.raises(BadRequest, match=r"of type v1\.ResourceName"):
        decode_request(PODS, body, is_yaml=False)
    body = b'{"spec": {"containers": [{"lifecycle": {"stopSignal": 9}}]}}'
    with pytest.raises(BadRequest, match=r"of type v1\.Signal"):
        decode_request(PODS, body, is_yaml=False)


def test_an_internal_struct_has_the_values_of_all_its_fields() -> None:
    reference = core_struct("ObjectReference", {"apiVersion": "v1", "kind": "Pod", "uid": "1"})
    assert [*reference] == ["Kind", "Namespace", "Name", "UID", "APIVersion", "ResourceVersion", "FieldPath"]
    assert (reference["APIVersion"], reference["UID"], reference["Name"]) == ("v1", "1", "")


def test_the_data_of_a_type_joins_what_go_and_openapi_say_of_it() -> None:
    core = "k8s.io/api/core/v1"
    effect = {"json": "effect", "go": "Effect", "type": f"{core}.TaintEffect", "protobuf": "bytes,3,opt"}
    key = {"json": "key", "go": "Key", "type": "string", "protobuf": "bytes,1,opt,name=key"}
    taints = {"json": "taints", "go": "Taints", "type": f"[]{core}.Taint", "omitempty": True}
    go_types = {
        f"{core}.NodeSpec": {"kind": "struct", "fields": [taints]},
        f"{core}.Taint": {"kind": "struct", "fields": [key, effect]},
        f"{core}.TaintEffect": {"kind": "string"},
        f"{core}.NotServed": {"kind": "string"},
    }
    data = data_of("v1.34", go_types)
    assert data["kinds"]["v1/Node"] == f"{CORE}Node"
    assert data["types"] == {
        f"{CORE}NodeSpec": {
            "kind": "struct",
            "fields": [["taints", "Taints", f"[]{CORE}Taint", "e", 0, {"list": "atomic"}]],
        },
        f"{CORE}Taint": {
            "kind": "struct",
            "fields": [
                ["key", "Key", "string", "r", 1, {}],
                ["effect", "Effect", f"{CORE}TaintEffect", "r", 3, {}],
            ],
        },
        f"{CORE}TaintEffect": {"kind": "string"},
    }
