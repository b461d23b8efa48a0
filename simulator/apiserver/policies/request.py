"""A write as admission policies see it (admission.Attributes, and CreateAdmissionRequest in
apiserver/pkg/admission/plugin/cel/condition.go, v1.34)."""

from typing import Any, Final, Literal

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resources import NAMESPACES, PODS, Resource
from simulator.objects.metadata import name_of, namespace_of

POLICIES: Final = "validatingadmissionpolicies.admissionregistration.k8s.io"
POLICY_BINDINGS: Final = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
Operation = Literal["CREATE", "UPDATE", "DELETE"]
_OPTIONS: Final = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


class User(msgspec.Struct, frozen=True):
    """The user of the request."""

    name: str
    groups: tuple[str, ...]


ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
"""The user of requests of the pages and of the API, which has no users."""


def controller_user(name: str) -> User:
    """Return the service account of a controller in kube-controller-manager."""
    accounts = "system:serviceaccounts"
    return User(
        f"system:serviceaccount:kube-system:{name}",
        (accounts, f"{accounts}:kube-system", "system:authenticated"),
    )


class Asked(msgspec.Struct, frozen=True):
    """The attributes of a write beside its object: user, dry run, field manager, warnings."""

    user: User = ANONYMOUS
    dry_run: bool = False
    manager: str = ""
    """The field manager; "" = none."""
    warnings: list[str] = msgspec.field(default_factory=list)
    """The list to which admission adds its warnings."""


class AdmissionRequest(msgspec.Struct, frozen=True):
    """A request as policies see it. ``object``: None for a deletion; ``old``: None for a creation."""

    operation: Operation
    resource: Resource
    name: str
    namespace: str
    object: Manifest | None
    old: Manifest | None
    asked: Asked
    subresource: str = ""
    kind: tuple[str, str, str] | None = None
    """Group, version and kind of the object, where these are not the resource's."""

    def namespace_seen(self) -> str:
        """Return the namespace in which the request is: a Namespace is in itself."""
        return self.name if self.resource == NAMESPACES else self.namespace

    def resource_parts(self) -> dict[str, str]:
        return {
            "group": self.resource.group,
            "version": self.resource.version,
            "resource": self.resource.plural,
        }

    def kind_parts(self) -> dict[str, str]:
        group, version, kind = self.kind or (self.resource.group, self.resource.version, self.resource.kind)
        return {"group": group, "version": version, "kind": kind}

    def seen_as(self, resource: Resource) -> dict[str, Any]:
        """Return the variable ``request`` of expressions. ``resource``: the version that a policy matches."""
        asked = self.asked
        matched = msgspec.structs.replace(self, resource=resource)
        options: Manifest = {"kind": _OPTIONS[self.operation], "apiVersion": "meta.k8s.io/v1"}
        if asked.dry_run:
            options["dryRun"] = ["All"]
        if asked.manager and self.operation != "DELETE":
            options["fieldManager"] = asked.manager
        seen = {
            "uid": "",
            "kind": matched.kind_parts(),
            "resource": matched.resource_parts(),
            "subResource": self.subresource,
            "requestKind": self.kind_parts(),
            "requestResource": self.resource_parts(),
            "requestSubResource": self.subresource,
            "name": self.name,
            "namespace": self.namespace_seen(),
            "operation": self.operation,
            "userInfo": {"username": asked.user.name, "groups": [*asked.user.groups]},
            "dryRun": asked.dry_run,
            "options": options,
            "object": None,
            "oldObject": None,
        }
        left_out = {"subResource", "requestSubResource", "name", "namespace"}
        return {field: value for field, value in seen.items() if value or field not in left_out}


def deletion_request(resource: Resource, old: Manifest, asked: Asked) -> AdmissionRequest:
    return AdmissionRequest("DELETE", resource, name_of(old), namespace_of(old), None, old, asked)


def subresource_request(pod: Manifest, resource: Resource, body: Manifest, asked: Asked) -> AdmissionRequest:
    """Return the request that creates a Binding or an Eviction of a pod. ``resource``: that of the body."""
    given = {**body, "apiVersion": resource.api_version, "kind": resource.kind}
    kind = (resource.group, resource.version, resource.kind)
    place = name_of(pod), namespace_of(pod)
    return AdmissionRequest("CREATE", PODS, *place, given, None, asked, resource.singular, kind)
