"""Schemas of CustomResourceDefinitions: pruning, defaults, validation and printer columns."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.custom_resources.resource_schema import (
    custom_faults,
    prune_custom,
    set_custom_defaults,
)
from simulator.apiserver.kinds.custom import custom_printer
from simulator.apiserver.printers.simple_json_path import PathError, value_at_path
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import defined_resources
from simulator.apiserver.status import Invalid
from simulator.apiserver.table import build_table
from simulator.kernel.work import limit_work
from tests.apiserver.cluster import NOW, Cluster

NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "ratio": {"type": "number", "exclusiveMaximum": True, "maximum": 1, "multipleOf": 0.25},
        "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^x"},
        "tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True},
        "limits": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"deep": {"type": "string", "default": "d"}}},
        "any": {
            **NUMBERS,
            "anyOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"maximum": 5}}}],
        },
        "one": {**NUMBERS, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "all": {"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]},
        "not": {"type": "integer", "not": {"enum": [7]}},
    },
}
ONE = '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf)'
COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
    {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp", "priority": 1},
]


def definition(columns: list[Manifest]) -> Manifest:
    schema = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{**version, "additionalPrinterColumns": columns}],
        },
    }


def resource(columns: list[Manifest] = COLUMNS) -> Resource:
    (found,) = defined_resources([definition(columns)])
    return found


def widget(**spec: Any) -> Manifest:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "labels": {"any": "label"}},
        "spec": spec,
    }


def test_unknown_fields_are_dropped_but_where_they_are_preserved() -> None:
    given = widget(size=1, more=2, free={"any": [1]}, inner={"deep": "x", "other": 1}, limits={"a": 1})
    pruned = prune_custom(resource(), given)
    assert pruned.value == widget(size=1, free={"any": [1]}, inner={"deep": "x"}, limits={"a": 1})
    assert pruned.unknown == ["spec.inner.other", "spec.more"]


def test_defaults_are_set_where_their_object_is_there() -> None:
    given = widget(size=1, inner={})
    set_custom_defaults(resource(), given)
    assert given["spec"] == {"size": 1, "mode": "a", "inner": {"deep": "d"}}
    given = widget(size=1, mode=None)
    set_custom_defaults(resource(), given)
    assert given["spec"] == {"size": 1, "mode": "a"}


@pytest.mark.parametrize(
    ("spec", "faults"),
    [
        ({"size": 3, "port": "http", "tags": ["a"], "name": "xyz", "ratio": 0.5}, []),
        ({}, ["spec.size: Required value"]),
        (
            {"size": 0},
            ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to"],
        ),
        ({"size": 1, "ratio": 1}, ["spec.ratio: Invalid value: 1: spec.ratio in body should be less than 1"]),
        ({"size": True}, ["spec.size in body must be of type integer"]),
        ({"size": 1, "mode": "c"}, ['spec.mode: Unsupported value: "c": supported values: "a", "b"']),
        ({"size": 1, "name": "x"}, ["should be at least 2 chars long"]),
        ({"size": 1, "name": "xxxxx"}, ["Too long: may not be more than 4 bytes"]),
        ({"size": 1, "name": "yy"}, ["spec.name in body should match '^x'"]),
        ({"size": 1, "tags": []}, ["should have at least 1 items"]),
        ({"size": 1, "tags": ["a", "b", 3]}, ["Too many: 3", "spec.tags[2] in body must be of type string"]),
        ({"size": 1, "port": 1.5}, ['must be of type integer,string: "number"']),
        ({"size": 1, "limits": {"a": "x", "b": 1}}, ["Too many: 2", "spec.limits.a in body must be of type"]),
        ({"size": 1, "any": {"b": 2}}, []),
        (
            {"size": 1, "any": {"b": 9}},
            [
                '<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)',
                "spec.any.b: Invalid value: 9: spec.any.b in body should be less than or equal to 5",
            ],
        ),
        ({"size": 1, "one": {"a": 1}}, []),
        (
            {"size": 1, "one": {}},
            [
                f"{ONE}. Found none valid",
                "spec.one.a: Required value",
            ],
        ),
        (
            {"size": 1, "one": {"a": 1, "b": 1}},
            [f"{ONE}. Found 2 valid alternatives"],
        ),
        (
            {"size": 1, "all": 9},
            [
                "spec.all: Invalid value: 9: spec.all in body should be less than or equal to 5",
                '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf)',
            ],
        ),
        ({"size": 1, "not": 7}, ['<nil>: Invalid value: "": "spec.not" must not validate the schema (not)']),
    ],
)
def test_objects_are_validated_against_their_schema(spec: dict[str, Any], faults: list[str]) -> None:
    found = [str(cause) for cause in custom_faults(resource(), widget(**spec))]
    assert len(found) == len(faults)
    assert all(wanted in text for wanted, text in zip(faults, found, strict=True))


def test_a_page_refuses_unknown_fields_of_a_custom_resource() -> None:
    cluster = Cluster()
    cluster.create([definition(COLUMNS)])
    with pytest.raises(Invalid, match=r'unknown field "spec\.sise"'):
        cluster.create([widget(size=1, sise=2)])
    (created,) = cluster.create([widget(size=1)])
    assert created["spec"] == {"size": 1, "mode": "a"}


def test_columns_are_those_of_the_definition() -> None:
    item = widget(size=3)
    item["metadata"]["creationTimestamp"] = "2023-11-14T22:12:20Z"
    item["status"] = {"conditions": [{"type": "Other"}, {"type": "Ready", "status": "True"}]}
    printer = custom_printer(resource())
    assert [column.name for column in printer.columns] == ["Name", "Size", "Ready", "Since"]
    assert printer.cells(item, NOW) == ["w", 3, "True", "60s"]
    assert custom_printer(resource([])).cells(item, NOW) == ["w", "60s"]
    del item["status"]
    assert printer.cells(item, NOW) == ["w", 3, None, "60s"]


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", {"b": 1, "a": "<"}, '{"a":"\\u003c","b":1}'),
        ("string", None, "<no value>"),
        ("string", True, "true"),
        ("integer", 1.5, 1),
        ("integer", "1", None),
        ("number", True, None),
        ("boolean", 1, None),
        ("date", 1, None),
        ("date", "soon", "<invalid>"),
    ],
)
def test_values_of_another_type_than_their_column_are_left_out(kind: str, value: Any, cell: Any) -> None:
    columns = [{"name": "C", "type": kind, "jsonPath": ".spec.c"}]
    item = widget() | {"spec": {"c": value}}
    assert custom_printer(resource(columns)).cells(item, NOW)[1] == cell


@pytest.mark.parametrize(
    ("path", "value"), [(".spec.c", "x" * 300_000), (".spec.c[?(@.a==1)]", [{"a": 2}] * 1_000)]
)
def test_a_table_has_a_limit_for_all_its_cells(path: str, value: Any) -> None:
    columns = [{"name": f"C{number}", "type": "string", "jsonPath": path} for number in range(1_000)]
    item = widget() | {"spec": {"c": value}}
    with limit_work(), pytest.raises(TooLarge, match="the table is too large"):
        build_table(resource(columns), [item], {}, NOW)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (".a.b", 1),
        ("{.a.b}", 1),
        (".list[1]", "y"),
        (".list[-1]", "y"),
        (".list[1:]", "y"),
        (".a['x/y']", 2),
        (r".a.x\/y", 2),
        (".a.*", 1),
        (".items[*].v", "one"),
        ('.items[?(@.t=="2")].v', "two"),
        (".items[?(@.n>1)].v", "two"),
        (".items[?(@.on==true)].v", "two"),
        (".items[?(@.n)].v", "two"),
        (".items[?(@.t!='1')].v", "two"),
        (".null", None),
    ],
)
def test_simple_json_paths(path: str, value: Any) -> None:
    items = [{"t": "1", "v": "one"}, {"t": "2", "v": "two", "n": 2, "on": True}]
    document = {"a": {"b": 1, "x/y": 2}, "list": ["x", "y"], "items": items, "null": None}
    assert value_at_path(document, path) == value


@pytest.mark.parametrize(
    "path", [".no", ".a[5]", "..a", ".a[0].b", ".a[?(@.x)]", ".a[-2]", ".a[?(@=='1')]", ".a[0:2]", ".a[?(1)]"]
)
def test_paths_without_a_field_are_errors(path: str) -> None:
    with pytest.raises(PathError):
        value_at_path({"a": [1]}, path)


def test_a_page_refuses_new_unknown_fields_of_an_update_and_drops_old_ones() -> None:
    cluster = Cluster()
    cluster.create([definition(COLUMNS)])
    (created,) = cluster.create([widget(size=1)])
    with pytest.raises(Invalid, match=r'unknown field "spec\.sise"'):
        cluster.update(resource(), created, {**created, "spec": {"size": 2, "sise": 2}})
    changed = cluster.update(
        resource(), created, {**created, "spec": {"size": 2, "tags": None, "mode": None}}
    )
    assert changed["spec"] == {"size": 2, "mode": "a"}
    older = {**changed, "spec": {"size": 2, "gone": 1}}  # stored before the definition lost the field
    changed = cluster.update(resource(), older, {**older, "spec": {"size": 3, "gone": 1}})
    assert changed["spec"] == {"size": 3, "mode": "a"}


def test_a_path_with_many_spaces_takes_linear_time() -> None:
    """Before, 16,000 spaces took seconds: the time grew with the square of their number."""
    spaces = " " * 200_000
    value = {"items": [{"name": "a"}, {"name": "b"}]}
    assert value_at_path(value, f'.items[?(@.name{spaces}=={spaces}"b"{spaces})].name') == "b"
    with pytest.raises(PathError):
        value_at_path(value, f".items[?(@.name{spaces}=={spaces})].name")
