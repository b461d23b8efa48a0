"""Fields of bytes: Go passes over the ends of lines in base64, and writes the bytes as one line."""

import base64
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from simulator.api import Manifest
from simulator.apiserver.base64_text import canonical_base64
from simulator.apiserver.decoding import decode
from simulator.apiserver.patches.unstructured_conversion import from_unstructured
from simulator.apiserver.request_decoding.decode_request import decode_request
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.status import BadRequest
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import MapType, Scalar, StructType

LINES = "LS0t\nLS0tLS0t\r\n\nQUFBQQ=\n=\n"
LINE = "LS0tLS0tLS0tQUFBQQ=="
CLIENT = {"url": "https://a.example", "caBundle": LINES}
HOOK = {"name": "a.b.c", "clientConfig": CLIENT, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
OBJECTS: dict[tuple[str, str], Manifest] = {
    ("v1", "Secret"): {"data": {"a": LINES}},
    ("v1", "ConfigMap"): {"binaryData": {"a": LINES}},
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): {
        "spec": {"request": LINES, "signerName": "a.example/b", "usages": []},
        "status": {"certificate": LINES},
    },
    ("apiregistration.k8s.io/v1", "APIService"): {"spec": {"caBundle": LINES}},
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): {"webhooks": [HOOK]},
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): {"webhooks": [HOOK]},
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): {
        "spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": LINES}}}}
    },
}


def object_of(kind: tuple[str, str]) -> tuple[Resource, Manifest]:
    resource = find_by_kind(*kind)
    assert resource is not None
    return resource, {
        "apiVersion": kind[0],
        "kind": kind[1],
        "metadata": {"name": "a"},
        **OBJECTS[kind],
    }


def texts(value: Any) -> set[str]:
    """The texts of a value with the marks of LINES or LINE."""
    match value:
        case dict():
            return set().union(*map(texts, value.values()))
        case list():
            return set().union(*map(texts, value))
    return {value} if isinstance(value, str) and value.startswith("LS0t") else set()


def byte_types() -> set[str]:
    """The types with a field of bytes, or with a map of them."""
    found = set()
    for name in api_types().names:
        of = api_types().find(name)
        fields = of.fields.values() if isinstance(of, StructType) else ()
        kinds = [field.type.values if isinstance(field.type, MapType) else field.type for field in fields]
        if any(isinstance(kind, Scalar) and kind.kind == "bytes" for kind in kinds):
            found.add(name.rpartition(".")[2])
    return found


@pytest.mark.parametrize("kind", OBJECTS)
def test_lines_in_base64_are_stored_as_one(kind: tuple[str, str]) -> None:
    resource, manifest = object_of(kind)
    as_json = decode_request(resource, json.dumps(manifest).encode(), is_yaml=False).manifest
    as_yaml = decode_request(resource, yaml.safe_dump(manifest).encode(), is_yaml=True).manifest
    as_applied = from_unstructured(resource, manifest)
    from_page, faults = decode(resource, manifest)
    for found in (as_json, as_yaml, as_applied.manifest, from_page):
        assert texts(found) == {LINE}
    assert (as_applied.error, [str(each) for each in faults if "base64" in str(each)]) == ("", [])


def test_each_type_with_bytes_has_a_case() -> None:
    assert byte_types() == {
        "APIServiceSpec",
        "CertificateSigningRequestSpec",
        "CertificateSigningRequestStatus",
        "ConfigMap",
        "PodCertificateRequestSpec",  # of an alpha kind, which is not served
        "Secret",
        "WebhookClientConfig",
    }


@pytest.mark.parametrize(
    ("text", "place"), [("a", 0), ("AAAA\nA", 5), ("AA\n=A", 3), ("AAAA AAAA", 4), ("\r\nAAAA-", 6), ("é", 0)]
)
def test_other_characters_are_refused_with_their_place(text: str, place: int) -> None:
    resource, manifest = object_of(("v1", "Secret"))
    manifest["data"] = {"a": text}
    message = f"illegal base64 data at input byte {place}"
    with pytest.raises(BadRequest, match=f"{message}$"):
        decode_request(resource, json.dumps(manifest).encode(), is_yaml=False)
    _, faults = decode(resource, manifest)
    assert [(each.field, each.message.endswith(f": {message}")) for each in faults] == [("data[a]", True)]


@given(st.binary(), st.lists(st.tuples(st.integers(0, 100), st.sampled_from(["\n", "\r", "\r\n"]))))
def test_ends_of_lines_may_be_anywhere(data: bytes, ends: list[tuple[int, str]]) -> None:
    text = line = base64.b64encode(data).decode()
    for at, end in ends:
        text = text[:at] + end + text[at:]
    assert canonical_base64(text) == line
