"""A sandbox as a server: its health, reviews in open mode, and tokens of service accounts."""

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


def test_in_open_mode_reviews_allow_everything(url: str) -> None:
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


def test_curl_gets_indented_json_and_kubectl_one_line(url: str) -> None:
    def lines(query: str, agent: str) -> int:
        asked = Request(f"{url}/api/v1/namespaces/default{query}", headers={"User-Agent": agent})
        with urlopen(asked) as answer:
            text: str = answer.read().decode()
            return text.rstrip().count("\n")

    assert lines("", "kubectl/v1.34") == 0
    assert lines("", "curl/8.0") > 5
    assert lines("?pretty=false", "curl/8.0") == 0
    assert lines("?pretty=true", "kubectl/v1.34") > 5


def test_an_object_at_a_later_version_is_not_there_yet(url: str) -> None:
    code, text = ask(f"{url}/api/v1/namespaces/default?resourceVersion=999999")
    assert (code, json.loads(text)["details"]["causes"][0]["reason"]) == (504, "ResourceVersionTooLarge")


def test_fields_that_can_be_selected_differ_by_kind(url: str) -> None:
    core, slices = f"{url}/api/v1/namespaces/default", f"{url}/apis/resource.k8s.io/v1/resourceslices"
    for path in ("pods?fieldSelector=spec.host=n", "services?fieldSelector=spec.type=ClusterIP"):
        assert ask(f"{core}/{path}")[0] == 200
    assert ask(f"{core}/replicationcontrollers?fieldSelector=status.replicas=0")[0] == 200
    assert ask(f"{slices}?fieldSelector=spec.driver=d")[0] == 200
    for path, message in (
        (f"{core}/services?fieldSelector=spec.x=y", "field label not supported: spec.x"),
        (
            f"{slices}?fieldSelector=spec.pool=a",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.pool",
        ),
    ):
        code, text = ask(path)
        assert (code, json.loads(text)["message"]) == (400, message)


def test_a_custom_resource_has_fields_and_categories_of_its_definition(url: str) -> None:
    fields = {"color": {"type": "string"}, "size": {"type": "integer"}}
    spec = {"type": "object", "properties": fields}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lamps.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "lamps", "kind": "Lamp", "categories": ["all"]},
            "versions": [{**version, "selectableFields": [{"jsonPath": ".spec.color"}]}],
        },
    }
    assert ask(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)[0] == 201
    lamps = f"{url}/apis/example.com/v1/namespaces/default/lamps"
    for name, color in (("a", "red"), ("b", "blue")):
        ask(
            lamps,
            {
                "apiVersion": "example.com/v1",
                "kind": "Lamp",
                "metadata": {"name": name},
                "spec": {"color": color},
            },
        )
    _, text = ask(f"{lamps}?fieldSelector=spec.color=red")
    assert [item["metadata"]["name"] for item in json.loads(text)["items"]] == ["a"]
    code, text = ask(f"{lamps}?fieldSelector=spec.size=1")
    assert (code, json.loads(text)["message"]) == (400, "field label not supported: spec.size")
    _, text = ask(f"{url}/apis/example.com/v1")
    assert json.loads(text)["resources"][0]["categories"] == ["all"]
