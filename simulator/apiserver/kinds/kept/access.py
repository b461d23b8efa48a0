"""The rows of RoleBindings and ClusterRoleBindings."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, Column, Printer, age_of


def _binding(item: Manifest, now: Micros) -> list[Any]:
    role = item.get("roleRef") or {}
    subjects = {kind: _subjects(item, kind) for kind in ("User", "Group", "ServiceAccount")}
    shown = f"{role.get('kind', '')}/{role.get('name', '')}"
    return [item["metadata"]["name"], shown, age_of(item, now), *subjects.values()]


def _subjects(item: Manifest, kind: str) -> str:
    """Format subjects (SubjectsStrings in pkg/apis/rbac/helpers.go)."""
    found = [each for each in item.get("subjects") or () if each.get("kind") == kind]
    if kind == "ServiceAccount":
        return ", ".join(f"{each.get('namespace', '')}/{each.get('name', '')}" for each in found)
    return ", ".join(each.get("name", "") for each in found)


def _binding_columns(kind: str, role: str) -> tuple[Column, ...]:
    """Return the columns of bindings. ``role``: the description of the reference in v1beta1."""
    of_subjects = (
        Column(name, f"{name} in the {kind}", wide=1) for name in ("Users", "Groups", "ServiceAccounts")
    )
    return (NAME, Column("Role", role), AGE, *of_subjects)


ROLE_BINDING_PRINTERS = {
    "RoleBinding": Printer(
        _binding_columns(
            "roleBinding",
            "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. "
            "If the RoleRef cannot be resolved, the Authorizer must return an error.",
        ),
        _binding,
    ),
    "ClusterRoleBinding": Printer(
        _binding_columns(
            "clusterRoleBinding",
            "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be "
            "resolved, the Authorizer must return an error.",
        ),
        _binding,
    ),
}
