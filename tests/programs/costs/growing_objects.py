"""Objects with a list or a map of any size, at any place that the type of their kind has."""

import copy
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, get_args

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN, defined_resources
from simulator.apiserver.types.model import ANYTHING, ListType, MapType, OwnType, Scalar, StructType, Type
from simulator.apiserver.types.schema_types import type_of
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
_TIME: Final = "2025-01-01T00:00:00Z"

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
_AMOUNTS: Final = frozenset(
    {"requests", "limits", "capacity", "allocatable", "allocatedResources", "overhead", "hard", "used"}
    | {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}
)
"""Maps of quantities by the names of resources."""
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
_PORTS: Final = range(1, 65_536)
_RANGES: Final = {
    "weight": range(1, 101),
    "defaultMode": range(0o1000),
    "mode": range(0o1000),
    "lun": range(256),
    "partition": range(256),
    "seconds": range(1, 31),
    "successThreshold": range(1, 2),
    "nodePort": range(30_000, 32_768),
    "expirationSeconds": range(600, 7_200),
    "maxExpirationSeconds": range(3_600, 7_200),
}
"""The values of numeric fields that not all ports can have: beyond these, faults would be counted from a
certain number of entries on."""


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
        for path in _paths(type_of(resource), (), ()):
            yield Place(resource, path)


def _paths(of: Type, path: Path, inside: tuple[Type, ...]) -> Iterator[Path]:
    match of:
        case StructType() if of not in inside:
            for name, field in sorted(of.fields.items()):
                yield from _paths(field.type, (*path, name), (*inside, of))
        case ListType():
            yield path
            yield from _paths(of.items, (*path, ITEM), inside)
        case MapType() if of.values is not ANYTHING:
            yield path
            yield from _paths(of.values, (*path, VALUE), inside)


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
    of = type_of(place.resource)
    above: Any = manifest
    for depth, step in enumerate(place.path):
        below = _below(of, step)
        if depth == len(place.path) - 1:
            _put(above, step, _grown_value(below, step, count, entries, first))
            return
        empty = _value(below, step if step not in (ITEM, VALUE) else place.path[depth - 1], 0)
        if not isinstance(empty, list | dict):
            empty = [] if isinstance(below, ListType) else {}
        above = _enter(above, step, empty)
        of = below


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


def _below(of: Type, step: Step) -> Type:
    match of:
        case ListType():
            return of.items
        case MapType():
            return of.values
    assert isinstance(of, StructType)
    return of.fields[step].type


def _grown_value(of: Type, field: str, count: int, entries: Entries, first: int) -> Any:
    if isinstance(of, ListType):
        if entries == "empty":
            return [_empty(of.items) for _ in range(count)]
        numbers = [first] * count if entries in ("equal", "least") else range(first, first + count)
        return [_value(of.items, field, number, entries) for number in numbers]
    assert isinstance(of, MapType)
    prefix = "example.com/a" if field in _AMOUNTS else "a"
    return {
        f"{prefix}{number}": _empty(of.values)
        if entries == "empty"
        else _value(of.values, field, number, entries)
        for number in range(first, first + count)
    }


def _empty(of: Type) -> Any:
    match of:
        case Scalar(kind=("string" | "bytes")):
            return ""
        case Scalar(kind=("int32" | "int64" | "float64")):
            return 0
        case ListType():
            return []
        case OwnType() if of.short_name in ("Quantity", "IntOrString", "Time", "MicroTime"):
            return ""
    return {}


def _value(of: Type, field: str, number: int, entries: Entries = "distinct") -> Any:
    match of:
        case ListType():
            return [_value(of.items, field, number)]
        case MapType():
            return {}
        case StructType():
            return _object(of, number, entries)
        case Scalar(kind=("int32" | "int64" | "float64")):
            allowed = _RANGES.get(field, _PORTS)
            return allowed[number % len(allowed)]
        case Scalar(kind="bool"):
            return False
        case Scalar(kind="bytes"):
            return "YQ=="
        case Scalar():
            return _text(field, number)
        case OwnType():
            own = {"Quantity": "1", "IntOrString": "1", "FieldsV1": {}}
            return _TIME if of.short_name.endswith("Time") else own.get(of.short_name, {"a": number})
    return {"a": number}


def _object(of: StructType, number: int, entries: Entries) -> Manifest:
    wanted = {field.name for field in of.fields.values() if field.is_required}
    if entries != "least":
        wanted |= {"name", "key", "containerPort", "hostPort", "type"} & of.fields.keys()
    if entries == "full":
        wanted |= {name for name, field in of.fields.items() if _is_scalar(field.type)}
    kinds = dict(zip(("apiVersion", "kind"), of.kinds[0], strict=True)) if of.kinds else {}
    return {
        name: kinds[name] if name in kinds else _value(of.fields[name].type, name, number)
        for name in sorted(wanted)
    }


def _is_scalar(of: Type) -> bool:
    return of.short_name.endswith("Time") or (isinstance(of, Scalar) and of.kind != "float64")


def _text(field: str, number: int) -> str:
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
