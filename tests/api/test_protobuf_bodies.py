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
