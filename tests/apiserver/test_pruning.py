"""What kube-apiserver drops of a custom resource, and what it says of it: unknown fields, nulls, and what the
metadata of embedded resources does not have."""

import json
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.custom_resources.resource_schema import custom_faults, set_custom_defaults
from simulator.apiserver.decoding import decode
from simulator.apiserver.request_decoding.decode_request import DecodedRequest, decode_request
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest

TEXT = {"type": "string"}
PRESERVES = {"x-kubernetes-preserve-unknown-fields": True}
KNOWN = {"type": "object", "properties": {"a": TEXT}}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
LABELS = "Go struct field ObjectMeta.labels of type map[string]string"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}


def items(schema: Manifest, **fields: Any) -> Manifest:
    return {"type": "array", "items": schema, **fields}


def values(schema: Any) -> Manifest:
    return {"type": "object", "additionalProperties": schema}


def resource(schema: Manifest, **root: Any) -> Resource:
    text = json.dumps({"type": "object", "properties": {"spec": schema}, **root})
    return Resource("example.com", "v1", "Thing", "things", True, "thing", schema_text=text)


def thing(spec: Any, **fields: Any) -> Manifest:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "t"},
        "spec": spec,
        **fields,
    }


def decoded(of: Resource, manifest: Manifest | str) -> DecodedRequest:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return decode_request(of, text.encode(), is_yaml=False)


@pytest.mark.parametrize(
    ("schema", "spec", "kept", "unknown"),
    [
        pytest.param(KNOWN, {"a": "x", "b": 1}, {"a": "x"}, ["b"], id="field"),
        pytest.param({"type": "object"}, {"a": {"b": 1}}, {}, ["a"], id="object without fields"),
        pytest.param(KNOWN | PRESERVES, {"a": "x", "b": {"c": [1]}}, None, [], id="preserved"),
        pytest.param(PRESERVES, {"b": {"c": 1}}, None, [], id="preserved without a type"),
        pytest.param(PRESERVES, [{"c": 1}], None, [], id="list, preserved without a type"),
        pytest.param(
            {"type": "object", "properties": {"in": KNOWN}, **PRESERVES},
            {"in": {"a": "x", "b": 1}, "other": {"b": 1}},
            {"in": {"a": "x"}, "other": {"b": 1}},
            ["in.b"],
            id="declared field of a preserved object",
        ),
        pytest.param(items(KNOWN), [{"a": "x"}, {"b": 1}], [{"a": "x"}, {}], ["[1].b"], id="items"),
        pytest.param(items(items(KNOWN)), [[{"b": 1}]], [[{}]], ["[0][0].b"], id="items of items"),
        pytest.param(
            items({"type": "object"}, **PRESERVES), [{"b": {"c": 1}}], None, [], id="preserved list"
        ),
        pytest.param({"type": "array", **PRESERVES}, [{"b": 1}, [{"c": 1}]], None, [], id="without items"),
        pytest.param(items(items(KNOWN), **PRESERVES), [[{"b": 1}]], None, [], id="list in a preserved list"),
        pytest.param(
            items({"type": "object", "properties": {"in": KNOWN}}, **PRESERVES),
            [{"in": {"b": 1}, "b": 1}],
            [{"in": {}, "b": 1}],
            ["[0].in.b"],
            id="declared field of an item of a preserved list",
        ),
        pytest.param(items(KNOWN | PRESERVES), [{"b": 1}], None, [], id="preserved items"),
        pytest.param(values(KNOWN), {"k": {"b": 1}}, {"k": {}}, ["k.b"], id="values"),
        pytest.param(values(KNOWN) | PRESERVES, {"k": {"b": 1}}, {"k": {}}, ["k.b"], id="preserved map"),
        pytest.param(values(PRESERVES), {"k": {"b": {"c": 1}}}, None, [], id="preserved values"),
        pytest.param(values(items(KNOWN)), {"k": [{"b": 1}]}, {"k": [{}]}, ["k[0].b"], id="items of values"),
        pytest.param(
            values(True),
            {"k": "x", "m": {"b": {"c": 1}}, "n": [{"d": 1}, 2]},
            {"k": "x", "m": {}, "n": [{}, 2]},
            ["m.b", "n[0].d"],
            id="values of any type",
        ),
        pytest.param({"x-kubernetes-int-or-string": True}, {"b": 1}, {}, ["b"], id="integer or string"),
        pytest.param(
            EMBEDDED | {"properties": {"data": values(TEXT)}},
            {**CONFIG_MAP, "data": {"k": "v"}, "more": 1},
            {**CONFIG_MAP, "data": {"k": "v"}},
            ["more"],
            id="embedded resource",
        ),
        pytest.param(EMBEDDED | PRESERVES, {**CONFIG_MAP, "more": {"b": 1}}, None, [], id="any resource"),
        pytest.param(
            items(EMBEDDED | PRESERVES),
            [{**CONFIG_MAP, "metadata": {"name": "c", "no": 1, "labels": {}, "creationTimestamp": None}}],
            [CONFIG_MAP],
            ["[0].metadata.no"],
            id="metadata of embedded resources",
        ),
    ],
)
def test_fields_that_the_schema_does_not_have_are_dropped(
    schema: Manifest, spec: Any, kept: Any, unknown: list[str]
) -> None:
    """``kept``: None = all."""
    found = decoded(resource(schema), thing(spec))
    assert found.manifest == thing(spec if kept is None else kept)
    paths = [f"spec{path}" if path.startswith("[") else f"spec.{path}" for path in unknown]
    assert found.strict_errors == [f'unknown field "{path}"' for path in paths]


