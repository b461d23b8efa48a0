"""Objects with a list or a map of any size, at any place that the schema of their kind has."""

import copy
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, get_args

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN, defined_resources
from simulator.apiserver.schema import Schema, definitions, schema_of
from tests.schema_objects import BASES, WORDS

KINDS: Final = (
    *("Pod", "Node", "Namespace", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob"),
    *("ReplicationController", "PodTemplate", "PersistentVolume", "PersistentVolumeClaim", "StorageClass"),
    *("CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "ResourceClaim", "DeviceClass"),
    *("ResourceClaimTemplate", "ResourceSlice", "PriorityClass", "PodDisruptionBudget", "ResourceQuota"),
    *("LimitRange", "RuntimeClass", "Service", "Endpoints", "EndpointSlice", "ConfigMap", "Secret", "Event"),
    *("Lease", "ServiceAccount", "CustomResourceDefinition", "Timetable"),
)
"""The kinds that the scheduler, a controller or admission reads."""
Entries = Literal["equal", "least", "distinct", "full", "empty"]
"""``equal``: all the same. ``least``: with the required fields only, and all the same. ``distinct``: with
other names. ``full``: with other names, and all scalar fields."""
ENTRIES: Final[tuple[Entries, ...]] = get_args(Entries)
Step = str
"""A field; ``[]`` = an item of a list; ``{}`` = a value of a map."""
Path = tuple[Step, ...]
ITEM: Final = "[]"
VALUE: Final = "{}"

DEFINITION: Final[Manifest] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Keyed", "type": "string", "jsonPath": ".spec.keyed[*].name"},
                    {"name": "Words", "type": "string", "jsonPath": ".spec.words"},
                ],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "words": {"type": "array", "items": {"type": "string"}},
                                    "set": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "keyed": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name"],
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {
                                                "name": {"type": "string"},
                                                "size": {"type": "integer", "default": 3},
                                                "port": {"x-kubernetes-int-or-string": True},
                                            },
                                            "x-kubernetes-validations": [{"rule": "self.name != 'wrong'"}],
                                        },
                                    },
                                    "unique": {
                                        "type": "array",
                                        "items": {"type": "string", "enum": ["a", "b"]},
                                    },
                                    "either": {
                                        "type": "array",
                                        "items": {
                                            "x-kubernetes-int-or-string": True,
                                            "anyOf": [{"type": "integer"}, {"type": "string"}],
                                        },
                                    },
                                    "labels": {
                                        "type": "object",
                                        "additionalProperties": {"type": "string", "maxLength": 8},
                                    },
                                    "open": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                        "additionalProperties": {"type": "string"},
                                    },
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}
(CUSTOM,) = defined_resources([DEFINITION])
GROWING: Final = (
    *(each for each in BUILT_IN if each.kind in KINDS and each.api_version != "events.k8s.io/v1"),
    CUSTOM,
)

_PORT: Final = {"port": 1}
_FURTHER_BASES: Final[dict[str, Manifest]] = {
    "Service": {"spec": {"ports": [_PORT]}},
    "Event": {"involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}},
    "StorageClass": {"provisioner": "example.com/a"},
    "RuntimeClass": {"handler": "a"},
    "CSINode": {"spec": {"drivers": [{"name": "a", "nodeID": "a"}]}},
    "CSIStorageCapacity": {"storageClassName": "a"},
    "VolumeAttachment": {"spec": {"attacher": "a", "nodeName": "a", "source": {"persistentVolumeName": "a"}}},
    "ResourceSlice": {
        "spec": {
            "driver": "a",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
        }
    },
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]},
}
_SAME: Final = frozenset(
    {
        "effect",
        "operator",
        "protocol",
        "status",
        "phase",
        "policy",
        "mode",
        "restartPolicy",
        "whenUnsatisfiable",
    }
    | {
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "action",
        "accessModes",
        "podManagementPolicy",
        "at",
        "every",
        "until",
    }
)
"""Fields in which distinct entries do not differ: they have few values."""
_TEXTS: Final = {
    "apiVersion": "v1",
    "containerID": "a://a",
    "deviceClassName": "a",
    "driver": "example.com",
    "fieldPath": "metadata.name",
    "host": "a",
    "pathType": "Prefix",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
    "type": "Container",
    "procMount": "Default",
    "mountPropagation": "None",
    "reason": "A",
    "scopeName": "BestEffort",
}


class Place(NamedTuple):
    """A list or a map of a kind."""

    resource: Resource
    path: Path

    def __str__(self) -> str:
        text = ".".join(self.path).replace(".[]", "[]").replace(".{}", "{}")
        return f"{self.resource.id} {text}"


def places() -> Iterator[Place]:
    """Yield every list and map of every kind."""
    for resource in GROWING:
        for path in _paths(schema_of(resource), (), ()):
            yield Place(resource, path)


def _paths(schema: Schema, path: Path, inside: tuple[str, ...]) -> Iterator[Path]:
    if reference := schema.get("$ref"):
        if reference in inside:
            return
        schema, inside = definitions()[reference], (*inside, reference)
    for name, field in sorted(schema.get("properties", {}).items()):
        yield from _paths(field, (*path, name), inside)
    if "items" in schema:
        yield path
        yield from _paths(schema["items"], (*path, ITEM), inside)
    elif isinstance(schema.get("additionalProperties"), dict):
        yield path
        yield from _paths(schema["additionalProperties"], (*path, VALUE), inside)


