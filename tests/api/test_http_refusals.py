"""The refused requests, at the level of HTTP."""

from typing import NamedTuple

import pytest

from schedviz.store import Store
from tests.api.asking import POD, PODS, pod_json, request

JOBS = "/apis/batch/v1/namespaces/default/jobs"
NAMESPACE = "/api/v1/namespaces/kube-node-lease"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
JOB = '{"metadata": {"name": "j"}, "spec": null}'
TOO_LONG = 1_000_000_000_000
"""A number of seconds whose end in microseconds cannot be stored."""
GRACE = f'"gracePeriodSeconds": {TOO_LONG}'


class Refusal(NamedTuple):
    """A request and its response."""

    method: str
    path: str
    status: int
    reason: str
    words: str
    body: str | bytes | None = None
    content_type: str = "application/json"


REFUSALS = [
    Refusal("GET", "/api/v1/widgets", 404, "NotFound", "could not find the requested resource"),
    Refusal("GET", "/apis/apps/v2/deployments", 404, "NotFound", "could not find"),
    Refusal("GET", "/api/v1/pods/web", 404, "NotFound", "could not find"),
    Refusal("GET", "/api/v1/namespaces/default/nodes", 404, "NotFound", "could not find"),
    Refusal("GET", "/api//v1", 404, "NotFound", "could not find"),
    Refusal("GET", PODS + "/web/metrics", 404, "NotFound", "could not find"),
    Refusal("GET", PODS + "/web/log", 404, "NotFound", 'pods "web" not found'),
    Refusal("PUT", PODS, 405, "MethodNotAllowed", "does not allow this method", body="{}"),
    Refusal("POST", "/api/v1/pods", 405, "MethodNotAllowed", "does not allow this method", body=pod_json()),
    Refusal("POST", "/apis", 405, "MethodNotAllowed", "does not allow this method", body="{}"),
    Refusal(
        "POST",
        PODS,
        415,
        "UnsupportedMediaType",
        "yaml",
        body=POD,
        content_type="application/x-www-form-urlencoded",
    ),
    Refusal(
        "PATCH",
        "/api/v1/nodes/n",
        404,
        "NotFound",
        'nodes "n" not found',
        body="{}",
        content_type="application/merge-patch+json",
    ),
    Refusal("PATCH", "/api/v1/nodes/n", 415, "UnsupportedMediaType", "415: Unsupported", body="{}"),
    Refusal(
        "PATCH", "/api/v1/namespaces/default", 415, "UnsupportedMediaType", "415: Unsupported", body="{}"
    ),
    Refusal("GET", PODS + "?fieldSelector=spec.image=x", 400, "BadRequest", "field label not supported"),
    Refusal("GET", PODS + "?limit=some", 400, "BadRequest", "invalid syntax"),
    Refusal(
        "GET",
        PODS + "?timeout=soon",
        400,
        "BadRequest",
        'invalid timeout specified in the request URL - time: invalid duration "soon"',
    ),
    Refusal("POST", PODS + "?timeout=5", 400, "BadRequest", 'missing unit in duration "5"', body=POD),
    Refusal("GET", PODS + "?limit=", 400, "BadRequest", 'strconv.ParseInt: parsing "": invalid syntax'),
    Refusal("POST", PODS + "?dryRun=Some", 422, "Invalid", "dryRun", body=pod_json()),
    Refusal("POST", PODS + "?fieldValidation=Loose", 422, "Invalid", '"Ignore"', body=pod_json()),
    Refusal("POST", PODS + f"?fieldManager={'x' * 129}", 422, "Invalid", "Too long", body=pod_json()),
    Refusal("POST", PODS + "?fieldManager=a%09b", 422, "Invalid", "U+0009", body=pod_json()),
    Refusal("POST", PODS, 400, "BadRequest", "unexpected end of JSON input (<empty>)", body=""),
    Refusal("POST", PODS, 400, "BadRequest", "unexpected end of JSON input", body='{"metadata": '),
    Refusal("POST", PODS, 400, "BadRequest", "invalid character 'a' looking for beginning", body="a: b: c"),
    Refusal("POST", PODS, 400, "BadRequest", "unexpected end of JSON input", body="[" * 30_000),
    Refusal("POST", PODS, 400, "BadRequest", "nested deeper than", body="[" * 30_000 + "]" * 30_000),
    Refusal("POST", PODS, 400, "BadRequest", "nested deeper than", body='{"a":' * 9_000 + "1" + "}" * 9_000),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        "yaml: mapping values are not allowed in this context",
        body="a: b: c",
        content_type="application/yaml",
    ),
    Refusal("POST", PODS, 400, "BadRequest", "not UTF-8", body=b"\xff\xfe"),
    Refusal(
        "POST",
        PODS,
        413,
        "RequestEntityTooLarge",
        "Request entity too large: limit is 3145728",
        body="x" * 5_000_000,
    ),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        "cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta",
        body='{"metadata": 5}',
    ),
    Refusal(
        "POST",
        PODS + "?fieldValidation=Strict",
        400,
        "BadRequest",
        'strict decoding error: unknown field "spec.nodName"',
        body=pod_json(nodName="n"),
    ),
    Refusal(
        "POST",
        PODS,
        403,
        "Forbidden",
        "no PriorityClass with name nope",
        body=pod_json(priorityClassName="nope"),
    ),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        'Node in version "v1" cannot be handled as a Pod',
        body='{"kind": "Node", "metadata": {"name": "n"}}',
    ),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        "does not match the namespace",
        body='{"metadata": {"namespace": "other"}}',
    ),
    Refusal("DELETE", PODS + "/gone", 404, "NotFound", 'pods "gone" not found'),
    Refusal("DELETE", "/api/v1/namespaces/default", 403, "Forbidden", "may not be deleted"),
    Refusal("DELETE", PODS + "/gone", 500, "", 'no kind "Pod" is registered', body='{"kind": "Pod"}'),
    Refusal("DELETE", PODS + "/gone", 500, "", "unexpected end of JSON input", body='{"kind": '),
    Refusal(
        "DELETE", PODS + "/gone", 500, "", "cannot unmarshal string into", body='{"orphanDependents": "a"}'
    ),
    Refusal("DELETE", PODS + "/gone", 404, "NotFound", 'pods "gone" not found', body='{"grace": 1}'),
    Refusal("DELETE", PODS + "/gone?gracePeriodSeconds=soon", 400, "BadRequest", "invalid syntax"),
    Refusal("DELETE", PODS + f"/gone?gracePeriodSeconds={TOO_LONG}", 422, "Invalid", "less than or equal to"),
    Refusal("DELETE", PODS + "/gone", 422, "Invalid", "less than or equal to", body=f"{{{GRACE}}}"),
    Refusal(
        "POST",
        PODS + "/web/eviction",
        422,
        "Invalid",
        "less than or equal to",
        body=f'{{"metadata": {{"name": "web"}}, "deleteOptions": {{{GRACE}}}}}',
    ),
    Refusal("POST", PODS + "/web/eviction", 400, "BadRequest", "deleteOptions", body='{"deleteOptions": 5}'),
    Refusal("POST", PODS + "/web/eviction", 400, "BadRequest", "does not match name in Eviction", body="{}"),
    Refusal(
        "POST",
        PODS + "/web/binding",
        400,
        "BadRequest",
        "Go struct field Binding.target",
        body='{"target": "n"}',
    ),
    Refusal(
        "POST", PODS + "/web/binding", 400, "BadRequest", "target.name", body='{"target": {"name": ["n"]}}'
    ),
    Refusal("POST", PODS + "/web/binding", 400, "BadRequest", "does not match name in Binding", body="{}"),
    Refusal(
        "POST",
        PODS + "/web/eviction",
        422,
        "Invalid",
        'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]',
        body='{"metadata": {"name": "web"}, "deleteOptions": {"dryRun": ["Some"]}}',
    ),
    Refusal("POST", JOBS, 422, "Invalid", "spec.template.spec.containers: Required", body=JOB),
    Refusal(
        "POST",
        CRON_JOBS,
        422,
        "Invalid",
        "spec.schedule: Required value",
        body='{"metadata": {"name": "c"}, "spec": null}',
    ),
    Refusal(
        "PATCH",
        "/api/v1/namespaces/default",
        400,
        "BadRequest",
        "Go struct field jsonPatchOp.path of type string",
        body='[{"op": "add", "path": 5, "value": 1}]',
        content_type="application/json-patch+json",
    ),
    Refusal(
        "PATCH",
        "/api/v1/namespaces/default?fieldValidation=Ignore",
        422,
        "Invalid",
        "due to an error in our request",
        body='[{"op": "add", "path": 5, "value": 1}]',
        content_type="application/json-patch+json",
    ),
    Refusal(
        "DELETE",
        PODS + "/gone?propagationPolicy=Sideways",
        422,
        "Invalid",
        'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", ',
    ),
    Refusal(
        "DELETE",
        PODS + "/gone",
        422,
        "Invalid",
        'cannot be both set, propagationPolicy: Unsupported value: "Sideways": supported values: '
        '"Foreground", "Background", "Orphan", "nil", dryRun: Unsupported value: ["Some"]: supported ',
        body='{"propagationPolicy": "Sideways", "orphanDependents": true, "dryRun": ["Some"]}',
    ),
    Refusal(
        "DELETE", PODS + "?propagationPolicy=", 422, "Invalid", 'Unsupported value: "": supported values'
    ),
    Refusal("DELETE", PODS + "?limit=a&propagationPolicy=Sideways", 400, "BadRequest", 'parsing "a"'),
    Refusal(
        "DELETE",
        PODS + "/gone",
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format",
        body="{}",
        content_type="text/plain",
    ),
    Refusal(
        "DELETE", NAMESPACE + "?uid=other", 409, "Conflict", "Precondition failed: UID in precondition: other"
    ),
    Refusal(
        "DELETE",
        NAMESPACE + "?resourceVersion=1000",
        409,
        "Conflict",
        "Precondition failed: ResourceVersion in precondition: 1000",
    ),
    Refusal(
        "PUT",
        PODS + "/gone",
        409,
        "Conflict",
        'pods "gone": StorageError: invalid object, Code: 4, Key: /registry/pods/default/gone, Resource'
        "Version: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: u, UID in object meta: ",
        body='{"metadata": {"name": "gone", "uid": "u"}}',
    ),
    Refusal(
        "PUT",
        "/apis/apps/v1/namespaces/default/deployments/gone/scale",
        409,
        "Conflict",
        "Key: /registry/deployments/default/gone",
        body='{"metadata": {"name": "gone", "uid": "u"}}',
    ),
    Refusal(
        "PUT",
        "/api/v1/namespaces/default",
        409,
        "Conflict",
        "Key: /registry/namespaces/default, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID",
        body='{"metadata": {"name": "default", "uid": "u"}}',
    ),
    Refusal(
        "PATCH",
        "/api/v1/namespaces/default",
        422,
        "Invalid",
        'metadata.uid: Invalid value: "u": field is immutable',
        body='{"metadata": {"uid": "u"}}',
        content_type="application/merge-patch+json",
    ),
    Refusal(
        "POST",
        "/api/v1/namespaces/default/configmaps",
        422,
        "Invalid",
        "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
        body='{"metadata": {"name": "c", "generation": -1}}',
    ),
    Refusal(
        "PATCH",
        "/api/v1/namespaces/default",
        500,
        "",
        'strconv.ParseUint: parsing "soon": invalid syntax',
        body='{"metadata": {"resourceVersion": "soon"}}',
        content_type="application/merge-patch+json",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case.method} {case.status} {case.words}")
