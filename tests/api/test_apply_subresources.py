"""Server-side apply of the subresources ``scale`` and ``status``, and the owners of the fields afterwards."""

import json
from typing import Any

from .asking import request

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]},
        },
    },
}


def apply(url: str, path: str, manager: str, body: Any, query: str = "") -> tuple[int, Any]:
    address = f"{url}{DEPLOYMENTS}/{path}?fieldManager={manager}{query}"
    return request(address, "PATCH", json.dumps(body), APPLY)


def scale(replicas: int, **metadata: str) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web", **metadata},
        "spec": {"replicas": replicas},
    }


def owners(url: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    _, found = request(f"{url}{DEPLOYMENTS}/web")
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry
        for entry in found["metadata"]["managedFields"]
    }


def test_an_applied_scale_owns_the_replicas(url: str) -> None:
    assert apply(url, "web", "alpha", DEPLOYMENT)[0] == 201
    code, refused = apply(url, "web/scale", "scaler", scale(5))
    assert (code, refused["reason"]) == (409, "Conflict")
    assert refused["message"] == ('Apply failed with 1 conflict: conflict with "alpha": .spec.replicas')
    code, shown = apply(url, "web/scale", "scaler", scale(5), "&force=true")
    assert (code, shown["kind"], shown["spec"]) == (200, "Scale", {"replicas": 5})
    assert request(f"{url}{DEPLOYMENTS}/web")[1]["spec"]["replicas"] == 5
    found = owners(url)
    assert {*found} == {("alpha", "Apply", ""), ("scaler", "Apply", "scale")}
    assert "f:replicas" not in found["alpha", "Apply", ""]["fieldsV1"]["f:spec"]
    entry = found["scaler", "Apply", "scale"]
    assert entry["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert (entry["apiVersion"], "time" in entry) == ("apps/v1", False)
    # Again: nothing changes.
    before = request(f"{url}{DEPLOYMENTS}/web")[1]["metadata"]["resourceVersion"]
    assert apply(url, "web/scale", "scaler", scale(5))[0] == 200
    assert request(f"{url}{DEPLOYMENTS}/web")[1]["metadata"]["resourceVersion"] == before
    assert apply(url, "web", "alpha", DEPLOYMENT)[1]["message"] == (
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.replicas'
    )


def test_a_wrong_applied_scale_is_refused(url: str) -> None:
    assert apply(url, "none/scale", "scaler", scale(5))[0] == 404
    apply(url, "web", "alpha", DEPLOYMENT)
    assert apply(url, "web/scale", "scaler", DEPLOYMENT)[0] == 400
    assert apply(url, "web/scale", "alpha", scale(5, name="other"), "&force=true")[0] == 400
    assert apply(url, "web/scale", "alpha", scale(-1), "&force=true")[0] == 422
    code, refused = apply(url, "web/scale", "alpha", scale(5, namespace="other"), "&force=true")
    assert (code, refused["message"]) == (
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    )
    assert request(f"{url}{DEPLOYMENTS}/web")[1]["spec"]["replicas"] == 2


def test_an_applied_status_has_its_own_owner(url: str) -> None:
    apply(url, "web", "alpha", DEPLOYMENT)
    status = {key: DEPLOYMENT[key] for key in ("apiVersion", "kind", "metadata")}
    code, shown = apply(url, "web/status", "controller", {**status, "status": {"replicas": 2}})
    assert (code, shown["status"]["replicas"], shown["spec"]["replicas"]) == (200, 2, 2)
    assert owners(url)["controller", "Apply", "status"]["fieldsV1"] == {"f:status": {"f:replicas": {}}}
    assert "status" not in [each[2] for each in owners(url) if each[0] == "alpha"]


def test_an_applied_scale_without_replicas_gives_them_up(url: str) -> None:
    assert apply(url, "web", "alpha", DEPLOYMENT)[0] == 201
    assert apply(url, "web/scale", "scaler", scale(5), "&force=true")[0] == 200
    empty = {**scale(0), "spec": {}}
    code, shown = apply(url, "web/scale", "scaler", empty)
    assert (code, shown["spec"]) == (200, {})
    assert request(f"{url}{DEPLOYMENTS}/web")[1]["spec"]["replicas"] == 0
