"""Random bodies and paths: each response is as the document says, and none is a 500."""

from random import Random
from typing import Any, Final

from schedviz.store import Store
from tests.loop.conftest import node, pod
from tests.loop.world import World

from .documented import DocumentedClient

SEED: Final = 1
REQUESTS: Final = 600
SCALARS: Final = (
    None, True, 0, -1, 1.5, 1 << 60, "", "demo", "10s", "max", "idle", "bound", "default/web", "\x00",
    "é" * 70, [], {}, [[]], {"a": {}},
)  # fmt: skip
SEGMENTS: Final = ("demo", "default", "web", "..", "%00", "%2F", "é", "x" * 300, "-", "room-cdfghj-1")


def test_random_requests_are_answered_as_the_document_says(store: Store) -> None:
    rng, api, world = Random(SEED), DocumentedClient(), World(store)
    world.create(node("n1"), pod("web"))
    world.slice()
    known = world.sandbox.name
    operations = [
        (method, path, operation)
        for path, methods in api.document["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    ]
    codes: dict[int, int] = {}
    for _ in range(REQUESTS):
        method, path, operation = rng.choice(operations)
        if method == "delete" and rng.random() < 0.9:
            continue
        values = {"name": known, "namespace": "default", "pod": "web"}
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", rng.choice(SEGMENTS) if rng.random() < 0.2 else value)
        for parameter in operation.get("parameters", ()):
            value = rng.choice(("", "1", "-1", "x", "9" * 30))
            path += f"{'&' if '?' in path else '?'}{parameter['name']}={value}"
        code, _ = api.send(
            method.upper(), path, body_of(rng, operation, api.document) if method == "post" else None
        )
        codes[code] = codes.get(code, 0) + 1
    assert not [code for code in codes if code >= 500], codes
    assert codes[200] > 50
    assert codes[400] > 50


def body_of(rng: Random, operation: dict[str, Any], document: dict[str, Any]) -> Any:
    """A body with the fields that the document names, with values that may be right."""
    if rng.random() < 0.1:
        return rng.choice(SCALARS)
    if "requestBody" not in operation:
        return {}
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    properties = document["components"]["schemas"][reference.rpartition("/")[2]]["properties"]
    return {name: right_or_wrong(rng, schema) for name, schema in properties.items() if rng.random() < 0.5}


def right_or_wrong(rng: Random, schema: dict[str, Any]) -> Any:
    if rng.random() < 0.3:
        return rng.choice(SCALARS)
    if "anyOf" in schema:
        return right_or_wrong(rng, rng.choice(schema["anyOf"]))
    match schema.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "string":
            return rng.choice(schema.get("examples", [""]))
        case "array":
            return [pod(f"p{rng.randrange(1_000_000)}")]
        case "object":
            return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return rng.choice(schema.get("enum", [None]))
