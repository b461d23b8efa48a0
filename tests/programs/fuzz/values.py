"""Wrong values and texts, and changes of manifests."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.types.model import (
    ANYTHING,
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
    field_type,
)

NAMESPACES = ("default", "team", "kube-system", "canary", "missing")
NAMES = ("fuzz", "a", "b", "c", "db-1", "db-2", "node-1", "node-2", "node-3", "canary")
LABELS = ("app", "disk", "kubernetes.io/hostname", "topology.kubernetes.io/zone")

TEXTS = (
    "", " ", "-", ".", "..", "/", "a/b/c", "../../etc/passwd", "a" * 64, "a" * 254, "A_b", "x" * 5000, "%",
    "%s", "0", "1", "-1", "1.5", "1e3", "1e99999", "9" * 30, "9" * 5000, "NaN", "inf", "-inf", "0x10",
    "007", "²", "٣", "99Ei", "1m", "1n", "100m", "-5Gi", "1e-30", "50%", "500%", "-1%", "%50", "true",
    "null", "None", "undefined", "\0", "\n", "a\r\nb", "\u202e", "\ufeff", "\ufffd", "é", "日本語", "🚀" * 20,
    "Z͑ͫ̓", "'", '"', "`", "<script>alert(1)</script>", "{{ 7 * 7 }}", "{% debug %}", "${x}", "a=b,c=d",
    "a in (b", "!a", "a==b", "=", ",", ";", ":", "@", "#", "a:b:c", "* * * * *", "0 0 31 2 *", "@every 1s",
    "61 * * * *", "*/0 * * * *", "Mars/Olympus", "1s", "1h1m", "-1s", "9999999h", "2026-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-13-45", "2026-01-01T00:00:00.999999999Z",
    "default-scheduler", "Exists", "In", "NoExecute", "NoSchedule", "DoNotSchedule", "Always", "Never",
    "Recreate", "Running", "Succeeded", "Failed", "fuzz", "missing", "default", "team", "node-1", "zone-a",
    "ssd", "example.com/gpu", "10.0.0.1", "::1", "999.1.1.1", "v1", "apps/v1", "Pod", "Orphan",
    "Foreground", "system-node-critical",
)  # fmt: skip

NUMBERS = (
    0, 1, -1, 2, 3, 5, 10, 100, 255, 1000, 65535, 65536, 10**6, 2**31 - 1, 2**31, -(2**31) - 1, 2**53,
    2**63 - 1, 2**63, -(2**63), 10**12, 10**18, 10**30, 0.5, -0.5, 1e-9, 1.5, 1e18, 1e300,
)  # fmt: skip

PODS_ASKED_FOR = ("replicas", "parallelism", "completions")
PODS_AT_MOST = 100
"""The maximum of pods of an object."""


def text(rng: Random) -> str:
    if rng.random() < 0.1:
        return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xD7FF)))) for _ in range(12))
    return rng.choice(TEXTS)


def value(rng: Random, depth: int = 3) -> Any:
    """Any JSON value."""
    sort = rng.randrange(8 if depth > 0 else 6)
    if sort < 2:
        return text(rng)
    if sort < 4:
        return rng.choice(NUMBERS)
    if sort < 6:
        return rng.choice((None, True, False, [], {}, "", 0))
    if sort == 6:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {text(rng)[:80]: value(rng, depth - 1) for _ in range(rng.randrange(4))}


def deep(rng: Random) -> Any:
    """A value in very many nested lists or mappings."""
    inside: Any = value(rng, 0)
    for _ in range(rng.choice((20, 63, 64, 65, 200))):
        inside = [inside] if rng.random() < 0.5 else {"a": inside}
    return inside


def of_type(rng: Random, of: Type, depth: int = 6) -> Any:
    """A value of a type, but for the formats of its texts; now and then any other."""
    if rng.random() < 0.02:
        return value(rng)
    match of:
        case Scalar(kind="bool"):
            return rng.random() < 0.5
        case Scalar(kind=("int32" | "int64" | "float64")):
            return rng.choice((0, 1, 2, 3, 10, 60, 300, rng.choice(NUMBERS)))
        case Scalar(kind="bytes"):
            return rng.choice(("", "AAEC", "not base64"))
        case Scalar():
            return rng.choice((*LABELS, *NAMES, text(rng)))
        case OwnType():
            return _of_own_type(rng, of.short_name, depth)
        case ListType() if depth > 0:
            return [of_type(rng, of.items, depth - 1) for _ in range(rng.randrange(3))]
        case MapType() if depth > 0:
            return {rng.choice(LABELS): of_type(rng, of.values, depth - 1) for _ in range(rng.randrange(3))}
        case StructType() if depth > 0:
            chosen = [field for field in of.fields.values() if field.is_required or rng.random() < 0.3]
            return {field.name: _of_field(rng, of, field.name, depth - 1) for field in chosen}
    return value(rng, max(0, min(depth, 2)))


def _of_field(rng: Random, of: StructType, name: str, depth: int) -> Any:
    if of.kinds and name in ("apiVersion", "kind"):
        return rng.choice([kind[name == "kind"] for kind in of.kinds])
    return of_type(rng, of.fields[name].type, depth)


def _of_own_type(rng: Random, name: str, depth: int) -> Any:
    match name:
        case "IntOrString":
            return rng.choice((0, 1, 2, 3, 10, 60, 300, rng.choice(NUMBERS)))
        case "Time" | "MicroTime":
            return rng.choice(("2026-01-01T00:00:00Z", "2023-11-14T22:14:00.123456Z", "9999-12-31T23:59:59Z"))
        case "Quantity":
            return rng.choice(("0", "100m", "1", "2", "1Gi", "0.5", "1e3", text(rng)))
    return value(rng, max(0, min(depth, 2)))


def changed(rng: Random, manifest: Manifest, of: Type) -> Manifest:
    """A manifest with some of its values replaced, removed, doubled or joined by others."""
    manifest = copy.deepcopy(manifest)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 5))):
        parent, key, inside = rng.choice([*_places(manifest, of)])
        match rng.randrange(12):
            case 0:
                parent[key] = None
            case 1:
                del parent[key]
            case 2:
                parent[key] = value(rng)
            case 3:
                parent[key] = deep(rng) if rng.random() < 0.1 else text(rng)
            case 4 if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
            case 5 if isinstance(parent, dict):
                parent[text(rng)] = value(rng)
            case _:
                _add(rng, parent, key, inside)
        if not manifest:
            break
    return manifest


def bounded(given: Any) -> Any:
    """The value with fewer pods asked for, where a controller would make them: to make a million takes long,
    and is no fault. What is no int32 stays, to be refused."""
    if isinstance(given, dict):
        return {
            key: each % PODS_AT_MOST if key in PODS_ASKED_FOR and _is_too_many(each) else bounded(each)
            for key, each in given.items()
        }
    return [bounded(each) for each in given] if isinstance(given, list) else given


def _is_too_many(given: Any) -> bool:
    return isinstance(given, int) and PODS_AT_MOST < given < 2**31


def _add(rng: Random, parent: Any, key: Any, of: Type) -> None:
    """Put another field of the type into a value, or another value where it has none."""
    if isinstance(of, StructType) and of.fields and isinstance(parent[key], dict):
        name = rng.choice([*of.fields])
        parent[key][name] = _of_field(rng, of, name, 6)
    else:
        parent[key] = of_type(rng, of)


def _places(parent: Any, of: Type) -> Iterator[tuple[Any, Any, Type]]:
    """Every nested value, as its container, its key there, and its type."""
    for key, item in [*(parent.items() if isinstance(parent, dict) else enumerate(parent))]:
        if isinstance(parent, dict):
            inside = field_type(of, key) or ANYTHING
        else:
            inside = of.items if isinstance(of, ListType) else ANYTHING
        yield parent, key, inside
        if isinstance(item, dict | list):
            yield from _places(item, inside)
