"""A custom resource with two versions, rules, and names that may not change."""

import json
from typing import Any

import pytest

from .asking import request
from .widget_definition import DEFINITIONS, definition, version

WIDGETS = "/apis/example.com/{}/namespaces/default/widgets"


def widget(api: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"example.com/{api}", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def post(url: str, path: str, body: Any) -> tuple[int, Any]:
    return request(url + path, "POST", json.dumps(body))


@pytest.fixture
def served(url: str) -> str:
    grows = [{"rule": "self >= oldSelf", "message": "must not shrink"}]
    old, new = version("v1beta1", storage=True), version("v1", rules=grows)
    assert post(url, DEFINITIONS, definition(old, new))[0] == 201
    return url


def test_each_version_shows_all_objects(served: str) -> None:
    assert post(served, WIDGETS.format("v1beta1"), widget("v1beta1", "a", size=1))[0] == 201
    assert post(served, WIDGETS.format("v1"), widget("v1", "b", size=2))[0] == 201
    assert request(f"{served}{WIDGETS.format('v2')}")[0] == 404
    for api in ("v1beta1", "v1"):
        _, listed = request(served + WIDGETS.format(api))
        assert (listed["apiVersion"], [item["spec"]["size"] for item in listed["items"]]) == (
            f"example.com/{api}",
            [1, 2],
        )
        assert {item["apiVersion"] for item in listed["items"]} == {f"example.com/{api}"}
        assert request(f"{served}{WIDGETS.format(api)}/a")[1]["apiVersion"] == f"example.com/{api}"
    _, group = request(f"{served}/apis/example.com")
    assert [each["version"] for each in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"]["version"] == "v1"


def test_an_update_follows_the_schema_of_its_version(served: str) -> None:
    post(served, WIDGETS.format("v1beta1"), widget("v1beta1", "a", size=5))
    merge = {"Content-Type": "application/merge-patch+json"}
    smaller = json.dumps({"spec": {"size": 4}})
    code, refused = request(f"{served}{WIDGETS.format('v1')}/a", "PATCH", smaller, merge)
    assert (code, refused["message"]) == (
        422,
        'Widget.example.com "a" is invalid: spec.size: Invalid value: "integer": must not shrink',
    )
    code, patched = request(f"{served}{WIDGETS.format('v1beta1')}/a", "PATCH", smaller, merge)
    assert (code, patched["spec"], patched["apiVersion"]) == (200, {"size": 4}, "example.com/v1beta1")
    before = patched["metadata"]["resourceVersion"]
    code, same = request(f"{served}{WIDGETS.format('v1')}/a", "PATCH", smaller, merge)
    assert (code, same["apiVersion"], same["metadata"]["resourceVersion"]) == (200, "example.com/v1", before)


def test_an_object_of_another_type_is_refused(served: str) -> None:
    code, refused = post(served, WIDGETS.format("v1"), widget("v1beta1", "a", size=1))
    expected = "the API version in the data (example.com/v1beta1) does not match the expected API version"
    assert (code, refused["message"]) == (400, f"{expected} (example.com/v1)")
    code, refused = post(served, WIDGETS.format("v1"), {**widget("v1", "a", size=1), "kind": "Gadget"})
    assert (code, refused["message"]) == (
        422,
        'Gadget.example.com "a" is invalid: kind: Invalid value: "Gadget": must be Widget',
    )


def test_names_and_stored_versions_of_a_definition_stay(served: str) -> None:
    _, stored = request(f"{served}{DEFINITIONS}/widgets.example.com")
    changed = json.loads(json.dumps(stored))
    changed["spec"]["names"]["kind"] = "Gadget"
    changed["spec"]["scope"] = "Cluster"
    changed["spec"]["versions"] = [version("v1", storage=True)]
    code, refused = request(f"{served}{DEFINITIONS}/widgets.example.com", "PUT", json.dumps(changed))
    assert code == 422
    assert [(each["field"], each["message"]) for each in refused["details"]["causes"]][:2] == [
        ("spec.scope", 'Invalid value: "Cluster": field is immutable'),
        ("spec.names.kind", 'Invalid value: "Gadget": field is immutable'),
    ]
    assert refused["details"]["causes"][2]["field"] == "status.storedVersions[0]"
    stored["spec"]["versions"] = [version("v1beta1"), version("v1", storage=True)]
    code, updated = request(f"{served}{DEFINITIONS}/widgets.example.com", "PUT", json.dumps(stored))
    assert (code, updated["status"]["storedVersions"]) == (200, ["v1beta1", "v1"])


def test_a_rule_that_does_not_compile_is_refused(url: str) -> None:
    wrong = version("v1", storage=True, rules=[{"rule": "self >"}, {"rule": "1"}])
    code, refused = post(url, DEFINITIONS, definition(wrong))
    assert code == 422
    path = "spec.validation.openAPIV3Schema.properties[spec].properties[size].x-kubernetes-validations"
    assert [each["field"] for each in refused["details"]["causes"]] == [f"{path}[0].rule", f"{path}[1].rule"]
    assert "compilation failed: ERROR: <input>:1:7: Syntax error" in refused["message"]
    assert "must evaluate to a bool" in refused["message"]


def test_the_objects_of_a_definition_are_deleted_before_it(served: str) -> None:
    path = f"{served}{DEFINITIONS}/widgets.example.com"
    for name in ("a", "b"):
        post(served, WIDGETS.format("v1"), widget("v1", name, size=1))
    merge = {"Content-Type": "application/merge-patch+json"}
    held = json.dumps({"metadata": {"finalizers": ["example.com/held"]}})
    assert request(f"{served}{WIDGETS.format('v1')}/b", "PATCH", held, merge)[0] == 200
    code, shown = request(path, "DELETE")
    assert (code, shown["kind"]) == (200, "CustomResourceDefinition")
    assert shown["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert shown["status"]["conditions"][-1]["type"] == "Terminating"
    # One object waits for its finalizer, and so does the definition.
    assert [item["metadata"]["name"] for item in request(served + WIDGETS.format("v1"))[1]["items"]] == ["b"]
    assert request(path)[0] == 200
    released = json.dumps({"metadata": {"finalizers": None}})
    assert request(f"{served}{WIDGETS.format('v1')}/b", "PATCH", released, merge)[0] == 200
    assert request(path)[0] == 404
    # The same without an object.
    assert post(served, DEFINITIONS, definition(version("v1", storage=True)))[0] == 201
    assert request(f"{path}?dryRun=All", "DELETE")[0] == 200
    assert request(path)[0] == 200
    assert request(path, "DELETE")[0] == 200
    assert request(path)[0] == 404
