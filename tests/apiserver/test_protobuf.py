"""Objects in Protocol Buffers, as client-go sends them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.protobuf import decode_protobuf

MAGIC = b"k8s\x00"


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def encoded(api_version: str, kind: str, raw: bytes) -> bytes:
    return (
        MAGIC + field(1, field(1, api_version) + field(2, kind)) + field(2, raw) + field(3, "") + field(4, "")
    )


HTTP_GET = field(1, "/") + field(2, field(1, 0) + field(2, 8080))
POD = encoded(
    "v1",
    "Pod",
    field(
        1,
        field(1, "web")
        + field(3, "default")
        + field(8, b"")
        + field(9, field(1, 1_700_000_000))
        + field(11, field(1, "app") + field(2, "web")),
    )
    + field(
        2,
        field(1, field(1, "v") + field(2, field(1, field(1, "/data"))))
        + field(
            2,
            field(1, "main")
            + field(2, "nginx")
            + field(6, field(3, 80))
            + field(8, field(2, field(1, "cpu") + field(2, field(1, "100m"))))
            + field(10, field(1, field(2, HTTP_GET)) + field(2, 3)),
        )
        + field(4, -1)
        + field(11, 0)
        + field(25, 7)
        + field(36, field(1, "linux")),
    ),
)


def test_a_pod_is_read_with_its_maps_times_quantities_and_embedded_messages() -> None:
    assert decode_protobuf(POD) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web",
            "namespace": "default",
            "deletionTimestamp": "2023-11-14T22:13:20Z",
            "labels": {"app": "web"},
        },
        "spec": {
            "volumes": [{"name": "v", "hostPath": {"path": "/data"}}],
            "containers": [
                {
                    "name": "main",
                    "image": "nginx",
                    "ports": [{"containerPort": 80}],
                    "resources": {"requests": {"cpu": "100m"}},
                    "livenessProbe": {"httpGet": {"path": "/", "port": 8080}, "initialDelaySeconds": 3},
                }
            ],
            "terminationGracePeriodSeconds": -1,
            "hostNetwork": False,
            "priority": 7,
            "os": {"name": "linux"},
        },
    }


def test_a_lease_has_microseconds() -> None:
    spec = field(1, "me") + field(2, 15) + field(4, field(1, 1_700_000_000) + field(2, 123_456_789))
    lease = decode_protobuf(encoded("coordination.k8s.io/v1", "Lease", field(2, spec)))
    assert lease["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "renewTime": "2023-11-14T22:13:20.123456Z",
    }


def test_a_claim_is_read_as_the_scheduler_writes_it() -> None:
    result = field(1, "gpu") + field(2, "d.example.com") + field(3, "p") + field(4, "d0")
    parameters = field(1, "d.example.com") + field(2, field(1, '{"a": 1}'))
    config = field(1, "FromClass") + field(3, field(1, parameters))
    user = field(3, "pods") + field(4, "web") + field(5, "u-1")
    status = field(1, field(1, field(1, result) + field(2, config))) + field(2, user)
    claim = decode_protobuf(encoded("resource.k8s.io/v1", "ResourceClaim", field(3, status)))
    opaque = {"driver": "d.example.com", "parameters": {"a": 1}}
    assert claim["status"] == {
        "allocation": {
            "devices": {
                "results": [{"request": "gpu", "driver": "d.example.com", "pool": "p", "device": "d0"}],
                "config": [{"source": "FromClass", "opaque": opaque}],
            }
        },
        "reservedFor": [{"resource": "pods", "name": "web", "uid": "u-1"}],
    }


def test_a_body_without_a_type_has_the_type_that_the_path_implies() -> None:
    body = MAGIC + field(2, field(2, field(1, "Node") + field(3, "n1")))
    assert decode_protobuf(body, ("v1", "Binding"))["target"] == {"kind": "Node", "name": "n1"}
    with pytest.raises(ManifestError, match="not read in Protocol Buffers"):
        decode_protobuf(body)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty data"),
        (MAGIC, "empty body"),
        (b"{}", "expected prefix [107 56 115 0]"),
        (MAGIC + b"\x07", "illegal wireType 7"),
        (MAGIC + b"\xff" * 20, "integer overflow"),
        (encoded("v1", "Pod", field(1, 5)), "wrong wireType = 0"),
        (encoded("v1", "Pod", field(2, field(4, "text"))), "wrong wireType = 2"),
        (encoded("v1", "Pod", field(1, field(1, b"\xff"))), "not UTF-8"),
        (encoded("example.com/v1", "Widget", b""), "Widget of example.com/v1 is not read"),
    ],
)
def test_a_wrong_body_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ManifestError, match=re.escape(message)):
        decode_protobuf(data)


@given(st.integers(0, len(POD)), st.integers(0, 255))
def test_a_changed_or_cut_off_body_is_an_object_or_an_error(place: int, byte: int) -> None:
    for data in (POD[:place], POD[:place] + bytes([byte]) + POD[place + 1 :]):
        try:
            decode_protobuf(data)
        except ManifestError:
            continue


def test_a_list_in_a_map_is_read() -> None:
    extra = field(5, field(1, "scopes") + field(2, field(1, "a") + field(1, "b")))
    review = decode_protobuf(encoded("authorization.k8s.io/v1", "SubjectAccessReview", field(2, extra)))
    assert review["spec"] == {"extra": {"scopes": ["a", "b"]}}
