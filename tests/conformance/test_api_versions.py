"""The causes for which v1.36.2 answers recorded stories otherwise than v1.34: both answers of each."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, Store
from simulator.api import SECOND, Manifest
from simulator.versions.kubernetes_version import V1_34, V1_36

CREATED = 1_700_000_000
Ask = Callable[..., HttpResponse]
CORE, DEFAULT = "/api/v1", "/api/v1/namespaces/default"
RESOURCE = "/apis/resource.k8s.io/v1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.fixture(scope="module", params=[V1_34, V1_36], ids=lambda version: version.name)
def asked(request: pytest.FixtureRequest, store: Store) -> Iterator[tuple[int, Ask]]:
    """The place of the version's answers below, and a function that asks a sandbox of it."""
    version = request.param
    meta = Meta(name=version.name.replace(".", "-"), created=CREATED, kubernetes=version.patch)
    create_sandbox(store, meta, clock=Clock(sim=CREATED * SECOND, wall=CREATED, paused=True))
    client = Client(headers={"host": "localhost"})

    def ask(method: str, path: str, body: Manifest | str = "", accept: str = "*/*") -> HttpResponse:
        text = body if isinstance(body, str) else json.dumps(body)
        kind, address = "application/json", f"/s/{meta.name}{path}"
        return client.generic(method, address, text, content_type=kind, headers={"accept": accept})

    yield (V1_34, V1_36).index(version), ask
    store.delete(meta.name)


def service(name: str, **spec: Any) -> Manifest:
    made = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": made}


def of_devices(kind: str, spec: Manifest) -> Manifest:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


POOL = {"driver": "d.e", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
REQUESTS = [{"name": "a", "exactly": {"deviceClassName": "gpu"}}] * 2
CLAIM = of_devices("ResourceClaim", {"devices": {"requests": REQUESTS}})
TWICE = of_devices("ResourceSlice", {**POOL, "devices": [{"name": "a"}, {"name": "a"}]})
NO_VALUE = of_devices("ResourceSlice", {**POOL, "devices": [{"name": "a", "attributes": {"a": {}}}]})


@pytest.mark.parametrize(
    ("method", "path", "body", "answers"),
    [
        (
            "POST",
            f"{DEFAULT}/services",
            service("1st"),
            (
                (422, "a DNS-1035 label must consist of"),
                (201, '"name":"1st"'),
            ),
        ),
        ("DELETE", f"{DEFAULT}/pods/p", "{", ((500, "unexpected end of"), (400, "unexpected end of"))),
        (
            "POST",
            f"{DEFAULT}/configmaps",
            '{"a":' + "[" * 20_000 + "]" * 20_000 + "}",
            (
                (400, "nested deeper than"),
                (400, "json parse error: invalid character '[' exceeded max depth"),
            ),
        ),
        (
            "GET",
            f"{DEFAULT}/pods?limit=1&continue=gQ",
            "",
            ((400, r"invalid character '\\x81'"), (400, r"invalid character '\\u0081'")),
        ),
        (
            "POST",
            f"{RESOURCE}/namespaces/default/resourceclaims",
            CLAIM,
            (
                (422, r"spec.devices.requests[1].name: Duplicate value: \"a\""),
                (422, r"spec.devices.requests[1]: Duplicate value: \"a\""),
            ),
        ),
        (
            "POST",
            f"{RESOURCE}/resourceslices",
            TWICE,
            (
                (422, r"spec.devices[1].name: Duplicate value: \"a\""),
                (422, r"spec.devices[1]: Duplicate value: \"a\""),
            ),
        ),
        (
            "POST",
            f"{RESOURCE}/resourceslices",
            NO_VALUE,
            (
                (422, "attributes[a]: Required value: exactly one value must be specified"),
                (422, r"attributes[a]: Invalid value: \"\": exactly one value must be specified"),
            ),
        ),
    ],
)
def test_refusals(
    asked: tuple[int, Ask],
    method: str,
    path: str,
    body: Manifest | str,
    answers: tuple[tuple[int, str], tuple[int, str]],
) -> None:
    place, ask = asked
    code, text = answers[place]
    answer = ask(method, path, body)
    assert answer.status_code == code
    assert text in answer.content.decode()


def test_discovery_and_schemas(asked: tuple[int, Ask]) -> None:
    place, ask = asked
    assert json.loads(ask("GET", "/version").content)["minor"] == ("34", "36")[place]
    schemas = json.loads(ask("GET", "/openapi/v3/apis/scheduling.k8s.io/v1").content)["components"]["schemas"]
    required = schemas["io.k8s.api.scheduling.v1.PriorityClass"].get("required")
    assert required == (["value"], None)[place]
    hashes = {
        each["name"]: each.get("storageVersionHash")
        for group in ("resource.k8s.io", "storage.k8s.io")
        for each in json.loads(ask("GET", f"/apis/{group}/v1").content)["resources"]
    }
    moved = hashes["resourceclaims"], hashes["volumeattributesclasses"]
    assert moved == (("EJAWH5WrAYg=", "Bl3MtjZ/n/s="), ("wgAZaHcZxUg=", "tIjydgKBC5w="))[place]
    assert hashes["storageclasses"] == "K+m6uJwbjGY="


def test_tables(asked: tuple[int, Ask]) -> None:
    place, ask = asked

    def columns(path: str) -> dict[str, str]:
        definitions = json.loads(ask("GET", path, accept=TABLE).content)["columnDefinitions"]
        return {each["name"]: each["description"] for each in definitions}

    assert ("Secrets" in columns(f"{DEFAULT}/serviceaccounts")) == (place == 0)
    ready = columns("/apis/apps/v1/daemonsets")["Ready"]
    assert ready.endswith(("pod running and ready.", "pod running with a Ready Condition.")[place])


def test_writes(asked: tuple[int, Ask]) -> None:
    place, ask = asked
    headless = service("headless", clusterIP="None", sessionAffinity="ClientIP")
    warning = ask("POST", f"{DEFAULT}/services", headless).headers.get("Warning", "")
    assert ("SessionAffinity is ignored" in warning) == (place == 0)
    zone = {"topology.kubernetes.io/zone": "z"}
    ask(
        "POST",
        f"{CORE}/nodes",
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": zone}},
    )
    spec = {"schedulerName": "mine", "containers": [{"name": "c", "image": "i"}]}
    ask(
        "POST",
        f"{DEFAULT}/pods",
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec},
    )
    metadata = {"name": "p", "labels": {"a": "b"}}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata}
    target = {"target": {"kind": "Node", "name": "n"}}
    assert ask("POST", f"{DEFAULT}/pods/p/binding", {**binding, **target}).status_code == 201
    labels = json.loads(ask("GET", f"{DEFAULT}/pods/p").content)["metadata"].get("labels")
    assert labels == (None, {"a": "b", **zone})[place]