def test_an_object_that_preserves_its_fields_has_any_other_part() -> None:
    given = thing({"a": "x", "b": 1}, status={"c": 1}, more=[{}])
    assert decoded(resource(KNOWN, **PRESERVES), given).manifest == thing(
        {"a": "x"}, status={"c": 1}, more=[{}]
    )


def test_strict_errors_are_in_the_order_in_which_they_are_found() -> None:
    schema = {"type": "object", "properties": {"t": EMBEDDED | PRESERVES, "l": items(KNOWN)}}
    text = (
        '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t","me":1},"spec":{"z":1,"y":{"b":1,'
        '"b":2},"l":[{"a":"x","a":"y","b":1}],"t":{"apiVersion":"v1","kind":"Pod","metadata":{"us":1}}}}'
    )
    assert decoded(resource(schema), text).strict_errors == [
        'duplicate field "spec.y.b"',
        'duplicate field "spec.l[0].a"',
        'unknown field "metadata.me"',
        'unknown field "spec.l[0].b"',
        'unknown field "spec.y"',
        'unknown field "spec.z"',
        'unknown field "spec.t.metadata.us"',
    ]


NULLABLE = {"type": "string", "nullable": True}
DEFAULTED = {"type": "string", "default": "d"}


@pytest.mark.parametrize(
    ("schema", "value", "result"),
    [
        pytest.param(KNOWN, {"a": None}, {}, id="field"),
        pytest.param(values(TEXT), {"k": None, "l": "x"}, {"l": "x"}, id="value"),
        pytest.param(items(TEXT), [None, "x"], [None, "x"], id="item"),
        pytest.param(items(KNOWN), [{"a": None}], [{}], id="field of an item"),
        pytest.param(values(KNOWN), {"k": {"a": None}}, {"k": {}}, id="field of a value"),
        pytest.param(
            {"type": "object", "properties": {"a": NULLABLE}}, {"a": None}, {"a": None}, id="nullable"
        ),
        pytest.param(values(NULLABLE), {"k": None}, {"k": None}, id="nullable value"),
        pytest.param(
            {"type": "object", "properties": {"a": PRESERVES}}, {"a": None}, {}, id="preserving field"
        ),
        pytest.param(PRESERVES, {"b": None, "c": [None]}, {"b": None, "c": [None]}, id="preserved fields"),
        pytest.param(
            {"type": "object", "properties": {"a": DEFAULTED}}, {"a": None}, {"a": "d"}, id="default"
        ),
        pytest.param(
            {"type": "object", "properties": {"a": NULLABLE | {"default": "d"}}},
            {"a": None},
            {"a": None},
            id="nullable with a default",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": NULLABLE | {"default": "d"}}}, {}, {"a": "d"}, id="missing"
        ),
        pytest.param(values(DEFAULTED), {"k": None}, {"k": "d"}, id="default of a value"),
        pytest.param(items(DEFAULTED), [None], ["d"], id="default of an item"),
        pytest.param(
            {
                "type": "object",
                "properties": {"a": {**KNOWN, "default": {}, "properties": {"b": DEFAULTED}}},
            },
            {"a": None},
            {"a": {"b": "d"}},
            id="default within a default",
        ),
        pytest.param(
            EMBEDDED | PRESERVES,
            {**CONFIG_MAP, "metadata": None},
            {**CONFIG_MAP, "metadata": {}},
            id="metadata of an embedded resource",
        ),
    ],
)
def test_nulls_are_dropped_before_defaults_are_set(schema: Manifest, value: Any, result: Any) -> None:
    of = resource({"type": "object", "properties": {"f": schema}})
    manifest = decoded(of, thing({"f": value})).manifest
    set_custom_defaults(of, manifest)
    assert manifest == thing({"f": result})


