"""What a sandbox answers as a server: its health, reviews where all may do all, service accounts' tokens."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, Store
from simulator.apiserver.admission import MAX_COPIES


def ask(url: str, body: object = None) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data=data, headers={"Content-Type": "application/json"})
    try:
        with urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refused:
        return refused.code, refused.read().decode()


def test_the_checks_of_a_sandbox(url: str) -> None:
    for path in ("healthz", "livez", "readyz", "livez/ping", "readyz/informer-sync"):
        assert ask(f"{url}/{path}") == (200, "ok")
    assert ask(f"{url}/livez?verbose") == (200, "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n")
    assert ask(f"{url}/livez?verbose&exclude=etcd&exclude=b&exclude=a")[1].splitlines() == [
        "[+]ping ok",
        "[+]log ok",
        "[+]etcd excluded: ok",
        'warn: some health checks cannot be excluded: no matches for "a","b"',
        "livez check passed",
    ]
    assert ask(f"{url}/livez/informer-sync") == (404, "404 page not found\n")


def test_where_nobody_owns_a_sandbox_everybody_may_do_everything(url: str) -> None:
    base = f"{url}/apis/authorization.k8s.io/v1"
    spec = {"user": "anybody", "nonResourceAttributes": {"path": "/x", "verb": "post"}}
    code, text = ask(f"{base}/subjectaccessreviews", {"spec": spec})
    assert (code, json.loads(text)["status"]) == (201, {"allowed": True})
    code, text = ask(f"{base}/subjectaccessreviews", {"spec": {}, "metadata": {"name": "x"}})
    assert code == 422
    assert [cause["field"] for cause in json.loads(text)["details"]["causes"]] == [
        "spec.resourceAttributes",
        "spec.user",
        "metadata",
    ]


def test_a_service_account_has_no_token(url: str) -> None:
    accounts = f"{url}/api/v1/namespaces/default/serviceaccounts"
    token = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    code, text = ask(f"{accounts}/builder/token", token)
    assert (code, json.loads(text)["reason"]) == (404, "NotFound")
    ask(accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "builder"}})
    code, text = ask(f"{accounts}/builder/token", token)
    assert (code, json.loads(text)["reason"]) == (400, "BadRequest")
    assert "issues no tokens" in json.loads(text)["message"]


def test_a_new_sandbox_has_what_servers_read_when_they_start(store: Store, sandbox_name: str) -> None:
    key = "kube-system/extension-apiserver-authentication"
    given = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
        "data": {"client-ca-file": "x"},
    }
    full = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}}
        for number in range(MAX_COPIES)
    ]
    for manifests, data in (([], None), ([given], {"client-ca-file": "x"}), (full, None)):
        sandbox = create_sandbox(
            store, Meta(sandbox_name), manifests, Clock(sim=0, wall=0, paused=True), names=[sandbox_name]
        )
        try:
            found = sandbox.get("configmaps", key)
            assert found is not None
            assert found.get("data") == data
            assert int(sandbox.list("namespaces").items[0]["metadata"]["resourceVersion"]) > 100
        finally:
            store.delete(sandbox_name)
