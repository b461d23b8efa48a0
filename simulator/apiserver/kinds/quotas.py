"""ResourceQuotas and LimitRanges.

Upstream: strategy.go in pkg/registry/core/{resourcequota,limitrange}, SetDefaults_LimitRangeItem in
pkg/apis/core/v1/defaults.go, and the Validate...ResourceQuota... functions and ValidateLimitRange in
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import QUOTA_SCOPES
from simulator.apiserver.field_checks import IMMUTABLE, check_name
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.printers.column import AGE, NAME, PLAIN_PRINTER, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.resource_validation import (
    HUGE_PAGES,
    QUOTA_RESOURCES,
    can_be_overcommitted,
    check_container_resource,
    check_resource_name,
    validate_amount,
)
from simulator.apiserver.shapes import field, may_not_have
from simulator.apiserver.status import Cause, duplicate, invalid, required
from simulator.apiserver.strategy import Strategy, status_strategy
from simulator.objects import quantity
from simulator.objects.status import status_of

RESOURCE_QUOTAS: Final = built_in("v1", "ResourceQuota", "quota", has_status=True)
LIMIT_RANGES: Final = built_in("v1", "LimitRange", "limits")
_MAX_SHOWN: Final = 100
"""A scope selector of more requirements is not written as a whole, for each of them."""
_OF_PODS: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "limits.", "requests.")
    for name in ("cpu", "ephemeral-storage", "memory")
) | {"pods"}
_OF_CLAIMS: Final = frozenset(("persistentvolumeclaims", "requests.storage"))
_CONFLICTS: Final = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_EXISTING: Final = (*_CONFLICTS[0], *_CONFLICTS[1], "CrossNamespacePodAffinity")
_SCOPES_OF_PODS: Final = ("Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", _EXISTING[-1])
_MUST_EXIST: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
    "ResourceQuotaScopeCrossNamespacePodAffinity"
)
_APPLIED_WRONGLY: Final = "unsupported scope applied to resource"
_LIMIT_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")


def _validate_quota(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    hard: dict[str, str] = spec.get("hard") or {}
    yield from _quota_amounts(hard, "spec.hard")
    scopes = spec.get("scopes") or []
    unsupported = invalid("spec.scopes", scopes, "unsupported scope")
    applied_wrongly = invalid("spec.scopes", scopes, _APPLIED_WRONGLY)
    for scope in scopes:
        if scope not in QUOTA_SCOPES:
            yield unsupported
        yield from [applied_wrongly] * _count_wrong_resources(scope, hard)
    yield from _conflicts(scopes, scopes, "spec.scopes")
    selector = spec.get("scopeSelector")
    if selector is not None:
        yield from _scope_selector(selector, hard, scopes, "spec.scopeSelector.matchExpressions")


def _quota_amounts(amounts: dict[str, str], path: str) -> Iterator[Cause]:
    for name, text in sorted(amounts.items()):
        at = f"{path}[{name}]"
        yield from check_resource_name(name, at)
        if "/" not in name and not _is_standard(name):
            yield invalid(at, name, "must be a standard resource for quota")
        yield from validate_amount(name, text, at)


def _is_standard(name: str) -> bool:
    return name in QUOTA_RESOURCES or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def _count_wrong_resources(scope: str, hard: dict[str, str]) -> int:
    """Return for how many resources of a quota a scope is not valid."""
    return sum(_is_standard(name) and not _has_scope(scope, name) for name in hard)


def _has_scope(scope: str, resource: str) -> bool:
    """Whether a scope is valid for a resource (IsResourceQuotaScopeValidForResource)."""
    if scope in _SCOPES_OF_PODS:
        return resource in _OF_PODS or resource.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
    if scope == "BestEffort":
        return resource == "pods"
    return scope != "VolumeAttributesClass" or resource in _OF_CLAIMS


def _conflicts(scopes: Sequence[str], shown: Any, path: str) -> Iterator[Cause]:
    for pair in _CONFLICTS:
        if all(scope in scopes for scope in pair):
            yield invalid(path, shown or None, "conflicting scopes")


def _scope_selector(
    selector: Manifest, hard: dict[str, str], scopes: list[str], path: str
) -> Iterator[Cause]:
    """Yield the faults that validateScopedResourceSelectorRequirement reports. Upstream leaves out the index
    of the requirement."""
    expressions = selector.get("matchExpressions") or ()
    shown, is_short = core_struct("ScopeSelector", selector), len(expressions) <= _MAX_SHOWN
    applied_wrongly = invalid(path, shown, _APPLIED_WRONGLY, whole=is_short)
    for each in expressions:
        scope, operator, values = each["scopeName"], each["operator"], each.get("values") or []
        if scope not in QUOTA_SCOPES:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope")
        yield from [applied_wrongly] * _count_wrong_resources(scope, hard)
        if scope in _EXISTING and operator != "Exists":
            yield invalid(f"{path}.operator", operator, _MUST_EXIST)
        if operator in ("In", "NotIn"):
            if not values:
                detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                yield required(f"{path}.values", detail)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                yield invalid(f"{path}.values", values, detail)
        else:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from _conflicts([each["scopeName"] for each in expressions], scopes, path)


def _limit_type(kind: str, path: str) -> Iterable[Cause]:
    faults = check_name(names.qualified_name, kind, path)
    if not faults and "/" not in kind and kind not in _LIMIT_TYPES:
        return (invalid(path, kind, "must be a standard limit type or fully qualified"),)
    return faults


def _check_limits(limits: Sequence[Manifest], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, limit in enumerate(limits):
        at, kind = f"{path}[{index}]", limit["type"]
        yield from _limit_type(kind, f"{at}.type")
        if kind in seen:
            yield duplicate(f"{at}.type", kind)
        seen.add(kind)
        yield from _limit(limit, kind, at)


def _limit(limit: Manifest, kind: str, path: str) -> Iterator[Cause]:
    check = check_container_resource if kind in ("Pod", "Container") else check_resource_name
    given = [name for name in _AMOUNTS if kind != "Pod" or name not in _DEFAULTS]

    def check_names(of: str) -> Iterator[Cause]:
        for name in sorted(limit.get(of, ())):
            yield from check(name, f"{path}.{of}[{name}]")

    for of in given[:-1]:
        yield from check_names(of)
    if kind == "Pod":
        yield from _NO_DEFAULTS(limit, path)
    elif kind == "PersistentVolumeClaim" and not any("storage" in limit.get(of, ()) for of in ("min", "max")):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", detail)
    yield from check_names("maxLimitRequestRatio")
    for name in sorted({name for of in given for name in limit.get(of, ())}):
        yield from _amounts(name, {of: limit[of][name] for of in given if name in limit.get(of, ())}, path)


_DEFAULTS: Final = ("default", "defaultRequest")
_AMOUNTS: Final = ("max", "min", *_DEFAULTS, "maxLimitRequestRatio")
_NO_DEFAULTS: Final = may_not_have(*_DEFAULTS, detail="may not be specified when `type` is 'Pod'")
_COMPARISONS: Final = (
    ("min", "max", "min", "min", "min", "max"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", "min", "default request"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", "default request", "max"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest", "default request", "default limit"),
    ("min", "default", "default", "min", "min", "default"),
    ("default", "max", "default", "max", "default", "max"),
)
"""Amounts of which the first may not be greater than the second: the two, the field in the path, the amount
that is shown, and what a message calls the two."""


def _amounts(name: str, texts: dict[str, str], path: str) -> Iterator[Cause]:
    given = {of: quantity.parse_text(text) for of, text in texts.items()}
    for less, more, at, shown, *called in _COMPARISONS:
        if less in given and more in given and given[less] > given[more]:
            detail = f"{called[0]} value {texts[less]} is greater than {called[1]} value {texts[more]}"
            yield invalid(f"{path}.{at}[{name}]", texts[shown], detail)
    ratio, at = given.get("maxLimitRequestRatio"), f"{path}.maxLimitRequestRatio[{name}]"
    if ratio is not None:
        text = texts["maxLimitRequestRatio"]
        if ratio < quantity.NANO:
            yield invalid(at, text, f"ratio {text} is less than 1")
        if given.get("min") and "max" in given:
            most = given["max"] / given["min"]
            if ratio / quantity.NANO > most:
                yield invalid(at, text, f"ratio {text} is greater than max/min = {most:f}")
    default, request = given.get("default"), given.get("defaultRequest")
    if not can_be_overcommitted(name) and None not in (default, request) and default != request:
        detail = (
            f"default value {texts['default']} must equal to defaultRequest value "
            f"{texts['defaultRequest']} in {name}"
        )
        yield invalid(f"{path}.defaultRequest[{name}]", texts["defaultRequest"], detail)


def _validate_quota_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateResourceQuotaUpdate reports. The order of the scopes does not count."""
    after, before = (manifest.get("spec", {}).get("scopes") for manifest in (new, old))
    if {*(after or ())} != {*(before or ())}:
        yield invalid("spec.scopes", after, IMMUTABLE)


