"""Objects up to the size that etcd takes get the answers of admission; above it, the limit is named."""

import json
from typing import Any

import yaml

from tests.api.asking import request
from tests.api.widget_definition import DEFINITIONS, definition, version

MAPS = "/api/v1/namespaces/default/configmaps"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def large_definition(size: int) -> dict[str, Any]:
    """A definition with descriptions of so many bytes."""
    of_version = version("v1", storage=True)
    fields = {f"f{number}": {"type": "string", "description": "x" * 250} for number in range(size // 250)}
    of_version["schema"]["openAPIV3Schema"]["properties"]["more"] = {"type": "object", "properties": fields}
    return definition(of_version)


def config_map(size: int) -> str:
    return json.dumps({"metadata": {"name": "m"}, "data": {"a": "x" * size}})


def test_a_definition_that_kubectl_applies_has_a_too_long_annotation(url: str) -> None:
    large = large_definition(600_000)
    large["metadata"]["annotations"] = {APPLIED: json.dumps(large)}
    body = json.dumps(large)
    assert len(body) > 1_300_000
    code, refused = request(url + DEFINITIONS, "POST", body)
    assert code == 422
    assert refused["message"].endswith(
        '"widgets.example.com" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes'
    )


def test_an_object_of_600_kilobytes_is_created_patched_and_applied(url: str) -> None:
    large, path = large_definition(600_000), f"{url}{DEFINITIONS}/widgets.example.com"
    assert request(url + DEFINITIONS, "POST", json.dumps(large))[0] == 201
    patch = json.dumps({"metadata": {"labels": {"a": "b"}}, "spec": large["spec"]})
    merge = {"Content-Type": "application/merge-patch+json"}
    assert request(path, "PATCH", patch, merge)[0] == 200
    applied = {"Content-Type": "application/apply-patch+yaml"}
    assert request(f"{path}?fieldManager=m&force=true", "PATCH", json.dumps(large), applied)[0] == 200
    assert request(path, "DELETE")[0] == 200
    as_yaml = yaml.dump(large, Dumper=yaml.CSafeDumper)
    assert request(url + DEFINITIONS, "POST", as_yaml, {"Content-Type": "application/yaml"})[0] == 201


def test_limits_are_those_of_one_object_then_of_a_request(url: str) -> None:
    assert request(url + MAPS, "POST", config_map(1 << 20))[0] == 201
    for query in ("", "?pretty=true"):  # of more than 1 MiB, and sent in parts
        listed = request(url + MAPS + query)[1]["items"]
        assert [len(each["data"]["a"]) for each in listed if each["metadata"]["name"] == "m"] == [1 << 20]
    code, refused = request(url + DEFINITIONS, "POST", json.dumps(large_definition(1_600_000)))
    assert (code, refused["reason"]) == (413, "RequestEntityTooLarge")
    assert refused["message"].startswith(
        "Request entity too large: an object may have 1,572,864 bytes as JSON"
    )
    code, refused = request(url + MAPS, "POST", config_map(3 << 20))
    assert (code, refused["message"]) == (413, "Request entity too large: limit is 3145728")
