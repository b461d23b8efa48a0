"""Requests in Protocol Buffers over HTTP."""

from schedviz.api.body import PROTOBUF
from tests.api.asking import PODS, pod_json, request
from tests.apiserver.test_protobuf import encoded, field

HEADERS = {"Content-Type": PROTOBUF}


def test_a_client_writes_in_protocol_buffers_and_is_answered_in_json(url: str) -> None:
    request(url + PODS, "POST", pod_json())
    binding = encoded(
        "v1", "Binding", field(1, field(1, "web")) + field(2, field(1, "Node") + field(3, "n1"))
    )
    assert request(f"{url}{PODS}/web/binding", "POST", binding, HEADERS)[0] == 201
    assert request(f"{url}{PODS}/web")[1]["spec"]["nodeName"] == "n1"
    options = encoded("v1", "DeleteOptions", field(1, 7))
    deleted = request(f"{url}{PODS}/web", "DELETE", options, HEADERS)[1]
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 7
    leases = f"{url}/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = encoded("coordination.k8s.io/v1", "Lease", field(1, field(1, "l")) + field(2, field(1, "me")))
    status, created = request(leases, "POST", lease, HEADERS)
    assert (status, created["spec"]) == (201, {"holderIdentity": "me"})


def test_bodies_in_unsupported_protocol_buffers_are_refused(url: str) -> None:
    path = url + "/apis/example.com/v1/namespaces/default/widgets"
    for body, wanted in ((b"{}", 400), (encoded("example.com/v1", "Widget", b""), 415)):
        status, answer = request(path, "POST", body, HEADERS)
        assert (status, answer["kind"]) == (wanted, "Status")


def test_wrong_bodies_in_protocol_buffers_are_refused_as_those_in_json(url: str) -> None:
    path = f"{url}/api/v1/namespaces/default/configmaps"
    unrecognized = "the object provided is unrecognized (must be of type ConfigMap): "
    handled = 'in version "v1" cannot be handled as a ConfigMap: '
    prefix = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    for body, message in (
        (b"", f"{unrecognized}empty data (<empty>)"),
        (b"{}", f"{unrecognized}{prefix} ({{}})"),
        (b"k8s\x00", f"{unrecognized}empty body (6b387300)"),
        (b"k8s\x00\x0a", f"{unrecognized}unexpected EOF (6b3873000a)"),
        (encoded("v1", "ConfigMap", b"\x0a"), f"ConfigMap {handled}"),
        (
            encoded("v1", "Foo", b""),
            'Foo in version "v1" cannot be handled as a ConfigMap: no kind "Foo" is ',
        ),
    ):
        status, answer = request(path, "POST", body, HEADERS)
        assert (status, answer["reason"]) == (400, "BadRequest")
        assert answer["message"].startswith(message)
