"""The values that the schemas of the OpenAPI documents list."""

import pytest

from simulator.apiserver.enumerations import fields_of
from simulator.apiserver.openapi_components import components_of
from simulator.apiserver.resources import BUILT_IN
from simulator.versions.kubernetes_version import VERSIONS

COMPONENTS = components_of([*BUILT_IN])


def field(type_name: str, name: str):
    return COMPONENTS[f"io.k8s.api.{type_name}"]["properties"][name]


def test_a_field_lists_its_values_in_its_schema_and_in_its_description() -> None:
    policy = field("core.v1.PodSpec", "restartPolicy")
    assert policy["enum"] == ["Always", "Never", "OnFailure"]
    assert policy["description"].endswith(
        '#restart-policy\n\nPossible enum values:\n - `"Always"`\n - `"Never"`\n - `"OnFailure"`'
    )


def test_a_list_and_a_map_list_the_values_of_their_items() -> None:
    modes = field("core.v1.PersistentVolumeClaimSpec", "accessModes")
    assert modes["items"]["enum"] == ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
    assert "enum" not in modes
    assert "Possible enum values" not in modes["description"]
    statuses = field("core.v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses")
    assert "NodeResizePending" in statuses["additionalProperties"]["enum"]


@pytest.mark.parametrize(
    ("type_name", "name"),
    [
        ("core.v1.PodCondition", "type"),
        ("core.v1.PodCondition", "status"),
        ("core.v1.Container", "restartPolicy"),
        ("core.v1.LimitRangeItem", "type"),
        ("autoscaling.v2.MetricSpec", "type"),
        ("apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted"),
    ],
)
def test_a_field_whose_go_type_is_no_enumeration_lists_none(type_name: str, name: str) -> None:
    assert "enum" not in field(type_name, name)


def test_each_type_with_enumerations_is_published() -> None:
    assert all(f"io.k8s.api.{type_name}" in COMPONENTS for type_name in fields_of(VERSIONS[-1].name))
