"""Reads the operations of a JSON patch.

Upstream: jsonPatchOp and applyJSPatch in apiserver/pkg/endpoints/handlers/patch.go. Unless the request
ignores unknown fields, the list is decoded twice: as operations with typed fields, and as maps.
"""

from typing import Any, Final

from simulator.apiserver.request_decoding.read_object import RecordedObject
from simulator.apiserver.status import BadRequest
from simulator.kernel.go_text import go_type_error, json_kind

_TEXTS: Final = ("op", "path", "from")
_FIELDS: Final = (*_TEXTS, "value")


def check_operations(patch: Any, *, typed: bool) -> list[Any]:
    """Return the operations, of which null is one that never applies. ``typed``: the fields are checked too.
    Raises BadRequest."""
    if patch is None:
        return []
    prefix, package = (
        ("error decoding patch: ", "handlers.jsonPatchOp") if typed else ("", "jsonpatch.Operation")
    )
    if not isinstance(patch, list):
        listed = f"[]{package}" if typed else "jsonpatch.Patch"
        raise BadRequest(prefix + go_type_error(patch, listed))
    for operation in patch:
        if operation is not None and not isinstance(operation, dict):
            raise BadRequest(prefix + go_type_error(operation, package))
        for field, value in (operation or {}).items() if typed else ():
            if field in _TEXTS and value is not None and not isinstance(value, str):
                raise BadRequest(
                    f"{prefix}json: cannot unmarshal {json_kind(value)} into Go struct field "
                    f"jsonPatchOp.{field} of type string"
                )
    return patch


def strict_faults(operations: list[Any]) -> list[str]:
    """Return the unknown and repeated fields of the operations, in their order."""
    found: list[str] = []
    for index, operation in enumerate(operations):
        place = f"[{index}]."
        repeated = _repeated(operation)
        for field, value in operation.items():
            if field not in _FIELDS:
                found.append(f'unknown field "{place}{field}"')
                continue
            if field in repeated:
                found.append(f'duplicate field "{place}{field}"')
            found += repeated_fields(value, f"{place}{field}.")
    return found


def repeated_fields(value: Any, path: str = "") -> list[str]:
    """Return the keys that a value repeats, as UnmarshalStrict names them."""
    found: list[str] = []
    if isinstance(value, dict):
        found += [f'duplicate field "{path}{name}"' for name in _repeated(value)]
        for name, item in value.items():
            found += repeated_fields(item, f"{path}{name}.")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += repeated_fields(item, f"{path.removesuffix('.')}[{index}].")
    return found


def _repeated(value: dict[str, Any]) -> tuple[str, ...]:
    return value.repeated if isinstance(value, RecordedObject) else ()
