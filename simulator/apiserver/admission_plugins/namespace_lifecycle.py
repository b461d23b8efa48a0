"""The NamespaceLifecycle admission plugin: objects are only created in namespaces that are there to stay.

Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go.
"""

from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.namespaces import BUILT_IN_NAMESPACES, NAMESPACES
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import NamespaceTerminating, NotFound


class NamespaceLifecycle(AdmissionPlugin):
    """Upstream it refuses before the object is validated; here after, so that an author sees all faults."""

    name = "NamespaceLifecycle"

    def does_handle(self, request: Attributes) -> bool:
        return request.operation == "CREATE" and request.resource.namespaced

    def validate(self, request: Attributes) -> None:
        namespace = request.object["metadata"]["namespace"]
        check_namespace(request.resource, namespace, request.name, request.overlay)


def check_namespace(resource: Resource, namespace: str, name: str, overlay: Overlay) -> None:
    """Check that an object can be created in a namespace. Raises NotFound or NamespaceTerminating."""
    found = overlay.get(NAMESPACES.id, namespace)
    if found is None and namespace not in BUILT_IN_NAMESPACES:
        raise NotFound(NAMESPACES.id, namespace)
    if found and "deletionTimestamp" in found["metadata"]:
        raise NamespaceTerminating(resource.id, name, namespace)
