"""The columns of RoleBindings and ClusterRoleBindings."""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, Cell, Column, Printer, printer_of


def _role(item: Manifest, _: Micros) -> str:
    role = item.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _subjects(kind: str) -> Cell:
    """Return the cell of the subjects of a kind (SubjectsStrings in pkg/apis/rbac/helpers.go)."""

    def cell(item: Manifest, _: Micros) -> str:
        found = [each for each in item.get("subjects") or () if each.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{each.get('namespace', '')}/{each.get('name', '')}" for each in found)
        return ", ".join(each.get("name", "") for each in found)

    return cell


def _binding_printer(kind: str, role: str) -> Printer:
    """Return the printer of bindings. ``role``: the description of the reference in v1beta1."""
    of_subjects = (
        Column(f"{subject}s", f"{subject}s in the {kind}", wide=1, cell=_subjects(subject))
        for subject in ("User", "Group", "ServiceAccount")
    )
    return printer_of(NAME, Column("Role", role, cell=_role), AGE, *of_subjects)


ROLE_BINDING_PRINTERS: Final = {
    "RoleBinding": _binding_printer(
        "roleBinding",
        "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. "
        "If the RoleRef cannot be resolved, the Authorizer must return an error.",
    ),
    "ClusterRoleBinding": _binding_printer(
        "clusterRoleBinding",
        "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be "
        "resolved, the Authorizer must return an error.",
    ),
}
"""Kind -> its columns."""
