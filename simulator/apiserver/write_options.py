"""The options of a write, and the validation of its query parameters: CreateOptions, UpdateOptions,
PatchOptions.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, v1.34.
"""

from collections.abc import Iterator, Sequence

import msgspec

from simulator.apiserver.query import Query
from simulator.apiserver.status import Cause, Invalid, forbidden, invalid, not_supported, required, too_long

MAX_FIELD_MANAGER_BYTES = 128
FIELD_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_KINDS = {
    "POST": "CreateOptions",
    "PUT": "UpdateOptions",
    "PATCH": "PatchOptions",
}


class RequestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of all writes."""

    dry_run: bool = False
    warnings: list[str] = msgspec.field(default_factory=list)
    """The warnings of the request so far, to which the API server adds its own."""


class WriteOptions(RequestOptions, frozen=True):
    """The options of a create, update, patch or apply."""

    manager: str | None = None
    """The field manager, who comes to own the fields that change; None: nobody."""
    force: bool = False
    """Whether an apply takes fields from other managers."""


def check_write_options(method: str, query: Query, dry_run: Sequence[str], *, is_apply: bool = False) -> None:
    """Check the options of a write. ``dry_run`` are the values of dryRun. Raises Invalid."""
    kind = _KINDS.get(method, "CreateOptions")
    causes = [*(_of_patch(query, is_apply=is_apply) if kind == "PatchOptions" else ())]
    causes += _field_manager(query.get("fieldManager", ""))
    if any(value != "All" for value in dry_run):
        causes.append(not_supported("dryRun", dry_run, ["All"]))
    validation = query.get("fieldValidation", "")
    if validation not in FIELD_VALIDATIONS:
        causes.append(not_supported("fieldValidation", validation, FIELD_VALIDATIONS))
    if causes:
        raise Invalid(kind, "meta.k8s.io", "", causes)


def _of_patch(query: Query, *, is_apply: bool) -> Iterator[Cause]:
    if is_apply and not query.get("fieldManager"):
        yield required("fieldManager", "is required for apply patch")
    elif not is_apply and "force" in query:
        yield forbidden("force", "may not be specified for non-apply patch")


def _field_manager(name: str) -> Iterator[Cause]:
    if len(name.encode()) > MAX_FIELD_MANAGER_BYTES:
        yield too_long("fieldManager", MAX_FIELD_MANAGER_BYTES)
    for place, character in enumerate(name):
        if not character.isprintable():
            detail = f"invalid character U+{ord(character):04X} (at position {place})"
            yield invalid("fieldManager", name, detail)
            return
