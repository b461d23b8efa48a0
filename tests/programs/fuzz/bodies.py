"""Bodies of requests to the Kubernetes API, with their headers: JSON, YAML and patches, whole and broken."""

import json
from random import Random
from typing import Any

import yaml

from simulator.api import Manifest
from simulator.apiserver.types.model import Type
from tests.programs.fuzz import values

Body = tuple[list[tuple[str, str]], bytes]

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TYPES = (
    JSON, MERGE_PATCH, JSON_PATCH, STRATEGIC_MERGE_PATCH, APPLY, "application/yaml", "text/plain", "",
    "a/b;c=", "application/vnd.kubernetes.protobuf", "application/x-www-form-urlencoded",
    "multipart/form-data",
)  # fmt: skip

BOMB = 'a: &a ["x","x","x","x","x","x","x","x","x"]\n' + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdef", "bcdefg", strict=True)
)
"""Aliases of aliases: 9 to the 7th values."""


def manifest(rng: Random, given: Any) -> Body:
    """A manifest as JSON mostly, else as YAML; a few are broken."""
    if rng.random() < 0.15:
        return _typed(rng, "application/yaml", _broken(rng, yaml_of(values.bounded(given))))
    return _typed(rng, JSON, _broken(rng, json.dumps(values.bounded(given))))


def patch(rng: Random, given: Manifest, of: Type) -> Body:
    """A patch of one of all formats."""
    changed = values.changed(rng, given, of)
    parts = [*changed]
    part = (
        {key: changed[key] for key in rng.sample(parts, min(len(parts), rng.randrange(1, 3)))}
        if parts
        else {}
    )
    match rng.randrange(8):
        case 0 | 1:
            return _typed(rng, JSON_PATCH, _broken(rng, json.dumps(_operations(rng, given))))
        case 2 | 3 | 4:
            return _typed(rng, MERGE_PATCH, _broken(rng, json.dumps(values.bounded(part))))
        case 5 | 6:
            if rng.random() < 0.2:
                _direct(rng, part)
            return _typed(rng, STRATEGIC_MERGE_PATCH, _broken(rng, json.dumps(values.bounded(part))))
    return _typed(rng, APPLY, _broken(rng, yaml_of(values.bounded(changed))))


def delete_options(rng: Random) -> Body:
    """None mostly."""
    if rng.random() < 0.6:
        return [], b""
    options = _some(
        rng,
        {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": rng.choice((0, 5, -1, 10**12, 2**63, "5", 1.5)),
            "propagationPolicy": rng.choice(("Orphan", "Background", "Foreground", "a", None)),
            "preconditions": rng.choice(({"uid": "a"}, {"resourceVersion": "1"}, {}, None, [], {"uid": 5})),
            "dryRun": rng.choice((["All"], ["None"], "All", None, [None])),
            "orphanDependents": rng.choice((True, False, None, "a")),
        },
    )
    return manifest(rng, values.value(rng) if rng.random() < 0.1 else options)


def binding(rng: Random, name: str) -> Any:
    target = _some(rng, {"apiVersion": "v1", "kind": "Node", "name": rng.choice(values.NAMES)}, 0.8)
    if rng.random() < 0.15:
        target = _spoilt(rng, target)
    given = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    return _spoilt(rng, given) if rng.random() < 0.15 else given


def eviction(rng: Random, name: str) -> Any:
    options = _some(rng, {"gracePeriodSeconds": rng.choice((0, 5)), "dryRun": ["All"]})
    given = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name},
        "deleteOptions": options,
    }
    if rng.random() < 0.15:
        given["deleteOptions"] = _spoilt(rng, options)
    return _spoilt(rng, given) if rng.random() < 0.15 else given


def _some(rng: Random, fields: dict[str, Any], share: float = 0.3) -> dict[str, Any]:
    return {name: each for name, each in fields.items() if rng.random() < share}


def _spoilt(rng: Random, given: dict[str, Any]) -> Any:
    """With another value somewhere, or in its place."""
    if not given or rng.random() < 0.1:
        return values.value(rng)
    return given | {rng.choice([*given]): values.value(rng)}


def _operations(rng: Random, given: Manifest) -> Any:
    """A JSON patch."""
    return [_operation(rng, given) for _ in range(rng.choice((0, 1, 1, 2, 5)))]


def _operation(rng: Random, given: Manifest) -> Any:
    operation = {
        "op": rng.choice(("add", "replace", "remove", "test", "copy", "move", "fuzz")),
        "path": _pointer(rng, given),
        "from": _pointer(rng, given),
        "value": values.value(rng),
    }
    return _spoilt(rng, operation) if rng.random() < 0.1 else operation


def _pointer(rng: Random, inside: Any) -> str:
    """A JSON pointer into a manifest, or beside it."""
    path = ""
    while isinstance(inside, dict | list) and inside and rng.random() < 0.8:
        key = rng.choice([*inside] if isinstance(inside, dict) else range(len(inside)))
        path, inside = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}", inside[key]
    return path + rng.choice(("", "", "", "/-", "/0", "/99", "/-1", "/a", "/~2", "a"))


def _direct(rng: Random, part: dict[str, Any]) -> None:
    """Put a directive of strategic merge patches into one."""
    name = rng.choice(
        ("$patch", "$retainKeys", "$deleteFromPrimitiveList/finalizers", "$setElementOrder/containers")
    )
    part[name] = rng.choice(("delete", "replace", "merge", [], ["a"], None, {}, [{"name": "main"}], 5))


def yaml_of(given: Any) -> str:
    """As JSON, which is YAML too, where the YAML library fails: at deep nesting."""
    try:
        return yaml.safe_dump(given, allow_unicode=True)
    except (yaml.YAMLError, UnicodeError, RecursionError):
        return json.dumps(given)


def _broken(rng: Random, text: str) -> bytes:
    """The text, or one time in twelve a broken one."""
    data = text.encode(errors="replace")
    if rng.random() > 0.08:
        return data
    at = rng.randrange(len(data) + 1)
    return rng.choice(
        (
            b"", data[:at], data[:at] + b"\xff\xfe" + data[at:], data + data, b"\xef\xbb\xbf" + data,
            b"[" * 5000, b'{"a":' * 5000,
            data.replace(b"{", b'{"kind": "Pod", "kind": "Node", "metadata": 5,', 1), BOMB.encode(),
            data.replace(b'"', b"'"), data.replace(b":", b": NaN,", 1), b'"' + b"a" * 600_000 + b'"',
            b"null", b"[]", b"5", b"\0" * 50, b"---\n" * 2000, b"!!python/object/apply:os.system ['true']",
            b"a: &a [*a]", b"? {a: b}\n: c", b"<<: *a", data + b"\n---\n" + data,
            b'{"kind": "List", "apiVersion": "v1", "items": [' + data + b"]}",
        )
    )  # fmt: skip


def _typed(rng: Random, usual: str, body: bytes) -> Body:
    return [("Content-Type", rng.choice(TYPES) if rng.random() < 0.05 else usual)], body
