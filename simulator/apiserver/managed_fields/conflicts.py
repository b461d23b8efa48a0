"""The error of an apply that would change fields of other managers.

Upstream: apimachinery/pkg/util/managedfields/internal/conflict.go, NewApplyConflict in api/errors, v1.34.
"""

from collections.abc import Mapping

from simulator.apiserver.managed_fields.field_paths import FieldSet, path_text, paths_in_order
from simulator.apiserver.managed_fields.managers import FieldManager
from simulator.apiserver.status import Cause, StatusError


class ApplyConflict(StatusError):
    """409 for an apply without force. ``fields``: those that other managers own."""

    code = 409
    reason = "Conflict"

    def __init__(self, fields: Mapping[FieldManager, FieldSet]) -> None:
        self.fields = dict(sorted(fields.items(), key=lambda item: _identifier(item[0])))
        paths = {
            manager: [path_text(path) for path in paths_in_order(owned)]
            for manager, owned in self.fields.items()
        }
        causes = [
            Cause(path, f"conflict with {manager}", "FieldManagerConflict")
            for manager, found in paths.items()
            for path in found
        ]
        super().__init__(_message(paths), causes=causes)


def _message(paths: Mapping[FieldManager, list[str]]) -> str:
    count = sum(map(len, paths.values()))
    if count == 1:
        ((manager, (path,)),) = paths.items()
        return f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    lines = []
    for manager, found in paths.items():
        lines += [f"conflicts with {manager}:", *(f"- {path}" for path in found)]
    return f"Apply failed with {count} conflicts: " + "\n".join(lines)


def _identifier(manager: FieldManager) -> tuple[str, ...]:
    return manager.name, manager.operation, manager.api_version, manager.subresource
