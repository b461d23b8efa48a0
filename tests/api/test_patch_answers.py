"""Answers to patches and applies that no recorded story shows."""

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest

from .asking import request

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
TYPES = ("json-patch", "merge-patch", "strategic-merge-patch")
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}


@pytest.fixture
def config_map(url: str) -> str:
    """The address of a ConfigMap."""
    assert request(url + CONFIG_MAPS, "POST", json.dumps(CONFIG_MAP))[0] == 201
    return f"{url}{CONFIG_MAPS}/c"


def patch(address: str, kind: str, change: dict[str, Any]) -> tuple[int, Any]:
    """Send a merge patch, or the same change as a JSON patch."""
    body: Any = change
    if kind == "json-patch":
        ((field, value),) = change.items()
        path = f"/{field}"
        if isinstance(value, dict):
            ((name, value),) = value.items()
            path += f"/{name}"
        body = [{"op": "replace", "path": path, "value": value}]
    return request(address, "PATCH", json.dumps(body), {"Content-Type": f"application/{kind}+json"})


def apply(address: str, text: str, query: str = "") -> tuple[int, Any]:
    headers = {"Content-Type": "application/apply-patch+yaml"}
    return request(f"{address}?fieldManager=alpha{query}", "PATCH", text, headers)


@pytest.mark.parametrize("kind", TYPES)
def test_a_patch_cannot_change_the_uid(config_map: str, kind: str) -> None:
    """The UID is a precondition of a PUT only."""
    code, refused = patch(config_map, kind, {"metadata": {"uid": "x"}})
    assert code == 422
    message = 'metadata.uid: Invalid value: "x": field is immutable'
    assert refused["message"] == f'ConfigMap "c" is invalid: {message}'
    code, refused = request(
        config_map, "PUT", json.dumps(CONFIG_MAP | {"metadata": {"name": "c", "uid": "x"}})
    )
    assert (code, refused["reason"]) == (409, "Conflict")
    assert "Precondition failed: UID in precondition: x" in refused["message"]


@pytest.mark.parametrize("kind", TYPES)
def test_a_version_that_is_no_number_is_an_error_of_the_server(config_map: str, kind: str) -> None:
    code, refused = patch(config_map, kind, {"metadata": {"resourceVersion": "x"}})
    assert (code, refused["message"]) == (500, 'strconv.ParseUint: parsing "x": invalid syntax')


@pytest.mark.parametrize("kind", TYPES)
def test_a_patch_may_remove_the_kind(config_map: str, kind: str) -> None:
    code, patched = patch(config_map, kind, {"kind": None})
    assert (code, patched["kind"]) == (200, "ConfigMap")


def test_a_strategic_patch_does_not_change_the_type(config_map: str) -> None:
    change = {"apiVersion": "apps/v1", "kind": "Secret", "data": {"a": "2"}}
    code, patched = patch(config_map, "strategic-merge-patch", change)
    assert (code, patched["apiVersion"], patched["kind"]) == (200, "v1", "ConfigMap")
    assert patched["data"] == {"a": "2"}


@pytest.mark.parametrize(
    ("query", "code"), [("&force=yes", 200), ("&force=", 200), ("&force=0", 409), ("", 409)]
)
def test_any_value_but_false_forces_an_apply(config_map: str, query: str, code: int) -> None:
    assert apply(config_map, json.dumps(CONFIG_MAP | {"data": {"a": "2"}}), query)[0] == code


