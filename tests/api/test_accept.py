"""Which media type and form an Accept header gets."""

import re

import pytest
from django.test import RequestFactory

from schedviz.api.accept import JSON, PROTOBUF, YAML, clauses_of
from schedviz.api.representation import Representation
from simulator.apiserver.request_errors import NotAcceptable
from simulator.apiserver.resource import Resource

TABLE = "as=Table;g=meta.k8s.io;v=v1"


def representation(accept: str, *, custom: bool = False) -> Representation:
    return Representation.of(RequestFactory().get("/", headers={"Accept": accept}), custom=custom)


@pytest.mark.parametrize(
    ("accept", "tried"),
    [
        ("a/b;q=0.1, c/d;q=0.9, e/f;q=0.5", ["c/d", "e/f", "a/b"]),
        ("a/b, c/d", ["a/b", "c/d"]),
        ("*/*, a/b", ["a/b", "*/*"]),
        ("a/*, a/b", ["a/b", "a/*"]),
        # Upstream compares two clauses only: one without a star goes before a preferred one with a star.
        ("*/*, a/b;q=0.5", ["a/b", "*/*"]),
        ("a/b;q=0.5, */*", ["*/*", "a/b"]),
        ("*", ["*/*"]),
        ("a, a/b/c, a/", []),
        ("a/b;q=x, c/d;q=0.1", ["c/d", "a/b"]),
    ],
)
def test_the_clauses_are_tried_in_the_order_of_upstream(accept: str, tried: list[str]) -> None:
    assert [clause.media_type for clause in clauses_of(accept)] == tried


@pytest.mark.parametrize(
    ("accept", "media_type", "form"),
    [
        ("*/*, application/yaml", YAML, None),
        (f"{PROTOBUF};{TABLE}, {JSON};{TABLE}", JSON, "Table"),
        (f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1", PROTOBUF, "PartialObjectMetadata"),
        (f"{JSON};v=v1, {YAML}", YAML, None),
        (f"{JSON};as=Table;g=meta.k8s.io;v=v2, {JSON}", JSON, None),
        (f"*/*;{TABLE}, {JSON}", JSON, None),
        (f"{JSON};stream=watch", JSON, None),
        (f"{JSON};stream=other, {PROTOBUF}", PROTOBUF, None),
        (f"{YAML};stream=watch, {JSON};q=0.1", JSON, None),
        (f"{JSON};sv=v2, {YAML};sv=v1", YAML, None),
        (f"{JSON};charset=utf-8", JSON, None),
    ],
)
def test_the_first_clause_that_the_server_has_counts(accept: str, media_type: str, form: str | None) -> None:
    found = representation(accept)
    assert (found.media_type, found.form) == (media_type, form)


def test_a_custom_resource_has_no_protocol_buffers_but_its_metadata_have() -> None:
    assert representation(f"{PROTOBUF},{JSON}", custom=True).media_type == JSON
    partial = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    assert representation(partial, custom=True).media_type == PROTOBUF
    with pytest.raises(NotAcceptable, match="only the following media types"):
        representation(PROTOBUF, custom=True)
    assert representation("application/*", custom=True).media_type == JSON


@pytest.mark.parametrize("accept", ["text/html", "application/*", "*"])
def test_a_type_that_no_route_has_is_refused_by_the_router(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="406: Not Acceptable"):
        representation(accept)


@pytest.mark.parametrize("accept", [f"{JSON};{TABLE};sv=v3", f"{PROTOBUF};{TABLE}", f"{JSON};as=Table"])
def test_a_type_that_no_route_can_encode_is_refused(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="only the following media types are accepted"):
        representation(accept)


@pytest.mark.parametrize(
    ("group", "kind", "go_type"),
    [
        ("", "ConfigMap", "core.ConfigMap"),
        ("apps", "Deployment", "apps.Deployment"),
        ("rbac.authorization.k8s.io", "Role", "rbac.Role"),
        ("events.k8s.io", "Event", "core.Event"),
        ("example.com", "Widget", "unstructured.Unstructured"),
    ],
)
def test_a_form_that_does_not_fit_is_refused_with_the_type_in_go(group: str, kind: str, go_type: str) -> None:
    resource = Resource(group, "v1", kind, f"{kind.lower()}s", namespaced=True, singular=kind.lower())
    found = representation(f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", custom=True)
    with pytest.raises(NotAcceptable, match=rf"is not a list \(\*{re.escape(go_type)}\)$"):
        found.one(resource, {"metadata": {}}, lambda: 0)
    found = representation(f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1", custom=True)
    with pytest.raises(NotAcceptable, match=rf"is a list \(\*{re.escape(go_type)}List\)$"):
        found.list(resource, [], {}, lambda: 0)
