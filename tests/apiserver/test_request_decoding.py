"""Bodies are decoded as kube-apiserver decodes them: its texts, and what it drops."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.json_syntax import find_syntax_fault
from simulator.apiserver.request_decoding.decode_request import decode_request
from simulator.apiserver.request_decoding.read_object import UnreadableBody, read_json_value
from simulator.apiserver.resources import BUILT_IN, find_by_kind
from simulator.apiserver.status import BadRequest

CONFIG_MAPS = find_by_kind("v1", "ConfigMap")
CREATED = "ObjectMeta.metadata.creationTimestamp"
PRIORITY = "string into Go struct field PodSpec.spec.priority of type int32"
PODS = find_by_kind("v1", "Pod")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "unexpected end of JSON input"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("[1 2]", "invalid character '2' after array element"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("nul", "unexpected end of JSON input"),
        ("nulL", "invalid character 'L' in literal null (expecting 'l')"),
        ("-a", "invalid character 'a' in numeric literal"),
        ("1.a", "invalid character 'a' after decimal point in numeric literal"),
        ("1ea", "invalid character 'a' in exponent of numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ('"\n"', "invalid character '\\n' in string literal"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"),
        ("'a'", "invalid character '\\'' looking for beginning of value"),
    ],
)
def test_a_decoding_error_has_the_message_of_go(text: str, fault: str) -> None:
    assert find_syntax_fault(text.encode()) == fault


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "\ufeff{}"])
def test_what_only_python_reads_is_refused(text: str) -> None:
    with pytest.raises(UnreadableBody):
        read_json_value(text)


@given(JSON)
def test_json_has_no_fault(value: object) -> None:
    assert find_syntax_fault(json.dumps(value, indent=1).encode()) == ""


@given(st.text(alphabet='{}[]",:0123456789.eE+-tfnrualse \\'))
def test_a_text_has_a_fault_if_python_cannot_read_it(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        assert find_syntax_fault(text.encode())
    else:
        assert not find_syntax_fault(text.encode())


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (
            {"containers": [{"image": 5}]},
            "number into Go struct field Container.spec.containers.image of type string",
        ),
        ({"containers": [5]}, "number into Go struct field PodSpec.spec.containers of type v1.Container"),
        (
            {"nodeSelector": []},
            "array into Go struct field PodSpec.spec.nodeSelector of type map[string]string",
        ),
        ({"hostNetwork": 1}, "number into Go struct field PodSpec.spec.hostNetwork of type bool"),
        ({"affinity": "x"}, "string into Go struct field PodSpec.spec.affinity of type v1.Affinity"),
        ({"priority": "x", "overhead": {"cpu": 1}, "terminationGracePeriodSeconds": 1.5}, PRIORITY),
        (
            {"restartPolicy": 1},
            "number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            {"tolerations": [{"effect": []}]},
            "array into Go struct field Toleration.spec.tolerations.effect of type v1.TaintEffect",
        ),
        (
            {"containers": [{"securityContext": {"capabilities": {"add": "x"}}}]},
            (
                "string into Go struct field Capabilities.spec.containers.securityContext.capabilities.add "
                "of type []v1.Capability"
            ),
        ),
        (
            {"containers": [{"securityContext": {"capabilities": {"add": [1]}}}]},
            (
                "number into Go struct field Capabilities.spec.containers.securityContext.capabilities.add "
                "of type v1.Capability"
            ),
        ),
        (
            {"containers": [{"resources": {"limits": "x"}}]},
            (
                "string into Go struct field ResourceRequirements.spec.containers.resources.limits "
                "of type v1.ResourceList"
            ),
        ),
        ({"priority": 1 << 31}, "number 2147483648 into Go struct field PodSpec.spec.priority of type int32"),
    ],
)
def test_a_wrong_type_is_refused(spec: dict[str, object], error: str) -> None:
    assert PODS
    with pytest.raises(BadRequest) as refused:
        decode_request(PODS, json.dumps({"spec": spec}).encode(), is_yaml=False)
    assert str(refused.value) == (
        f'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal {error}'
    )


@pytest.mark.parametrize(
    ("kind", "text", "pointer", "value"),
    [
        ("ConfigMap", '{"data": {"a": null}}', ("data",), {"a": ""}),
        ("ConfigMap", '{"metadata": {"labels": {"a": null}}}', ("metadata", "labels"), {"a": ""}),
        ("Secret", '{"data": {"a": null}}', ("data",), {"a": ""}),
        ("Pod", '{"metadata": {"finalizers": [null]}}', ("metadata", "finalizers"), [""]),
        ("Pod", '{"spec": {"containers": [null]}}', ("spec", "containers"), [{}]),
        ("Pod", '{"spec": {"overhead": {"cpu": null}}}', ("spec", "overhead"), {"cpu": "0"}),
    ],
)
def test_null_in_a_map_or_list_is_the_zero_value(
    kind: str, text: str, pointer: tuple[str, ...], value: object
) -> None:
    resource = find_by_kind("v1", kind)
    assert resource
    found: Any = decode_request(resource, text.encode(), is_yaml=False).manifest
    for field in pointer:
        found = found[field]
    assert found == value


def test_a_version_of_three_parts_is_none() -> None:
    assert PODS
    with pytest.raises(BadRequest) as refused:
        decode_request(PODS, b'{"apiVersion":"a/b/c","kind":"Pod"}', is_yaml=False)
    assert str(refused.value) == (
        "the object provided is unrecognized (must be of type Pod): unexpected GroupVersion string: a/b/c "
        '({"apiVersion":"a/b/c","kind":" ...)'
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            '{"metadata": {"creationTimestamp": 5}}',
            f"json: cannot unmarshal number into Go struct field {CREATED} of type string",
        ),
        (
            '{"metadata": {"name": 5, "creationTimestamp": "2020"}}',
            'parsing time "2020" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "-"',
        ),
        (
            '{"spec": {"priority": "x", "overhead": {"cpu": "x"}}}',
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_a_type_that_decodes_itself_ends_the_decoding(text: str, error: str) -> None:
    assert PODS
    with pytest.raises(BadRequest) as refused:
        decode_request(PODS, text.encode(), is_yaml=False)
    assert str(refused.value) == f'Pod in version "v1" cannot be handled as a Pod: {error}'


def test_unknown_and_repeated_fields_are_dropped_and_noted() -> None:
    assert CONFIG_MAPS
    body = b'{"a": 1, "data": {"x": "1", "x": "2"}, "metadata": {"labels": {"b": "c"}, "nam": "n"}}'
    decoded = decode_request(CONFIG_MAPS, body, is_yaml=False)
    assert decoded.strict_errors == [
        'unknown field "a"',
        'duplicate field "data.x"',
        'unknown field "metadata.nam"',
    ]
    assert decoded.manifest["data"] == {"x": "2"}
    assert decoded.manifest["metadata"] == {"labels": {"b": "c"}}


def test_yaml_is_that_of_version_1_1() -> None:
    assert CONFIG_MAPS
    with pytest.raises(BadRequest, match="cannot unmarshal bool into Go struct field"):
        decode_request(CONFIG_MAPS, b"data: {a: on}", is_yaml=True)
    decoded = decode_request(CONFIG_MAPS, b'data: {a: "on", b: x, b: z}\n---\nkind: Pod', is_yaml=True)
    assert decoded.manifest["data"] == {"a": "on", "b": "z"}
    assert decoded.strict_errors == ['yaml: unmarshal errors:\n  line 1: key "b" already set in map']


def test_repeated_keys_of_yaml_are_named_with_the_lines_of_their_values() -> None:
    assert CONFIG_MAPS
    text = b"data:\n  a: x\n  a:\n    z\nfoo: [{b: 1, b: 2}]\nfoo: 1\n"
    first, second = decode_request(CONFIG_MAPS, text, is_yaml=True).strict_errors
    assert first.splitlines() == [
        "yaml: unmarshal errors:",
        '  line 4: key "a" already set in map',
        '  line 5: key "b" already set in map',
        '  line 6: key "foo" already set in map',
    ]
    assert second == 'unknown field "foo"'


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_a_field_that_is_dropped_may_be_deep() -> None:
    text = '{"metadata": {"name": "a"}, "unknown": ' + nested(200) + "}"
    assert "unknown" not in decode_request(CONFIG_MAPS, text.encode(), is_yaml=False).manifest


@pytest.mark.parametrize("levels", [70, 240, 260, 5_000])
def test_a_preserved_value_that_is_too_deep_is_refused(levels: int) -> None:
    schema = '{"properties": {"a": ' * (levels // 2) + "{}" + "}}" * (levels // 2)
    version = '{"name": "v1", "schema": {"openAPIV3Schema": ' + schema + "}}"
    bodies = {
        "ControllerRevision": '{"data": ' + nested(levels) + "}",
        "CustomResourceDefinition": '{"spec": {"versions": [' + version + "]}}",
        "ConfigMap": '{"unknown": ' + nested(levels) + "}",
    }
    if levels < 250:
        del bodies["ConfigMap"]  # what is dropped may be so deep
    for kind, text in bodies.items():
        (resource,) = (each for each in BUILT_IN if each.kind == kind)
        with pytest.raises(ManifestError, match="nested deeper than"):
            decode_request(resource, text.encode(), is_yaml=False)
