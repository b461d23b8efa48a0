"""The object that the path of a request names.

Upstream: EnsureObjectNamespaceMatchesRequestNamespace in apiserver/pkg/registry/rest/meta.go, checkName in
apiserver/pkg/endpoints/handlers/rest.go.
"""

from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest


class RequestPlace(NamedTuple):
    """The path of an object, or of one of its subresources."""

    resource: Resource
    """The resource in the version of the path."""
    namespace: str
    """ "" for a cluster-scoped resource."""
    name: str
    """ "" for a creation, whose path names no object."""
    subresource: str = ""

    @staticmethod
    def of(resource: Resource, key: str, subresource: str = "") -> "RequestPlace":
        """Return the place of a key of the storage (``namespace/name``)."""
        namespace, _, name = key.rpartition("/")
        return RequestPlace(resource, namespace, name, subresource)

    @property
    def key(self) -> str:
        return self.resource.key(self.namespace, self.name)

    def check(self, metadata: dict[str, Any]) -> None:
        """Raise BadRequest if the metadata of a body names another namespace than the path, or another name
        or none."""
        name = metadata.get("name") or ""
        if self.resource.namespaced:
            self.check_namespace(metadata)
        if not name:
            raise BadRequest(
                f"the name of the object ({self.name} based on URL) was undeterminable: name must be provided"
            )
        if name != self.name:
            raise BadRequest(
                f"the name of the object ({name}) does not match the name on the URL ({self.name})"
            )

    def check_namespace(self, metadata: Any) -> None:
        """Raise BadRequest if the metadata names another namespace than the path."""
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        if namespace not in (None, "", self.namespace):
            raise BadRequest(
                "the namespace of the provided object does not match the namespace sent on the request"
            )

    def named_in(self, body: Manifest, kind: str) -> "RequestPlace":
        """Return the place of the object that the body of its subresource names. The name must be that of the
        path if this has one. Raises BadRequest."""
        metadata = body.get("metadata", {})
        self.check_namespace(metadata)
        name: str = metadata.get("name", "")
        if self.name and name != self.name:
            raise BadRequest(f"name in URL does not match name in {kind} object")
        return self._replace(name=name)