def test_each_refusal_is_a_status_and_nothing_is_stored(
    store: Store, cluster: str, url: str, case: Refusal
) -> None:
    before = store.sandbox(cluster).version()
    code, answer = request(url + case.path, case.method, case.body, {"Content-Type": case.content_type})
    assert (code, answer["kind"], answer["code"]) == (case.status, "Status", case.status)
    assert answer.get("reason", "") == case.reason
    assert case.words in answer["message"]
    assert store.sandbox(cluster).version() == before


def test_the_status_of_a_budget_is_replaced_and_patched_at_a_version_only(url: str) -> None:
    budgets = f"{url}/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    given = '{"metadata": {"name": "b"}, "spec": {"minAvailable": 1}}'
    assert request(budgets, "POST", given)[0] == 201
    for method, path, body, kind in (
        ("PUT", "/b/status", given, "application/json"),
        ("PATCH", "/b", '{"metadata": {"resourceVersion": null}}', "application/merge-patch+json"),
    ):
        code, answer = request(budgets + path, method, body, {"Content-Type": kind})
        assert code == 422
        assert answer["message"].endswith("Invalid value: 0: must be specified for an update")


def test_an_unknown_sandbox_is_not_found(server: str) -> None:
    for path in ("/api/v1/pods", "/apis", "/version", "/trace"):
        code, answer = request(f"{server}/s/nowhere{path}")
        assert (code, answer["message"]) == (404, 'sandboxes "nowhere" not found')
