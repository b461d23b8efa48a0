"""DeleteOptions: what a request says about a deletion.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go (ValidateDeleteOptions), v1.34.
"""

from collections.abc import Mapping
from typing import Final, Literal

from simulator.api import Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.json_reader import json_error, parse_json_value
from simulator.apiserver.status import Invalid, PlainError, invalid, not_supported

MAX_GRACE_SECONDS: Final = (1 << 31) - 1
"""Maximum grace period, 68 years. Longer ones of pods are shortened to it, because the end of a grace period
must be a valid time in RFC 3339."""
Propagation = Literal["Orphan", "Background", "Foreground"]
"""How an object's dependents are treated: kept, deleted after the object, or deleted before it."""
_SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
_VERSIONS = ("v1", "meta.k8s.io/v1", "meta.k8s.io/v1beta1")
_GO_TYPES = {
    "dryRun": (list, "[]string"),
    "gracePeriodSeconds": (int, "int64"),
    "ignoreStoreReadErrorWithClusterBreakingPotential": (bool, "bool"),
    "orphanDependents": (bool, "bool"),
    "preconditions": (dict, "v1.Preconditions"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
}
_PRECONDITION_TYPES = {"uid": (str, "types.UID"), "resourceVersion": (str, "string")}
_POLICIES = ("Foreground", "Background", "Orphan")


def decode_delete_options(text: str) -> Manifest:
    """Parse DeleteOptions in the body of a request, in JSON. Unknown fields are ignored.

    Raises PlainError: upstream a decoder's error is returned as it is (DeleteResource in
    apiserver/pkg/endpoints/handlers/delete.go)."""
    try:
        given = parse_json_value(text)
    except ManifestError as error:
        detail = json_error(text) or str(error)
        raise PlainError(f"couldn't get version/kind; json parse error: {detail}") from None
    if not isinstance(given, dict):
        raise PlainError("couldn't get version/kind; json parse error: " + _mismatch(given, ""))
    version, kind = str(given.get("apiVersion") or "v1"), str(given.get("kind") or "DeleteOptions")
    if version not in _VERSIONS or kind != "DeleteOptions":
        shown = f'no kind "{kind[:100]}" is registered for version "{version[:100]}"'
        raise PlainError(f'{shown} in scheme "{_SCHEME}"')
    options = _known_fields(given, "DeleteOptions.", _GO_TYPES)
    if "preconditions" in options:
        path = "Preconditions.preconditions."
        options["preconditions"] = _known_fields(options["preconditions"], path, _PRECONDITION_TYPES)
    if not all(isinstance(value, str) for value in options.get("dryRun", ())):
        raise PlainError("json: cannot unmarshal into Go struct field DeleteOptions.dryRun of type string")
    return options


def _known_fields(given: Manifest, path: str, types: Mapping[str, tuple[type, str]]) -> Manifest:
    known = {field: value for field, value in given.items() if field in types and value is not None}
    for field, value in known.items():
        wanted, name = types[field]
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if not (is_number if wanted is int else isinstance(value, wanted)):
            raise PlainError(_mismatch(value, f"field {path}{field} of type {name}"))
        if wanted is int and not -(1 << 63) <= value < 1 << 63:
            into = f"Go struct field {path}{field} of type {name}"
            raise PlainError(f"json: cannot unmarshal number {value} into {into}")
    return known


def _mismatch(value: object, place: str) -> str:
    names = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
    into = f"Go struct {place}" if place else "Go value of type struct { APIVersion string; Kind string }"
    return f"json: cannot unmarshal {names.get(type(value), 'null')} into {into}"


def requested_grace_seconds(options: Manifest) -> int | None:
    """Return the grace period in DeleteOptions; None if they have none. A negative one means one second
    (apiserver/pkg/registry/rest/delete.go, BeforeDelete). Raises Invalid above MAX_GRACE_SECONDS (upstream,
    the time.Duration overflows)."""
    asked: int | None = options.get("gracePeriodSeconds")
    if asked is not None and asked > MAX_GRACE_SECONDS:
        cause = invalid("gracePeriodSeconds", asked, f"must be less than or equal to {MAX_GRACE_SECONDS}")
        raise Invalid("DeleteOptions", "meta.k8s.io", "", [cause])
    return 1 if asked is not None and asked < 0 else asked


def requested_propagation(options: Manifest) -> Propagation | None:
    """Return the policy in DeleteOptions, from propagationPolicy or the deprecated orphanDependents; None if
    they have neither. Raises Invalid."""
    policy: Propagation | None = options.get("propagationPolicy")
    orphan = options.get("orphanDependents")
    if policy is not None and orphan is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        cause = invalid("propagationPolicy", policy, detail)
    elif policy is not None and policy not in _POLICIES:
        cause = not_supported("propagationPolicy", policy, (*_POLICIES, "nil"), as_given=True)
    else:
        return policy if orphan is None else "Orphan" if orphan else "Background"
    raise Invalid("DeleteOptions", "meta.k8s.io", "", [cause])
