"""The discovery documents, beside those of the recorded stories."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from schedviz.api.accept import JSON, NOT_ACCEPTED
from tests.api.asking import request
from tests.api.widget_definition import DEFINITIONS, definition, version
from tests.waiting import PATIENCE

KIND = "g=apidiscovery.k8s.io;as=APIGroupDiscoveryList"
AGGREGATED = f"{JSON};{KIND};v=v2"
BETA = f"{JSON};{KIND};v=v2beta1"


def aggregated(url: str, accept: str = AGGREGATED) -> dict[str, Any]:
    found: dict[str, Any] = request(f"{url}/apis", headers={"Accept": accept})[1]
    return found


def test_groups_are_in_the_order_of_their_priorities(url: str) -> None:
    made = json.dumps(definition(version("v1", storage=True)))
    assert request(url + DEFINITIONS, "POST", made)[0] == 201
    listed = [group["name"] for group in request(f"{url}/apis")[1]["groups"]]
    assert listed[:3] == ["apiregistration.k8s.io", "apps", "events.k8s.io"]
    assert listed.index("networking.k8s.io") < listed.index("policy") < listed.index("coordination.k8s.io")
    assert listed[-2:] == ["example.com", "schedviz"]
    assert [item["metadata"]["name"] for item in aggregated(url)["items"]] == listed


def test_the_kinds_of_custom_resources_have_their_group_in_the_aggregated_document(url: str) -> None:
    scaled = version("v1", storage=True)
    scaled["subresources"] = {
        "status": {},
        "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
    }
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(scaled)))[0] == 201
    items = {item["metadata"]["name"]: item for item in aggregated(url)["items"]}
    (widgets,) = items["example.com"]["versions"][0]["resources"]
    kind = {"group": "example.com", "version": "v1", "kind": "Widget"}
    assert widgets["responseKind"] == kind
    scale, status = widgets["subresources"]
    assert scale["responseKind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert status["responseKind"] == kind


def test_the_beta_of_the_aggregated_document_is_not_served(url: str) -> None:
    status, answer = request(f"{url}/apis", headers={"Accept": BETA})
    assert (status, answer["message"]) == (406, NOT_ACCEPTED)
    assert aggregated(url, f"{BETA}, {JSON}")["kind"] == "APIGroupList"
    assert aggregated(url, f"{JSON}, {BETA}, {AGGREGATED}")["kind"] == "APIGroupDiscoveryList"


def test_a_table_of_resources_is_not_acceptable(url: str) -> None:
    for path in ("/api/v1", "/apis/apps/v1", "/apis/apps"):
        status, answer = request(url + path, headers={"Accept": f"{JSON};as=Table;g=meta.k8s.io;v=v1"})
        assert (status, answer["message"]) == (406, NOT_ACCEPTED), path


def test_a_client_that_has_the_discovery_document_gets_not_modified(url: str) -> None:
    asked = Request(f"{url}/api", headers={"Accept": AGGREGATED})
    with urlopen(asked, timeout=PATIENCE) as response:
        tag = response.headers["ETag"]
        assert "Accept" in response.headers["Vary"].split(", ")
    asked.add_header("If-None-Match", tag)
    with pytest.raises(HTTPError) as same:
        urlopen(asked, timeout=PATIENCE)
    with same.value:
        assert (same.value.code, same.value.headers["ETag"]) == (304, tag)


def test_bindings_are_only_created(url: str) -> None:
    for path, status in (("/namespaces/default/bindings", 405), ("/bindings", 404)):
        assert request(f"{url}/api/v1{path}")[0] == status
