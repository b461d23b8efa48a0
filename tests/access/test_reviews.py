"""The reviews that say what a user may do."""

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client

from schedviz.api.body import PROTOBUF

from .conftest import Scene

REVIEWS = "apis/authorization.k8s.io/v1"


def ask(client: Client, sandbox: str, plural: str, spec: dict[str, Any]) -> dict[str, Any]:
    authenticates = plural in ("selfsubjectreviews", "tokenreviews")
    group = "authentication.k8s.io" if authenticates else "authorization.k8s.io"
    body = {"spec": spec} if spec else {}
    answer = client.post(f"/s/{sandbox}/apis/{group}/v1/{plural}", body, "application/json")
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = json.loads(answer.content)
    return found


def may(client: Client, sandbox: str, verb: str, resource: str = "pods", group: str = "") -> bool:
    attributes = {"verb": verb, "resource": resource, "group": group, "namespace": "default"}
    review = ask(client, sandbox, "selfsubjectaccessreviews", {"resourceAttributes": attributes})
    assert (review["kind"], review["apiVersion"]) == ("SelfSubjectAccessReview", "authorization.k8s.io/v1")
    # The core group is the empty string, which kube-apiserver leaves out.
    sent = {name: value for name, value in attributes.items() if value}
    assert review["spec"] == {"resourceAttributes": sent}
    return bool(review["status"]["allowed"])


def test_the_answer_is_what_the_server_does(scene: Scene) -> None:
    viewer, editor = scene.clients["viewer"], scene.clients["editor"]
    pods = f"/s/{scene.own}/api/v1/namespaces/default/pods"
    requests = {
        "list": lambda client: client.get(pods),
        "get": lambda client: client.get(f"{pods}/web"),
        "create": lambda client: client.post(pods, {}, "application/json"),
        "update": lambda client: client.put(f"{pods}/web", {}, "application/json"),
        "patch": lambda client: client.patch(f"{pods}/web", {}, "application/json"),
        "delete": lambda client: client.delete(f"{pods}/web"),
        "deletecollection": lambda client: client.delete(pods),
    }
    for client, verbs in (
        (viewer, {"list", "get"}),
        (editor, {*requests}),
        (scene.clients["owner"], {*requests}),
    ):
        for verb, request in requests.items():
            answer: HttpResponse = request(client)
            assert (answer.status_code != 403) == (verb in verbs) == may(client, scene.own, verb), verb
    assert may(viewer, scene.own, "watch")
    assert not may(viewer, scene.own, "*")
    assert may(viewer, scene.own, "create", "selfsubjectaccessreviews", "authorization.k8s.io")


def test_paths_that_are_no_resources(scene: Scene) -> None:
    for verb, allowed in (("get", True), ("post", False)):
        spec = {"nonResourceAttributes": {"path": "/version", "verb": verb}}
        review = ask(scene.clients["viewer"], scene.own, "selfsubjectaccessreviews", spec)
        assert review["status"] == {"allowed": allowed}


def test_reviews_need_the_right_to_view_the_sandbox(scene: Scene) -> None:
    path = f"/s/{scene.own}/{REVIEWS}/selfsubjectaccessreviews"
    for who, code in (("stranger", 401), ("another owner", 403)):
        assert scene.clients[who].post(path, {}, "application/json").status_code == code


