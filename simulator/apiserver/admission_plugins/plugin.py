"""What all admission plugins have in common.

Upstream: Interface, MutationInterface and ValidationInterface in apiserver/pkg/admission/interfaces.go.
"""

from typing import ClassVar, Literal

import msgspec

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.quota.charges import QuotaCharges
from simulator.apiserver.resource import Resource

Operation = Literal["CREATE", "UPDATE"]


class Attributes(msgspec.Struct, kw_only=True):
    """A request as plugins see it (admission.Attributes)."""

    operation: Operation
    resource: Resource
    object: Manifest
    overlay: Overlay
    quotas: QuotaCharges
    """What the request charges to quotas."""
    old: Manifest | None = None
    subresource: str = ""
    is_strict: bool = True
    """Whether the request comes as one to kube-apiserver, and not from the page."""

    @property
    def name(self) -> str:
        return str(self.object["metadata"].get("name", ""))


class AdmissionPlugin:
    name: ClassVar[str]
    """The name by which kube-apiserver knows it."""
    handles: ClassVar[dict[str, tuple[Operation, ...]]] = {}
    """The requests that it handles: id of a resource -> operations, without those of subresources."""

    def does_handle(self, request: Attributes) -> bool:
        return not request.subresource and request.operation in self.handles.get(request.resource.id, ())

    def admit(self, request: Attributes) -> None:
        """Change the object in place, before it is validated. Raises StatusError."""

    def validate(self, request: Attributes) -> None:
        """Look at the object that is to be stored. Raises StatusError."""
