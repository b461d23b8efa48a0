"""Validation of the query parameters of a write: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, v1.34.
"""

from collections.abc import Iterator, Sequence

from simulator.apiserver.query import Query
from simulator.apiserver.status import Cause, Invalid, invalid, not_supported, too_long

MAX_FIELD_MANAGER_BYTES = 128
FIELD_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_KINDS = {
    "POST": "CreateOptions",
    "PUT": "UpdateOptions",
    "PATCH": "PatchOptions",
    "DELETE": "DeleteOptions",
}


def check_write_options(method: str, query: Query, dry_run: Sequence[str]) -> None:
    """Check the options of a write. ``dry_run`` are the values of dryRun, from the query or from a body of
    DeleteOptions. Raises Invalid."""
    kind = _KINDS.get(method, "CreateOptions")
    causes = [*(() if kind == "DeleteOptions" else _field_manager(query.get("fieldManager", "")))]
    if any(value != "All" for value in dry_run):
        causes.append(not_supported("dryRun", dry_run, ["All"]))
    validation = query.get("fieldValidation", "")
    if kind != "DeleteOptions" and validation not in FIELD_VALIDATIONS:
        causes.append(not_supported("fieldValidation", validation, FIELD_VALIDATIONS))
    if causes:
        raise Invalid(kind, "meta.k8s.io", "", causes)


def _field_manager(name: str) -> Iterator[Cause]:
    if len(name.encode()) > MAX_FIELD_MANAGER_BYTES:
        yield too_long("fieldManager", MAX_FIELD_MANAGER_BYTES)
    for place, character in enumerate(name):
        if not character.isprintable():
            detail = f"invalid character U+{ord(character):04X} (at position {place})"
            yield invalid("fieldManager", name, detail)
            return