def _validate_quota_status(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateResourceQuotaStatusUpdate reports."""
    for name in ("hard", "used"):
        yield from _quota_amounts(new.get("status", {}).get(name, {}), f"status.{name}")


def _amounts_cell(item: Manifest, *, of_limits: bool) -> str:
    hard, used = (status_of(item).get(name) or {} for name in ("hard", "used"))
    shown = (name for name in sorted(hard) if name.startswith("limits.") == of_limits)
    return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in shown)


def _set_limit_range_defaults(manifest: Manifest) -> None:
    """For a container, the default limit is the largest one, and the default request is the default limit or
    the smallest request."""
    spec = manifest.setdefault("spec", {})
    spec["limits"] = spec.get("limits") or None
    for item in spec["limits"] or ():
        if item.get("type") != "Container":
            continue
        limits = item.get("max", {}) | item.get("default", {})
        requests = item.get("min", {}) | limits | item.get("defaultRequest", {})
        for name, quantities in (("default", limits), ("defaultRequest", requests)):
            if quantities:
                item[name] = quantities


RESOURCE_QUOTA_STRATEGY: Final = Strategy(
    resource=RESOURCE_QUOTAS,
    validate=_validate_quota,
    validate_update=_validate_quota_update,
    update_order="USC",
    subresources={"status": status_strategy(_validate_quota_status)},
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column(
            "Request",
            "Request represents a minimum amount of cpu/memory that a container may consume.",
            cell=lambda item, _: _amounts_cell(item, of_limits=False),
        ),
        Column(
            "Limit",
            "Limits control the maximum amount of cpu/memory that a container may use independent of "
            "contention on the node.",
            cell=lambda item, _: _amounts_cell(item, of_limits=True),
        ),
        AGE,
    ),
)
LIMIT_RANGE_STRATEGY: Final = Strategy(
    resource=LIMIT_RANGES,
    set_defaults=_set_limit_range_defaults,
    validate=field("spec.limits", _check_limits),
    is_created_by_update=True,
    update_order="MS",
    printer=PLAIN_PRINTER,
)
