"""Defaults of roles and of their bindings (pkg/apis/rbac/v1/defaults.go, v1.34)."""

from collections.abc import Callable
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.rbac_validation import GROUP

_OF_THE_GROUP: Final = ("User", "Group")


def _default_role(manifest: Manifest) -> None:
    """Set the rules: Go writes them even if there are none."""
    manifest.setdefault("rules", None)


def _default_binding(manifest: Manifest) -> None:
    role = manifest.get("roleRef")
    if role is not None and not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in manifest.get("subjects") or ():
        if subject.get("kind") in _OF_THE_GROUP and not subject.get("apiGroup"):
            subject["apiGroup"] = GROUP


RBAC_DEFAULTS: Final[dict[str, Callable[[Manifest], None]]] = {
    "roles.rbac.authorization.k8s.io": _default_role,
    "clusterroles.rbac.authorization.k8s.io": _default_role,
    "rolebindings.rbac.authorization.k8s.io": _default_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": _default_binding,
}
