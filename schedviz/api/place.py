"""Checks that the object in a body is that of the request's path.

Upstream: EnsureObjectNamespaceMatchesRequestNamespace in apiserver/pkg/registry/rest/meta.go, checkName in
apiserver/pkg/endpoints/handlers/rest.go, v1.34.
"""

from typing import Any

from schedviz.api.target import Target
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest


def check_place(resource: Resource, target: Target, metadata: dict[str, Any]) -> None:
    """Raise BadRequest if the metadata names another namespace than the path, or another name or none."""
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or ""
    if resource.namespaced and namespace not in ("", target.namespace):
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if not name:
        raise BadRequest(
            f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        )
    if name != target.name:
        raise BadRequest(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
