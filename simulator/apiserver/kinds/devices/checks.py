"""Rules that the kinds of resource.k8s.io share: names, configurations, tolerations and admin access
(pkg/apis/resource/validation/validation.go and pkg/registry/resource/utils.go)."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import choices_of
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.kinds.volumes.validation import MAX_DRIVER_NAME, check_driver_name
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.shapes import (
    PartRule,
    Rule,
    all_of,
    choice,
    field,
    filled,
    has,
    items,
    max_bytes,
    must_exist,
    named_by,
    needed,
    value_at,
    when,
    wrong,
)
from simulator.apiserver.status import Cause, forbidden, invalid, required, too_long, wrong_type

MAX_REQUESTS: Final = 32
"""The maximum number of requests of a claim, and of references to requests; also that of constraints,
configurations, selectors and results (DeviceRequestsMaxSize and others)."""
MAX_PARAMETERS: Final = 10 * 1024
"""Maximum number of bytes of the parameters for a driver (OpaqueParametersMaxLength)."""
_MAX_IDENTIFIER: Final = 32
_MAX_KEY: Final = MAX_DRIVER_NAME + 1 + _MAX_IDENTIFIER
_IDENTIFIER: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_NO_IDENTIFIER: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')"
)
_NO_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_ADMIN_ACCESS: Final = "resource.kubernetes.io/admin-access"
_NOT_ALLOWED: Final = (
    f"admin access to devices requires the `{_ADMIN_ACCESS}: true` label on the containing namespace"
)


def request_names(claim_spec: Manifest) -> set[str]:
    """Return the names by which a claim's requests, and their alternatives, are referred to
    (gatherRequestNames)."""
    known = set[str]()
    for request in value_at(claim_spec, "devices.requests") or ():
        name = request.get("name", "")
        known |= {name, *(f"{name}/{each.get('name', '')}" for each in request.get("firstAvailable") or ())}
    return known


def request_reference(known: set[str]) -> PartRule:
    """A name is that of one of the known requests (validateRequestNameRef)."""

    def check(name: str, path: str) -> Iterator[Cause]:
        parts = name.split("/")
        for part in parts if len(parts) <= 2 else ():
            yield from check_name(names.dns_label, part, path)
        if name not in known:
            yield invalid(path, name, _NO_REQUEST)

    return check


def request_references(known: set[str]) -> Rule:
    """The requests that a constraint or a configuration names are known."""
    return field("requests", items(request_reference(known), most=MAX_REQUESTS, unique=""))


def _check_subdomains(name: str, path: str) -> Iterator[Cause]:
    for part in name.split("/"):
        yield from check_name(names.dns_subdomain, part, path)


POOL_NAME: Final = all_of(max_bytes(253), _check_subdomains)
"""The name of a pool: subdomains with slashes between them (validatePoolName)."""


def check_qualified_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults of a qualified name: an identifier, or the domain of a driver and an identifier
    (validateQualifiedName)."""
    if not name:
        yield required(path, "name required")
        return
    domain, slash, identifier = name.partition("/")
    if not slash:
        yield from _check_identifier(name, path)
    elif "/" not in identifier:  # upstream looks at no name with more slashes
        if domain:
            yield from check_driver_name(domain, path)
        else:
            yield required(path, "the domain must not be empty")
        if identifier:
            yield from _check_identifier(identifier, path)
        else:
            yield required(path, "the name must not be empty")


def check_fully_qualified_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateFullyQualifiedName reports."""
    yield from check_qualified_name(name, path)
    if name and "/" not in name:
        yield invalid(path, name, "must include a domain")


def _check_identifier(text: str, path: str) -> Iterator[Cause]:
    if len(text) > _MAX_IDENTIFIER:
        yield too_long(path, _MAX_IDENTIFIER)
    if not _IDENTIFIER.fullmatch(text):
        yield wrong_type(path, text, _NO_IDENTIFIER)


def key_path(path: str, key: str) -> str:
    """Return the path of a key of a map, of which the middle is left out if it is long
    (truncateIfTooLong)."""
    if len(key) > _MAX_KEY:
        kept = _MAX_KEY - len("...")
        key = f"{key[: (kept + 1) // 2]}...{key[len(key) - kept // 2 :]}"
    return f"{path}[{key}]"


def raw_object(most: int) -> PartRule:
    """A value is an object of at most so many bytes (validateRawExtension). Its size is that of the shortest
    JSON: what was sent may have had spaces."""

    def check(value: Any, path: str) -> Iterator[Cause]:
        if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > most:
            yield too_long(path, most)
        elif not isinstance(value, dict):
            yield invalid(path, "<value omitted>", "parameters must be a valid JSON object")

    return check


CONFIGURATION: Final = needed(
    "opaque",
    field("driver", check_driver_name, default=""),
    must_exist("parameters"),
    field("parameters", raw_object(MAX_PARAMETERS)),
)
"""validateDeviceConfiguration."""


def _check_effect(effect: str, path: str) -> Iterable[Cause]:
    return choice(choices_of("resource.v1.DeviceTaint", "effect"))(effect, path)


TOLERATION: Final = all_of(
    filled("key", named_by(names.qualified_name)),
    when(has("operator", "Exists"), filled("value", wrong("must be empty for operator `Exists`"))),
    when(has("operator", "Equal"), filled("value", named_by(names.label_value))),
    field("operator", choice(("Equal", "Exists")), default=""),
    filled("effect", _check_effect),
)
"""validateDeviceToleration."""
TAINT: Final = all_of(
    needed("key", named_by(names.qualified_name)),
    filled("value", named_by(names.label_value)),
    field("effect", _check_effect, default=""),
)
"""validateDeviceTaint."""
BINDING_CONDITIONS: Final = ("bindingConditions", "bindingFailureConditions")


def check_admin_access(manifest: Manifest, spec: Manifest, overlay: Overlay) -> Iterator[Cause]:
    """Check the first request for admin access of a new claim, or of a template, of which ``spec`` is that of
    its claims (AuthorizedForAdmin)."""
    requests = value_at(spec, "devices.requests") or ()
    wanted = [bool(value_at(request, "exactly.adminAccess")) for request in requests]
    if any(wanted) and not _allows_admin_access(manifest, overlay):
        # The path of a template leaves one spec out.
        yield forbidden(f"spec.devices.requests[{wanted.index(True)}].adminAccess", _NOT_ALLOWED)


def check_admin_access_of_status(new: Manifest, old: Manifest, overlay: Overlay) -> Iterator[Cause]:
    """Check the first result with admin access of a claim's new status, unless it had one before
    (AuthorizedForAdminStatus)."""
    wanted, known = _results(new), _results(old)
    if any(wanted) and not any(known) and not _allows_admin_access(new, overlay):
        yield forbidden(f"status.allocation.devices.results[{wanted.index(True)}].adminAccess", _NOT_ALLOWED)


def _results(claim: Manifest) -> list[bool]:
    results = value_at(claim, "status.allocation.devices.results") or ()
    return [bool(result.get("adminAccess")) for result in results]


def _allows_admin_access(manifest: Manifest, overlay: Overlay) -> bool:
    namespace = overlay.get("namespaces", manifest["metadata"].get("namespace", "")) or {}
    return ((namespace.get("metadata") or {}).get("labels") or {}).get(_ADMIN_ACCESS) == "true"
