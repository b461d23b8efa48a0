"""The empty object of a kind, as Go writes it: what every object of the kind has, its creator does not own.

Upstream: the zero values of the types in k8s.io/api, v1.34. Required fields are always written; so are
structs that are not pointers, which the schemas do not say: their names are here.
"""

from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import Schema, resolve_reference, schema_of

STRUCTS: Final = frozenset(
    [
        "daemonEndpoints",
        "jobTemplate",
        "kubeletEndpoint",
        "loadBalancer",
        "metadata",
        "nodeInfo",
        "spec",
        "status",
        "strategy",
        "template",
        "updateStrategy",
    ]
)
_POINTERS: Final = {"replicationcontrollers": "template"}
"""Fields that are pointers in one kind only."""
_ALSO: Final[dict[str, Manifest]] = {
    "clusterroles.rbac.authorization.k8s.io": {"rules": None},
    "controllerrevisions.apps": {"data": None},
    "customresourcedefinitions.apiextensions.k8s.io": {
        "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None}
    },
    "endpointslices.discovery.k8s.io": {"ports": None},
    "events": {
        **dict.fromkeys(("firstTimestamp", "lastTimestamp", "eventTime")),
        "source": {},
        "reportingComponent": "",
        "reportingInstance": "",
    },
    "events.events.k8s.io": {
        **dict.fromkeys(("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime")),
        "deprecatedSource": {},
        "regarding": {},
    },
    "horizontalpodautoscalers.autoscaling": {"status": {"currentMetrics": None}},
    "networkpolicies.networking.k8s.io": {"spec": {"podSelector": {}}},
    "persistentvolumeclaims": {"spec": {"resources": {}}},
    "resourceclaims.resource.k8s.io": {"spec": {"devices": {}}},
    "resourceclaimtemplates.resource.k8s.io": {"spec": {"spec": {"devices": {}}}},
    "roles.rbac.authorization.k8s.io": {"rules": None},
    "statefulsets.apps": {"spec": {"serviceName": ""}, "status": {"availableReplicas": 0}},
}
"""The further fields that Go writes, by plural and group."""


def empty_object(resource: Resource) -> Manifest:
    """Return the empty object of a resource, without apiVersion and kind. A custom resource has no Go type:
    its empty object has nothing."""
    if resource.schema_text:
        return {}
    pointer = _POINTERS.get(resource.id, "")
    also = _ALSO.get(f"{resource.plural}.{resource.group}".removesuffix("."), {})
    fields: Manifest = _merged(_empty(schema_of(resource), pointer), also)
    return {name: value for name, value in fields.items() if name not in ("apiVersion", "kind")}


def _merged(fields: Manifest, also: Manifest) -> Manifest:
    return fields | {
        name: _merged(fields.get(name) or {}, value) if isinstance(value, dict) else value
        for name, value in also.items()
    }


def _empty(schema: Schema, pointer: str) -> Any:
    schema = resolve_reference(schema)
    match schema.get("type"):
        case "string":
            return ""
        case "integer" | "number":
            return 0
        case "boolean":
            return False
        case "object" if schema.get("properties"):
            required = schema.get("required", ())
            return {
                name: _empty(field, pointer)
                for name, field in schema["properties"].items()
                if name in required or (name in STRUCTS and name != pointer and _is_object(field))
            }
    return None


def _is_object(schema: Schema) -> bool:
    return bool(resolve_reference(schema).get("properties"))
