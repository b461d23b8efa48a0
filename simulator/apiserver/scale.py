"""The subresource ``scale``: how many replicas an object asks for, and how many it has.

Upstream: pkg/registry/apps/deployment/storage/storage.go (and those of the other workloads), ValidateScale in
pkg/apis/autoscaling/validation/validation.go, and apiextensions-apiserver/pkg/registry/customresource/etcd.go
for custom resources.
"""

from typing import Any

from simulator.api import Manifest
from simulator.apiserver.resource import SCALES, Resource
from simulator.apiserver.shapes import value_at
from simulator.apiserver.status import Conflict, Invalid, StatusError, invalid
from simulator.objects.labels import selector_text, set_selector

_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
"""The fields of the object's metadata that its Scale has."""


def scale_of(resource: Resource, manifest: Manifest) -> Manifest:
    """Return the Scale of an object. Raises StatusError if a custom resource has no replicas in its spec."""
    assert resource.scale is not None
    replicas = _at(manifest, resource.scale.spec_replicas)
    if replicas is None and resource.scale.selector:
        raise StatusError(
            "Internal error occurred: the spec replicas field "
            f'"{resource.scale.spec_replicas}" does not exist'
        )
    metadata = {field: manifest["metadata"][field] for field in _KEPT if field in manifest["metadata"]}
    status: Manifest = {"replicas": _at(manifest, resource.scale.status_replicas) or 0}
    if selector := _selector_text(resource, manifest):
        status["selector"] = selector
    return {
        "kind": SCALES.kind,
        "apiVersion": SCALES.api_version,
        "metadata": metadata,
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def with_scale(resource: Resource, manifest: Manifest, scale: Manifest) -> Manifest:
    """Return the object as an update by its Scale asks for it: with the replicas and the resourceVersion of
    the Scale. Raises Invalid, and Conflict for another UID."""
    assert resource.scale is not None
    name = manifest["metadata"]["name"]
    replicas, metadata = (scale.get("spec") or {}).get("replicas", 0), scale.get("metadata", {})
    if replicas < 0:
        cause = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise Invalid(SCALES.kind, SCALES.group, name, [cause])
    uid, known = metadata.get("uid"), manifest["metadata"]["uid"]
    if uid and uid != known:
        subresource = f"{resource.plural}/scale" + (f".{resource.group}" if resource.group else "")
        detail = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {known}"
        raise Conflict(subresource, name, detail)
    new: Manifest = _with(manifest, resource.scale.spec_replicas.strip(".").split("."), replicas)
    version = metadata.get("resourceVersion", "")
    return {**new, "metadata": {**new["metadata"], "resourceVersion": version}}


def _selector_text(resource: Resource, manifest: Manifest) -> str:
    """Return the selector of the pods, as a query parameter has it."""
    assert resource.scale is not None
    if resource.scale.selector:
        return str(_at(manifest, resource.scale.selector) or "")
    selector = manifest["spec"].get("selector")
    if resource.scale.has_label_set:
        return str(set_selector(selector or {}))
    return selector_text(selector)


def _at(manifest: Manifest, path: str) -> Any:
    """Return the value at a path such as ``.spec.replicas``; None if there is none."""
    return value_at(manifest, path.strip("."))


def _with(value: Any, fields: list[str], new: int) -> Any:
    """Return a copy of the value with the field at a path set."""
    if not fields:
        return new
    first, *rest = fields
    old = value if isinstance(value, dict) else {}
    return {**old, first: _with(old.get(first), rest, new)}