def test_a_wrong_review_is_refused(scene: Scene) -> None:
    client, base = scene.clients["viewer"], f"/s/{scene.own}/apis"

    def code(path: str, body: object, kind: str = "application/json") -> int:
        return client.post(f"{base}/{path}", body, kind).status_code

    both = {"spec": {"resourceAttributes": {}, "nonResourceAttributes": {}}}
    for body in ({}, both):
        assert code("authorization.k8s.io/v1/selfsubjectaccessreviews", body) == 422
    assert code("authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": 1}) == 400
    assert code("authorization.k8s.io/v1/selfsubjectaccessreviews", b"k8s", PROTOBUF) == 400
    assert code("authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {}}) == 422
    assert code("authorization.k8s.io/v1/subjectaccessreviews", {}) == 422
    assert code("authorization.k8s.io/v1/namespaces/default/subjectaccessreviews", {}) == 404
    assert code("authorization.k8s.io/v1/localsubjectaccessreviews", {}) == 405
    assert code("authentication.k8s.io/v1/tokenreviews", {"spec": {}}) == 400
    assert code("authorization.k8s.io/v1/selfsubjectreviews", {}) == 404
    assert client.get(f"{base}/authorization.k8s.io/v1/selfsubjectrulesreviews").status_code == 405


def test_the_rules_and_the_name_of_a_user(scene: Scene) -> None:
    rules = {
        who: ask(scene.clients[who], scene.own, "selfsubjectrulesreviews", {"namespace": "default"})["status"]
        for who in ("editor", "viewer")
    }
    assert rules["editor"]["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    assert {"verbs": ["get", "list", "watch"], "apiGroups": ["*"], "resources": ["*"]} in rules["viewer"][
        "resourceRules"
    ]
    assert not any("*" in rule["verbs"] for rule in rules["viewer"]["resourceRules"])
    names = {
        who: ask(scene.clients[who], scene.own, "selfsubjectreviews", {})["status"]["userInfo"]["username"]
        for who in ("owner", "editor", "viewer")
    }
    assert [name.rpartition(":")[0] for name in names.values()] == [
        "schedviz:owner",
        "schedviz:edit",
        "schedviz:view",
    ]
    room = ask(scene.clients["learner"], scene.room, "selfsubjectreviews", {})
    assert room["status"]["userInfo"]["username"] == f"schedviz:learner:{scene.code}-1"


def test_clients_discover_the_reviews(scene: Scene) -> None:
    client, base = scene.clients["viewer"], f"/s/{scene.own}/apis"
    groups = json.loads(client.get(base).content)["groups"]
    for group, kinds in (
        (
            "authorization.k8s.io",
            {
                "LocalSubjectAccessReview",
                "SelfSubjectAccessReview",
                "SelfSubjectRulesReview",
                "SubjectAccessReview",
            },
        ),
        ("authentication.k8s.io", {"SelfSubjectReview", "TokenReview"}),
    ):
        assert group in [each["name"] for each in groups]
        listed = json.loads(client.get(f"{base}/{group}/v1").content)
        assert {each["kind"] for each in listed["resources"]} == kinds
        assert json.loads(client.get(f"{base}/{group}").content)["versions"][0]["version"] == "v1"


def test_what_other_users_may_do(scene: Scene) -> None:
    client = scene.clients["viewer"]
    users = {
        who: ask(scene.clients[who], scene.own, "selfsubjectreviews", {})["status"]["userInfo"]["username"]
        for who in ("owner", "editor", "viewer")
    }
    for user, allowed in (
        (users["owner"], True),
        (users["editor"], True),
        (users["viewer"], False),
        ("schedviz:edit:none", False),
        ("system:serviceaccount:default:default", False),
    ):
        attributes = {"verb": "create", "resource": "pods", "namespace": "default"}
        spec = {"user": user, "resourceAttributes": attributes}
        review = ask(client, scene.own, "subjectaccessreviews", spec)
        assert (review["spec"], review["status"]) == (spec, {"allowed": allowed})
        local = ask(client, scene.own, "namespaces/default/localsubjectaccessreviews", spec)
        assert local["metadata"] == {"namespace": "default"}
        assert local["status"] == {"allowed": allowed}
    path = f"/s/{scene.own}/{REVIEWS}/namespaces/other/localsubjectaccessreviews"
    refused = client.post(path, {"spec": spec}, "application/json")
    assert json.loads(refused.content)["message"] == (
        'LocalSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: '
        'Invalid value: "default": must match metadata.namespace'
    )


def test_a_token_review_names_the_user(scene: Scene) -> None:
    client = scene.clients["viewer"]
    for right in ("edit", "view"):
        status = ask(client, scene.own, "tokenreviews", {"token": scene.tokens[right]})["status"]
        assert status["authenticated"] is True
        assert status["user"]["username"].startswith(f"schedviz:{right}:")
    for token in ("x", "x" * 4000):
        status = ask(client, scene.own, "tokenreviews", {"token": token})["status"]
        assert status == {"user": {}, "error": "invalid bearer token"}


def field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


KUBECTL: bytes = b"k8s\x00" + field(
    2,
    field(1, field(1, b""))
    + field(2, field(1, field(1, b"default") + field(2, b"create") + field(3, b"") + field(5, b"pods"))),
)
"""As kubectl sends it."""


def test_kubectl_asks_in_protocol_buffers(scene: Scene) -> None:
    path = f"/s/{scene.own}/{REVIEWS}/selfsubjectaccessreviews"
    for who, allowed in (("viewer", False), ("editor", True)):
        answer = scene.clients[who].post(path, KUBECTL, PROTOBUF)
        assert json.loads(answer.content)["status"] == {"allowed": allowed}
