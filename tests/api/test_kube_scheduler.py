"""The requests that kube-scheduler v1.34 sends with its default content type, as docs/GUEST.md lists them.
All must be accepted, and answered in Protocol Buffers."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from simulator.apiserver.protobuf import decode_protobuf
from tests.api.asking import PODS, pod_json
from tests.apiserver.test_protobuf import encoded, field
from tests.waiting import PATIENCE

ACCEPT = {"Accept": "application/vnd.kubernetes.protobuf,application/json"}
PROTOBUF = ACCEPT | {"Content-Type": "application/vnd.kubernetes.protobuf"}
JSON = {"Content-Type": "application/json"}
STRATEGIC = ACCEPT | {"Content-Type": "application/strategic-merge-patch+json"}
INFORMERS = (
    "api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&",
    "api/v1/nodes?",
    "api/v1/namespaces?",
    "api/v1/services?",
    "api/v1/replicationcontrollers?",
    "api/v1/persistentvolumes?",
    "api/v1/persistentvolumeclaims?",
    "apis/apps/v1/replicasets?",
    "apis/apps/v1/statefulsets?",
    "apis/policy/v1/poddisruptionbudgets?",
    "apis/storage.k8s.io/v1/storageclasses?",
    "apis/storage.k8s.io/v1/csinodes?",
    "apis/storage.k8s.io/v1/csidrivers?",
    "apis/storage.k8s.io/v1/csistoragecapacities?",
    "apis/storage.k8s.io/v1/volumeattachments?",
    "apis/resource.k8s.io/v1/resourceclaims?",
    "apis/resource.k8s.io/v1/resourceslices?",
    "apis/resource.k8s.io/v1/deviceclasses?",
)
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
NOW = field(1, 1_735_689_600) + field(2, 5_000)
"""A time."""


def request(
    url: str, method: str = "GET", body: str | bytes | None = None, headers: Mapping[str, str] = {}
) -> tuple[int, Any]:
    """The status, and the object; None of a list."""
    data = body.encode() if isinstance(body, str) else body
    asked = urllib.request.Request(url, data, {**ACCEPT, **headers}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE) as response:
            assert response.headers["Content-Type"] == PROTOBUF["Content-Type"]
            found = response.read()
            return response.status, None if "?" in url else decode_protobuf(found)
    except urllib.error.HTTPError as error:
        return error.code, None


def a_lease(version: str = "", renewed: int = 0) -> bytes:
    metadata = field(1, "kube-scheduler") + field(3, "kube-system") + (field(6, version) if version else b"")
    spec = (
        field(1, "host_1")
        + field(2, 15)
        + field(3, NOW)
        + field(4, field(1, 1_735_689_600 + renewed))
        + field(5, 0)
    )
    return encoded("coordination.k8s.io/v1", "Lease", field(1, metadata) + field(2, spec))


def test_the_informers_of_kube_scheduler_list_their_kinds(url: str) -> None:
    for path in INFORMERS:
        listed = request(f"{url}/{path}limit=500&resourceVersion=0")
        assert listed[0] == 200, path


def test_the_lease_of_kube_scheduler_is_created_and_renewed(url: str) -> None:
    assert request(f"{url}{LEASES}/kube-scheduler")[0] == 404
    status, created = request(url + LEASES, "POST", a_lease(), PROTOBUF)
    assert status == 201
    version = created["metadata"]["resourceVersion"]
    assert request(f"{url}{LEASES}/kube-scheduler", "PUT", a_lease(version, 2), PROTOBUF)[0] == 200
    assert request(f"{url}{LEASES}/kube-scheduler", "PUT", a_lease(version, 4), PROTOBUF)[0] == 409


def test_kube_scheduler_binds_reports_and_preempts(url: str) -> None:
    uid = request(url + PODS, "POST", pod_json(), JSON)[1]["metadata"]["uid"]
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu.",
        "lastProbeTime": None,
        "lastTransitionTime": "2025-01-01T00:00:00Z",
    }
    patch = {
        "metadata": {"uid": uid},
        "status": {
            "$setElementOrder/conditions": [{"type": "PodScheduled"}],
            "conditions": [condition],
            "nominatedNodeName": "n1",
        },
    }
    status, patched = request(f"{url}{PODS}/web/status", "PATCH", json.dumps(patch), STRATEGIC)
    assert (status, patched["status"]["nominatedNodeName"]) == (200, "n1")

    about = field(1, "Pod") + field(2, "default") + field(3, "web") + field(4, uid) + field(5, "v1")
    event = (
        field(1, field(1, "web.1") + field(3, "default"))
        + field(2, NOW)
        + field(4, "default-scheduler")
        + field(5, "default-scheduler-host")
        + field(6, "Scheduling")
        + field(7, "FailedScheduling")
        + field(8, about)
        + field(10, condition["message"] or "")
        + field(11, "Warning")
    )
    body = encoded("events.k8s.io/v1", "Event", event)
    status, created = request(url + EVENTS, "POST", body, PROTOBUF)
    assert (status, created["reason"]) == (201, "FailedScheduling")
    series = json.dumps({"series": {"count": 2, "lastObservedTime": "2025-01-01T00:00:01.000000Z"}})
    assert request(f"{url}{EVENTS}/web.1", "PATCH", series, STRATEGIC)[0] == 200

    target = field(1, field(1, "web") + field(3, "default") + field(5, uid)) + field(
        2, field(1, "Node") + field(3, "n1")
    )
    binding = encoded("v1", "Binding", target)
    assert request(f"{url}{PODS}/web/binding", "POST", binding, PROTOBUF)[0] == 201
    options = encoded("v1", "DeleteOptions", field(2, field(1, uid)))
    assert request(f"{url}{PODS}/web", "DELETE", options, PROTOBUF)[0] == 200
