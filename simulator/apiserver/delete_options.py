"""DeleteOptions: the options of a request to delete an object.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go (ValidateDeleteOptions), v1.34.
"""

from typing import Literal

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.preparation import MAX_GRACE_SECONDS
from simulator.apiserver.request_decoding.decode_request import check_type_fields
from simulator.apiserver.request_decoding.read_object import UnreadableBody, read_json_body
from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.status import Invalid, PlainError, invalid, not_supported
from simulator.apiserver.types.api_types import DELETE_OPTIONS, api_types
from simulator.apiserver.write_options import RequestOptions

Propagation = Literal["Orphan", "Background", "Foreground"]
"""The treatment of an object's dependents: kept, deleted after the object, or deleted before it."""
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

    Raises PlainError: upstream a decoder's error is returned as it is (DeleteResource in
    apiserver/pkg/endpoints/handlers/delete.go)."""
    try:
        given = read_json_body(text)
        given = {} if given is None else given
        check_type_fields(given)
    except UnreadableBody as error:
        raise PlainError(str(error)) from None
    version, kind = given.get("apiVersion") or "v1", given.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions" or not (version == _META or api_types().knows(version, kind)):
        shown = f'no kind "{kind[:100]}" is registered for version "{version[:100]}"'
        raise PlainError(f'{shown} in scheme "{_SCHEME}"')
    decoder = TypedValues()
    decoded: Manifest = decoder.decode(api_types().struct(DELETE_OPTIONS), given)
    if decoder.error:
        raise PlainError(decoder.error)
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