def grown(place: Place, count: int, entries: Entries, *, first: int = 0) -> Manifest:
    """Return an object with so many entries at a place. ``first``: the number of the first."""
    found = base_of(place.resource)
    grow(found, place, count, entries, first=first)
    return found


def base_of(resource: Resource) -> Manifest:
    """Return a small object of the kind."""
    base = BASES.get(resource.kind) or _FURTHER_BASES.get(resource.kind) or {}
    made = copy.deepcopy(base) | {"apiVersion": resource.api_version, "kind": resource.kind}
    made["metadata"] = {"name": "a"} | made.get("metadata", {})
    if resource.namespaced:
        made["metadata"]["namespace"] = "default"
    return made


def grow(manifest: Manifest, place: Place, count: int, entries: Entries, *, first: int = 0) -> None:
    """Set the list or the map at a place of an object."""
    schema = _resolved(schema_of(place.resource))
    above: Any = manifest
    for depth, step in enumerate(place.path):
        below = _below(schema, step)
        if depth == len(place.path) - 1:
            _put(above, step, _grown_value(below, step, count, entries, first))
            return
        empty = _value(below, step if step not in (ITEM, VALUE) else place.path[depth - 1], 0)
        if not isinstance(empty, list | dict):
            empty = [] if "items" in below else {}
        above = _enter(above, step, empty)
        schema = below


def value_at(manifest: Manifest, path: Path) -> Any:
    """Return what an object has at the path of a place; None if it has nothing there."""
    found: Any = manifest
    for step in path:
        if not found:
            return None
        if isinstance(found, list):
            found = found[0]
        elif isinstance(found, dict):
            found = next(iter(found.values())) if step == VALUE else found.get(step)
        else:
            return None
    return found


def _put(above: Any, step: Step, value: Any) -> None:
    if isinstance(above, list):
        above[:] = [value]
    else:
        above["a" if step == VALUE else step] = value


def _enter(above: Any, step: Step, empty: Any) -> Any:
    if isinstance(above, list):
        if not above:
            above.append(empty)
        return above[0]
    return above.setdefault("a" if step == VALUE else step, empty)


def _resolved(schema: Schema) -> Schema:
    return definitions()[schema["$ref"]] if "$ref" in schema else schema


def _below(schema: Schema, step: Step) -> Schema:
    if step == ITEM:
        return _resolved(schema["items"])
    if step == VALUE:
        return _resolved(schema["additionalProperties"])
    return _resolved(schema["properties"][step])


def _grown_value(schema: Schema, field: str, count: int, entries: Entries, first: int) -> Any:
    if "items" in schema:
        items = _resolved(schema["items"])
        if entries == "empty":
            return [_empty(items) for _ in range(count)]
        numbers = [first] * count if entries in ("equal", "least") else range(first, first + count)
        return [_value(items, field, number, entries) for number in numbers]
    values = _resolved(schema["additionalProperties"])
    prefix = (
        "example.com/a" if field in ("requests", "limits", "capacity", "allocatable", "hard", "used") else "a"
    )
    return {
        f"{prefix}{number}": _empty(values) if entries == "empty" else _value(values, field, number, entries)
        for number in range(first, first + count)
    }


def _empty(schema: Schema) -> Any:
    match schema.get("type"):
        case "string":
            return ""
        case "integer" | "number":
            return 0
        case "array":
            return []
    return "" if isinstance(schema.get("type"), list) else {}


def _value(schema: Schema, field: str, number: int, entries: Entries = "distinct") -> Any:
    schema = _resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "array":
            return [_value(schema["items"], field, number)]
        case "object":
            return _object(schema, number, entries)
        case "integer" | "number":
            return number % 60_000 + 1
        case "boolean":
            return False
        case "string":
            return _text(schema, field, number)
    return "1" if isinstance(schema.get("type"), list) else {"a": number}


def _object(schema: Schema, number: int, entries: Entries) -> Manifest:
    fields = schema.get("properties", {})
    wanted = {*schema.get("required", ())}
    if entries != "least":
        wanted |= {"name", "key", "containerPort", "hostPort", "type"} & fields.keys()
    if entries == "full":
        scalars = ("string", "integer", "boolean")
        wanted |= {name for name, of in fields.items() if _resolved(of).get("type") in scalars}
    return {name: _value(fields[name], name, number) for name in sorted(wanted)}


def _text(schema: Schema, field: str, number: int) -> str:
    if schema.get("format") == "date-time":
        return "2025-01-01T00:00:00Z"
    if schema.get("format") == "byte":
        return "YQ=="
    if field in ("ip", "ips", "hostIP", "podIP", "addresses", "clusterIPs", "externalIPs"):
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if field in ("podCIDR", "podCIDRs"):
        return f"10.{number >> 8 & 255}.{number & 255}.0/24"
    if field in _SAME:
        return WORDS[field][0] if field in WORDS else "a"
    if field in ("mountPath", "devicePath", "path"):
        return f"/a{number}"
    if field == "finalizers":
        return f"example.com/a{number}"
    return _TEXTS.get(field, f"a{number}")
