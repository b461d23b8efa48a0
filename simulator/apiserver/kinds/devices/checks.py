"""Checks of single fields that the kinds of resource.k8s.io share: names, lists with a bound, configurations
and tolerations (pkg/apis/resource/validation/validation.go, v1.34)."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_choice, check_name, too_many
from simulator.apiserver.kinds.volumes.validation import MAX_DRIVER_NAME, check_driver_name
from simulator.apiserver.repeated import repeats
from simulator.apiserver.shapes import PartRule
from simulator.apiserver.status import (
    Cause,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    wrong_type,
)

MAX_REQUESTS: Final = 32
"""The maximum number of requests of a claim, and of references to requests; also that of constraints,
configurations, selectors and results (DeviceRequestsMaxSize and others)."""
MAX_PARAMETERS: Final = 10 * 1024
"""Maximum number of bytes of the parameters for a driver (OpaqueParametersMaxLength)."""
_MAX_POOL_NAME: Final = 253
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
_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoExecute", "NoSchedule")


def check_list(items: Sequence[Any] | None, most: int, path: str, check: PartRule) -> Iterator[Cause]:
    """Yield the faults that validateSlice reports."""
    for index, item in enumerate(items or ()):
        yield from check(item, f"{path}[{index}]")
    if len(items or ()) > most:
        yield too_many(path, len(items or ()), most)


def check_unique(items: Sequence[Manifest] | None, field: str, path: str) -> Iterator[Cause]:
    """Yield the faults of items that repeat the value of ``field`` (validateSet)."""
    values = [item.get(field, "") for item in items or ()]
    for index, (value, is_repeated) in enumerate(zip(values, repeats(values), strict=True)):
        if is_repeated:
            yield duplicate(f"{path}[{index}].{field}", value)


def check_request_references(references: list[str] | None, known: set[str], path: str) -> Iterator[Cause]:
    """Yield the faults of the requests that a constraint or a configuration names."""
    given = references or []
    yield from check_list(
        given, MAX_REQUESTS, path, lambda name, at: check_request_reference(name, known, at)
    )
    for index, (name, is_repeated) in enumerate(zip(given, repeats(given), strict=True)):
        if is_repeated:
            yield duplicate(f"{path}[{index}]", name)


def check_request_reference(name: str, known: set[str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateRequestNameRef reports."""
    parts = name.split("/")
    for part in parts if len(parts) <= 2 else ():
        yield from check_name(names.dns_label, part, path)
    if name not in known:
        yield invalid(path, name, _NO_REQUEST)


def check_pool_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults of a pool's name: subdomains with slashes between them (validatePoolName)."""
    if not name:
        yield required(path)
        return
    if len(name) > _MAX_POOL_NAME:
        yield too_long(path, _MAX_POOL_NAME)
    for part in name.split("/"):
        yield from check_name(names.dns_subdomain, part, path)


def check_qualified_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults of a qualified name: an identifier, or the domain of a driver and an identifier
    (validateQualifiedName)."""
    if not name:
        yield required(path, "name required")
        return
    domain, slash, identifier = name.partition("/")
    if not slash:
        yield from _identifier(name, path)
    elif "/" not in identifier:  # upstream looks at no name with more slashes
        if domain:
            yield from check_driver_name(domain, path)
        else:
            yield required(path, "the domain must not be empty")
        if identifier:
            yield from _identifier(identifier, path)
        else:
            yield required(path, "the name must not be empty")


def check_fully_qualified_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateFullyQualifiedName reports."""
    yield from check_qualified_name(name, path)
    if name and "/" not in name:
        yield invalid(path, name, "must include a domain")


def _identifier(text: str, path: str) -> Iterator[Cause]:
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


def check_configuration(config: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceConfiguration reports."""
    opaque = config.get("opaque")
    if opaque is None:
        yield required(f"{path}.opaque")
        return
    yield from check_driver_name(opaque.get("driver", ""), f"{path}.opaque.driver")
    yield from check_raw_object(opaque.get("parameters"), f"{path}.opaque.parameters", MAX_PARAMETERS)


def check_raw_object(value: Any, path: str, most: int) -> Iterator[Cause]:
    """Yield the faults that validateRawExtension reports. Its size is that of the shortest JSON: what was
    sent may have had spaces."""
    if value is None:
        yield required(path)
    elif len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > most:
        yield too_long(path, most)
    elif not isinstance(value, dict):
        yield invalid(path, "<value omitted>", "parameters must be a valid JSON object")


def check_toleration(toleration: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceToleration reports."""
    key, value = toleration.get("key", ""), toleration.get("value", "")
    operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
    if key:
        yield from check_name(names.qualified_name, key, f"{path}.key")
    if operator == "Exists" and value:
        yield invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from check_name(names.label_value, value, f"{path}.value")
    else:
        yield from check_choice(operator, _OPERATORS, f"{path}.operator")
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS)


def request_names(claim_spec: Manifest) -> set[str]:
    """Return the names by which a claim's requests, and their alternatives, are referred to
    (gatherRequestNames)."""
    known = set[str]()
    for request in (claim_spec.get("devices") or {}).get("requests") or ():
        name = request.get("name", "")
        known |= {name, *(f"{name}/{each.get('name', '')}" for each in request.get("firstAvailable") or ())}
    return known