def test_a_strict_apply_refuses_repeated_keys(config_map: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  b: x\n  b: z\n"
    code, refused = apply(config_map, text, "&fieldValidation=Strict")
    assert code == 400
    first, second = refused["message"].splitlines()
    assert first == "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:"
    assert second == '  line 6: key "b" already set in map'
    assert apply(config_map, text)[1]["data"] == {"a": "1", "b": "z"}


def test_malformed_managers_do_not_replace_those_of_the_object(config_map: str) -> None:
    """An entry needs an apiVersion and the type of its fields."""
    (known,) = request(config_map)[1]["metadata"]["managedFields"]
    entry = {"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    for missing in ("operation", "apiVersion", "fieldsType"):
        given = {name: value for name, value in entry.items() if name != missing}
        code, patched = patch(config_map, "merge-patch", {"metadata": {"managedFields": [given]}})
        assert (code, patched["metadata"]["managedFields"]) == (200, [known])


def test_what_cannot_be_read_of_an_applied_object_is_left_out(config_map: str) -> None:
    text = json.dumps({"apiVersion": "a/b/c", "kind": "ConfigMap"})
    assert apply(config_map, text)[1]["message"] == "invalid object type: /, Kind="
    text = json.dumps(CONFIG_MAP | {"metadata": {"name": 5}})
    expected = "failed to create typed patch object (/; /v1, Kind=ConfigMap): .metadata.name: expected string"
    assert apply(config_map, text)[1]["message"].startswith(expected)


def test_repeated_keys_of_yaml_are_warnings_line_by_line(url: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata:\n  b: x\n  b: z\n  b: w\n"
    lines = [f'299 - "line {line}: key \\"b\\" already set in map"' for line in (6, 7)]
    kinds = {"POST": "", "PUT": "/d", "PATCH": "/d?fieldManager=alpha&force=true"}
    for method, path in kinds.items():
        content_type = "application/apply-patch+yaml" if method == "PATCH" else "application/yaml"
        headers = {"Content-Type": content_type}
        asked = Request(url + CONFIG_MAPS + path, text.encode(), headers, method=method)
        with urlopen(asked) as answer:
            assert answer.headers.get_all("Warning") == lines


def test_repeated_owners_are_dropped_with_a_warning(url: str) -> None:
    owner = {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"}
    metadata = {"name": "d", "ownerReferences": [owner, owner | {"name": "b"}, owner, owner]}
    bodies = {"POST": CONFIG_MAP | {"metadata": metadata}, "PUT": CONFIG_MAP | {"metadata": metadata}}
    bodies["PATCH"] = {"metadata": metadata}
    for method, body in bodies.items():
        kind = "merge-patch+json" if method == "PATCH" else "json"
        address = url + CONFIG_MAPS + ("" if method == "POST" else "/d")
        headers = {"Content-Type": f"application/{kind}"}
        with urlopen(Request(address, json.dumps(body).encode(), headers, method=method)) as answer:
            assert len(json.load(answer)["metadata"]["ownerReferences"]) == 2
            warning = answer.headers["Warning"]
        after = " after mutating admission happens" if method == "PATCH" else ""
        assert f'".metadata.ownerReferences contains duplicate entries{after}; ' in warning
        assert warning.endswith('duplicate UID(s) observed: u, u"')


def test_half_a_pair_of_utf_16_is_replaced(config_map: str) -> None:
    text = r'{"data":{"a":"\ud800x\udc00\ud83d\ude00\\ud800"}}'
    headers = {"Content-Type": "application/merge-patch+json"}
    code, patched = request(config_map, "PATCH", text, headers)
    assert (code, patched["data"]["a"]) == (200, "\ufffdx\ufffd\U0001f600\\ud800")


def test_a_strategic_patch_takes_whole_numbers_with_a_point(url: str) -> None:
    leases = f"{url}/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}
    assert request(leases, "POST", json.dumps(lease))[0] == 201
    whole, broken = ({"spec": {"leaseDurationSeconds": value}} for value in (3.0, 1e6 + 0.5))
    code, patched = patch(f"{leases}/l", "strategic-merge-patch", whole)
    assert (code, patched["spec"]) == (200, {"leaseDurationSeconds": 3})
    code, refused = patch(f"{leases}/l", "strategic-merge-patch", broken)
    assert code == 422
    shown = '"map[spec:map[leaseDurationSeconds:1.0000005e+06]]": cannot convert float64 to int32'
    assert shown in refused["message"]
    code, refused = patch(f"{leases}/l", "merge-patch", whole)
    assert "cannot unmarshal number 3.0 into Go struct field" in refused["message"]


def test_a_strategic_patch_of_a_wrong_type_is_refused_in_the_words_of_the_converter(url: str) -> None:
    pods = f"{url}/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert request(pods, "POST", json.dumps(pod))[0] == 201
    refusals: tuple[tuple[str, Any, str], ...] = (
        ("priority", "x", "unrecognized type: int32"),
        ("priority", {}, "unrecognized type: int32"),
        ("hostNetwork", 1, "unrecognized type: bool"),
        ("nodeName", True, "unrecognized type: string"),
        ("nodeName", 1, "cannot convert int64 to string"),
        ("restartPolicy", 1, "cannot convert int64 to v1.RestartPolicy"),
        ("readinessGates", [{"conditionType": 1}], "cannot convert int64 to v1.PodConditionType"),
    )
    for field, value, error in refusals:
        code, refused = patch(f"{pods}/p", "strategic-merge-patch", {"spec": {field: value}})
        assert code == 422
        assert refused["message"].endswith(error)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("given", [[], [{}]])
def test_an_empty_list_of_managers_removes_all(config_map: str, kind: str, given: list[Any]) -> None:
    code, patched = patch(config_map, kind, {"metadata": {"managedFields": given}})
    assert (code, "managedFields" in patched["metadata"]) == (200, False)
