"""The options of a write, and the validation of its query parameters (CreateOptions, UpdateOptions,
PatchOptions) and of the body of a deletion (DeleteOptions).

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go."""

from collections.abc import Iterator, Sequence

import msgspec

from simulator.api import Manifest
from simulator.apiserver.component_writes import Propagation
from simulator.apiserver.kinds.pods.preparation import MAX_GRACE_SECONDS
from simulator.apiserver.query import Query
from simulator.apiserver.request_decoding.decode_request import check_type_fields
from simulator.apiserver.request_decoding.read_object import UnreadableBody, read_json_body
from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.served_features import served_version
from simulator.apiserver.status import (
    BadRequest,
    Cause,
    Invalid,
    PlainError,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simulator.apiserver.types.api_types import DELETE_OPTIONS, api_types

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


_SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
_META = "meta.k8s.io/v1"
_POLICIES = ("Foreground", "Background", "Orphan")


class DeleteOptions(RequestOptions, frozen=True):
    """The options of a deletion or eviction."""

    grace_seconds: int | None = None
    """None: the object's own grace period."""
    propagation: Propagation | None = None
    """None: the default of the kind."""
    uid: str = ""
    version: str = ""
    """The UID and the resourceVersion that the object must have; "" = any."""

    @staticmethod
    def of(options: Manifest) -> "DeleteOptions":
        """Return the options in a request. Raises Invalid."""
        check_delete_options(options)
        preconditions = options.get("preconditions") or {}
        return DeleteOptions(
            requested_grace_seconds(options),
            requested_propagation(options),
            preconditions.get("uid", ""),
            preconditions.get("resourceVersion", ""),
            dry_run=bool(options.get("dryRun")),
        )


def decode_delete_options(text: str) -> Manifest:
    """Parse DeleteOptions in the body of a request, in JSON. Unknown fields are ignored.

    Raises BadRequest; in an older version PlainError, as a decoder's error was returned as it is
    (DeleteResource in apiserver/pkg/endpoints/handlers/delete.go)."""
    refusal = BadRequest if served_version().unreadable_bodies_are_refused else PlainError
    try:
        given = read_json_body(text)
        given = {} if given is None else given
        check_type_fields(given)
    except UnreadableBody as error:
        raise refusal(str(error)) from None
    version, kind = given.get("apiVersion") or "v1", given.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions" or not (version == _META or api_types().knows(version, kind)):
        shown = f'no kind "{kind[:100]}" is registered for version "{version[:100]}"'
        raise refusal(f'{shown} in scheme "{_SCHEME}"')
    decoder = TypedValues()
    decoded: Manifest = decoder.decode(api_types().struct(DELETE_OPTIONS), given)
    if decoder.error:
        raise refusal(decoder.error)
    return decoded


def requested_grace_seconds(options: Manifest) -> int | None:
    """Return the grace period in DeleteOptions; None if they have none. A negative one means one second
    (apiserver/pkg/registry/rest/delete.go, BeforeDelete). Raises Invalid above MAX_GRACE_SECONDS (upstream,
    the time.Duration overflows)."""
    asked: int | None = options.get("gracePeriodSeconds")
    if asked is not None and asked > MAX_GRACE_SECONDS:
        cause = invalid("gracePeriodSeconds", asked, f"must be less than or equal to {MAX_GRACE_SECONDS}")
        raise Invalid("DeleteOptions", "meta.k8s.io", "", [cause])
    return 1 if asked is not None and asked < 0 else asked


def check_delete_options(options: Manifest) -> None:
    """Check DeleteOptions. Raises Invalid."""
    policy, dry_run = options.get("propagationPolicy"), options.get("dryRun") or []
    causes = []
    if policy is not None and options.get("orphanDependents") is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(invalid("propagationPolicy", policy, detail))
    if policy is not None and policy not in _POLICIES:
        causes.append(not_supported("propagationPolicy", policy, (*_POLICIES, "nil"), as_given=True))
    if any(value != "All" for value in dry_run):
        causes.append(not_supported("dryRun", dry_run, ["All"]))
    if causes:
        raise Invalid("DeleteOptions", "meta.k8s.io", "", causes)


def requested_propagation(options: Manifest) -> Propagation | None:
    """Return the policy in DeleteOptions, from propagationPolicy or the deprecated orphanDependents; None if
    they have neither."""
    policy: Propagation | None = options.get("propagationPolicy")
    orphan = options.get("orphanDependents")
    return policy if orphan is None else "Orphan" if orphan else "Background"
