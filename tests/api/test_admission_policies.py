"""Admission policies over HTTP: denials, warnings, and the requests that are not writes of an object; and
requests for certificates."""

import json
import urllib.error
import urllib.request
from typing import Any

from tests.api.asking import PODS
from tests.apiserver.cluster import pod
from tests.apiserver.test_admission_policies import binding, policy
from tests.apiserver.test_refusals import read
from tests.waiting import PATIENCE

OBJECTS = read("control_plane")["objects"]
GROUP = "/apis/admissionregistration.k8s.io/v1"


def send(url: str, method: str, body: Any = None) -> tuple[int, Any, str]:
    """The status, the body, and the warnings."""
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE) as response:
            return response.status, json.load(response), response.headers.get("Warning", "")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()), error.headers.get("Warning", "")


def install(url: str, of_policy: Any, **of_binding: Any) -> None:
    assert send(f"{url}{GROUP}/validatingadmissionpolicies", "POST", of_policy)[0] == 201
    bound = binding(**of_binding)
    assert send(f"{url}{GROUP}/validatingadmissionpolicybindings", "POST", bound)[0] == 201


def test_a_denied_request_stores_nothing(url: str) -> None:
    install(url, policy("request.dryRun", validation={"message": "only to try"}))
    assert send(f"{url}{PODS}?dryRun=All", "POST", pod())[0] == 201
    status, refused, _ = send(url + PODS, "POST", pod())
    assert (status, refused["reason"]) == (422, "Invalid")
    denial = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: only to try"
    assert refused["message"] == f'pods "web" is forbidden: {denial}'
    assert send(f"{url}{PODS}/web", "GET")[0] == 404


def test_warnings_are_headers(url: str) -> None:
    install(url, policy(resources=("pods", "pods/*"), validation={"message": "mind"}), actions=("Warn",))
    warning = "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': mind\""
    status, created, warned = send(url + PODS, "POST", pod())
    assert (status, warned) == (201, warning)
    changed = {**created, "metadata": {**created["metadata"], "labels": {"a": "b"}}}
    assert send(f"{url}{PODS}/web", "PUT", changed)[2] == warning
    target = {"kind": "Node", "name": "n"}
    bound = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": target}
    assert send(f"{url}{PODS}/web/binding", "POST", bound)[::2] == (201, warning)
    evicted = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    assert send(f"{url}{PODS}/web/eviction", "POST", evicted)[::2] == (201, warning)
    assert send(f"{url}{PODS}/web?gracePeriodSeconds=0", "DELETE")[2] == warning


def test_bindings_evictions_and_deletions_may_be_denied(url: str) -> None:
    assert send(url + PODS, "POST", pod())[0] == 201
    expression = "request.operation == 'CREATE' && !(object.kind in ['Binding', 'Eviction'])"
    install(url, policy(expression, resources=("pods", "pods/binding", "pods/eviction")))
    target = {"kind": "Node", "name": "n"}
    bound = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": target}
    assert send(f"{url}{PODS}/web/binding", "POST", bound)[0] == 422
    evicted = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    assert send(f"{url}{PODS}/web/eviction", "POST", evicted)[0] == 422
    status, refused, _ = send(f"{url}{PODS}/web", "DELETE")
    assert (status, refused["details"]["kind"]) == (422, "pods")
    assert send(f"{url}{PODS}/web", "GET")[0] == 200


def test_a_request_for_a_certificate_is_approved_by_its_subresource(url: str) -> None:
    requests = f"{url}/apis/certificates.k8s.io/v1/certificatesigningrequests"
    status, made, _ = send(requests, "POST", OBJECTS["request"])
    assert (status, made["spec"]["username"]) == (201, "system:anonymous")
    approved = {**made, "status": {"conditions": [{"type": "Approved", "status": "True", "reason": "Mine"}]}}
    status, stored, _ = send(f"{requests}/somebody:1/approval", "PUT", approved)
    assert status == 200
    [condition] = stored["status"]["conditions"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] != ""
    status, refused, _ = send(f"{requests}/somebody:1/approval", "PUT", {**stored, "status": {}})
    assert status == 422
    assert 'updates may not remove a condition of type "Approved"' in refused["message"]
    _, found, _ = send(f"{requests}?fieldSelector=spec.signerName%3Dexample.com/signer", "GET")
    assert len(found["items"]) == 1
    _, listed, _ = send(f"{url}/apis/certificates.k8s.io/v1", "GET")
    assert [each["name"] for each in listed["resources"]] == [
        "certificatesigningrequests",
        "certificatesigningrequests/approval",
        "certificatesigningrequests/status",
    ]
