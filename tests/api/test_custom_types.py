"""Custom resources without a type, with another one, and their patches: a custom resource has no Go type."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from .asking import request
from .widget_definition import DEFINITIONS, definition, version

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
APPLY = "apply-patch+yaml"


@pytest.fixture
def widgets(url: str) -> str:
    """The address of the widgets, of which there is one. They need a size."""
    with_size = version("v1", storage=True)
    with_size["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = ["size"]
    with_size["subresources"] = {
        "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    }
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(with_size)))[0] == 201
    assert request(url + WIDGETS, "POST", json.dumps(WIDGET))[0] == 201
    return url + WIDGETS


def patch(address: str, body: Any, kind: str = "merge-patch+json") -> tuple[int, Any]:
    return request(address, "PATCH", json.dumps(body), {"Content-Type": f"application/{kind}"})


@pytest.mark.parametrize(("method", "path"), [("POST", ""), ("PUT", "/w")])
def test_a_body_must_say_its_type(widgets: str, method: str, path: str) -> None:
    text = '{"apiVersion":"example.com/v1"}'
    code, refused = request(widgets + path, method, text)
    assert code == 400
    assert refused["message"] == (
        f"the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{text}' "
        f"({text[:30]} ...)"
    )
    code, refused = request(widgets + path, method, '{"kind":"Widget"}')
    assert code == 400
    expected = "the API version in the data () does not match the expected API version (example.com/v1)"
    assert refused["message"] == expected


def test_metadata_is_decoded_by_itself(widgets: str) -> None:
    wrong = WIDGET | {"metadata": {"name": "x", "labels": {"a": 1}}}
    _, refused = request(widgets, "POST", json.dumps(wrong))
    assert refused["message"] == (
        'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct '
        "field ObjectMeta.labels of type string"
    )
    _, refused = request(widgets, "POST", json.dumps(WIDGET | {"metadata": "x"}))
    assert refused["message"].endswith("json: cannot unmarshal string into Go value of type v1.ObjectMeta")


def test_a_patch_cannot_change_the_type(widgets: str) -> None:
    code, refused = patch(f"{widgets}/w", {"kind": "Gadget"})
    assert code == 422
    message = 'kind: Invalid value: "Gadget": must be Widget'
    assert refused["message"] == f'Gadget.example.com "w" is invalid: {message}'
    code, refused = patch(f"{widgets}/w", {"apiVersion": "example.com/v2"})
    assert code == 422
    message = 'apiVersion: Invalid value: "example.com/v2": must be example.com/v1'
    assert refused["message"] == f'Widget.example.com "w" is invalid: {message}'


def test_a_patch_that_removes_the_kind_shows_the_object_with_its_keys_in_order(widgets: str) -> None:
    code, refused = patch(f"{widgets}/w", {"kind": None})
    (cause,) = refused["details"]["causes"]
    shown, missing = cause["message"].split(": Object 'Kind' is missing in '")
    assert (code, json.loads(shown.removeprefix("Invalid value: "))) == (422, missing.removesuffix("'"))
    assert missing.startswith('{"apiVersion":"example.com/v1","metadata":{"creationTimestamp":')


@pytest.mark.parametrize("path", ["/w", "/w/scale", "/missing"])
@pytest.mark.parametrize("kind", ["strategic-merge-patch+json", "json"])
def test_only_three_types_of_patches_are_accepted(widgets: str, path: str, kind: str) -> None:
    code, refused = patch(widgets + path, {}, kind)
    assert code == 415
    assert refused["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


def test_an_applied_object_has_no_empty_fields(widgets: str) -> None:
    applied = WIDGET | {"metadata": {"name": "new"}, "spec": {}}
    code, refused = patch(f"{widgets}/new?fieldManager=alpha", applied, APPLY)
    assert code == 422
    assert "spec.size: Required value" in refused["message"]


def test_the_creator_owns_the_objects_that_it_creates(widgets: str) -> None:
    (entry,) = request(f"{widgets}/w")[1]["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:spec": {".": {}, "f:size": {}}}


def warnings_of(url: str, method: str = "GET", body: Any = None) -> list[str]:
    """The warnings of the answer, whatever its status."""
    data = None if body is None else json.dumps(body).encode()
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    try:
        with urlopen(Request(url, data, {"Content-Type": kind}, method=method)) as answer:
            return answer.headers.get_all("Warning") or []
    except HTTPError as refused:
        with refused:
            return refused.headers.get_all("Warning") or []


def test_requests_to_deprecated_versions_get_a_warning(url: str) -> None:
    versions = [version("v1beta1"), version("v1alpha1"), version("v1", storage=True), version("v2")]
    versions[0]["deprecated"] = versions[1]["deprecated"] = True
    versions[1]["deprecationWarning"] = "old!"
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(*versions)))[0] == 201
    deprecated = '299 - "example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget"'
    widgets = {name: url + WIDGETS.replace("v1", name) for name in ("v1", "v1alpha1", "v1beta1")}
    beta = WIDGET | {"apiVersion": "example.com/v1beta1", "metadata": {"name": "w"}}
    assert warnings_of(widgets["v1"]) == []
    assert warnings_of(widgets["v1alpha1"]) == ['299 - "old!"']
    assert warnings_of(f"{widgets['v1beta1']}/missing") == [deprecated]
    assert warnings_of(widgets["v1beta1"], "POST", beta) == [deprecated]


def test_a_status_write_owns_what_is_not_the_spec(url: str) -> None:
    with_status = version("v1", storage=True) | {"subresources": {"status": {}}}
    with_status["schema"]["openAPIV3Schema"]["properties"] |= {
        "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "other": {"type": "string"},
    }
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(with_status)))[0] == 201
    assert request(url + WIDGETS, "POST", json.dumps(WIDGET))[0] == 201
    change = {"status": {"size": 2}, "spec": {"size": 2}, "other": "x"}
    _, patched = patch(f"{url}{WIDGETS}/w/status", change)
    assert (patched["spec"], "other" in patched) == ({"size": 1}, False)
    *_, entry = patched["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:other": {}, "f:status": {".": {}, "f:size": {}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spec": []}, 'spec in body must be of type object: "array"'),
        ({"metadata": "x"}, "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
    ],
)
def test_a_patch_with_another_type_of_value_is_refused(widgets: str, change: Any, message: str) -> None:
    code, refused = patch(f"{widgets}/w", change)
    assert (code, message in refused["message"]) == (422, True)


def test_items_of_a_list_keep_fields_and_nulls_are_dropped_by_each_write(url: str) -> None:
    items = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    steps = {"type": "array", "x-kubernetes-preserve-unknown-fields": True, "items": items}
    fields = {"steps": steps, "unit": {"type": "string", "default": "s"}, "free": {"type": "object"}}
    open_version = version("v1", storage=True)
    open_version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] |= fields
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(open_version)))[0] == 201
    given = {"unit": None, "size": None, "steps": [{"step.id": "main", "tags": None}]}
    kept = {"unit": "s", "steps": [{"step.id": "main"}]}
    body = WIDGET | {"spec": given}
    strict = f"{url}{WIDGETS}{{}}?fieldValidation=Strict"
    code, created = request(strict.format(""), "POST", json.dumps(body))
    assert (code, created["spec"]) == (201, kept)
    code, patched = patch(strict.format("/w"), {"spec": {"steps": [{"b": {"c": 1}, "tags": None}]}})
    assert (code, patched["spec"]["steps"]) == (200, [{"b": {"c": 1}}])
    code, replaced = request(strict.format("/w"), "PUT", json.dumps({**patched, "spec": given}))
    assert (code, replaced["spec"]) == (200, kept)
    code, refused = request(strict.format("/w"), "PUT", json.dumps({**patched, "spec": {"free": {"a": 1}}}))
    assert code == 400
    assert refused["message"].endswith(': strict decoding error: unknown field "spec.free.a"')
    applied = WIDGET | {"spec": {"free": {"a": 1}}}
    code, stored = patch(f"{url}{WIDGETS}/w?fieldManager=me&force=true", applied, APPLY)
    assert (code, stored["spec"]) == (200, {**kept, "free": {}})
    applied = WIDGET | {"metadata": {"name": "new"}, "spec": {"steps": None}}
    code, refused = patch(f"{url}{WIDGETS}/new?fieldManager=me", applied, APPLY)
    assert (code, refused["details"]["causes"][0]["field"]) == (422, "spec.steps")