@pytest.mark.parametrize(
    ("embedded", "error"),
    [
        ({"kind": 1}, "spec.kind: Invalid value: 1: must be a string"),
        (
            {"metadata": {"labels": []}},
            f"""spec.metadata: Invalid value: {{"labels":[]}}: json: cannot unmarshal array into {LABELS}""",
        ),
    ],
)
def test_an_embedded_resource_of_another_type_is_not_decoded(embedded: Manifest, error: str) -> None:
    prefix = 'Thing in version "v1" cannot be handled as a Thing: '
    with pytest.raises(BadRequest) as refused:
        decoded(resource(EMBEDDED | PRESERVES), thing(embedded))
    assert str(refused.value) == f"{prefix}{error}"


@pytest.mark.parametrize(
    ("embedded", "faults"),
    [
        (CONFIG_MAP, []),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, []),
        ({}, ["spec.apiVersion: Required value", "spec.kind: Required value"]),
        (
            {**CONFIG_MAP, "apiVersion": "a/b/c"},
            ['spec.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
        ),
        (
            {**CONFIG_MAP, "kind": "Config_Map"},
            ["spec.kind: Invalid value", "may have mixed case, but should"],
        ),
        ({**CONFIG_MAP, "metadata": {"name": "a/b"}}, ["spec.metadata.name", "may not contain '/'"]),
        ({**CONFIG_MAP, "metadata": {"labels": {"a": "-"}}}, ["spec.metadata.labels: Invalid value"]),
        ({**CONFIG_MAP, "metadata": {"namespace": "A"}}, ['spec.metadata.namespace: Invalid value: "A"']),
    ],
)
def test_embedded_resources_are_validated(embedded: Manifest, faults: list[str]) -> None:
    of = resource(items(EMBEDDED | PRESERVES))
    found = "\n".join(str(cause) for cause in custom_faults(of, thing([embedded])))
    assert bool(found) == bool(faults)
    assert all(text.replace("spec.", "spec[0].") in found for text in faults)


def test_a_write_that_skips_the_decoder_has_metadata_of_the_right_type() -> None:
    _, causes = decode(
        resource(EMBEDDED | PRESERVES), thing({**CONFIG_MAP, "metadata": {"labels": [], "x": 1}})
    )
    assert [cause.field for cause in causes] == ["spec.metadata.labels", "spec.metadata.x"]
