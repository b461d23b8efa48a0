"""Validation of resource names and quantities in containers, pods and nodes.

Upstream: pkg/apis/core/validation/validation.go (ValidateContainerResourceRequirements, ValidateNode), v1.34.
"""

from collections.abc import Iterator
from typing import Any

from simulator.apiserver import names
from simulator.apiserver.status import Cause, forbidden, invalid, required
from simulator.objects import quantity
from simulator.objects.pod_requests import is_extended_resource

_CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"
_POD_LEVEL_RESOURCES = ("cpu", "memory")


def validate_container_resources(given: dict[str, Any] | None, path: str) -> Iterator[Cause]:
    """Validate a container's ``resources``."""
    if not given:
        return
    limits, requests = given.get("limits", {}), given.get("requests", {})
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            yield from _container_resource(name, f"{path}.{kind}[{name}]")
            yield from validate_amount(name, text, f"{path}.{kind}[{name}]")
            yield from _huge_pages(name, text, f"{path}.{kind}[{name}]")
    yield from _within_limits(requests, limits, path)
    for name in requests:
        if not _can_be_overcommitted(name) and name not in limits:
            yield required(f"{path}.limits[{name}]", "Limit must be set for non overcommitable resources")
    asked = limits.keys() | requests.keys()
    if any(name.startswith("hugepages-") for name in asked) and not asked & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")


def validate_pod_resources(given: dict[str, Any] | None, path: str) -> Iterator[Cause]:
    """Validate a pod's ``spec.resources``, which all its containers share."""
    if not given:
        return
    limits, requests = given.get("limits", {}), given.get("requests", {})
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            if name not in _POD_LEVEL_RESOURCES and not name.startswith("hugepages-"):
                yield invalid(f"{path}.{kind}[{name}]", name, "must be a standard resource for pods")
            yield from validate_amount(name, text, f"{path}.{kind}[{name}]")
    yield from _within_limits(requests, limits, path)


def validate_node_resources(status: dict[str, Any]) -> Iterator[Cause]:
    for kind in ("capacity", "allocatable"):
        for name, text in status.get(kind, {}).items():
            path = f"status.{kind}.{name}"
            for problem in names.qualified_name_problems(name):
                yield invalid(path, name, problem)
            yield from validate_amount(name, text, path)


def validate_amount(name: str, text: str, path: str) -> Iterator[Cause]:
    """Validate one quantity: not negative, and an integer for resources that cannot be divided
    (ValidateResourceQuantityValue)."""
    nanos = quantity.parse_text(text)
    if nanos < 0:
        yield invalid(path, text, "must be greater than or equal to 0")
    elif name in ("pods", "services") or is_extended_resource(name):
        if nanos % quantity.NANO:
            yield invalid(path, text, "must be an integer")
    elif name == "cpu" and quantity.milli_value(nanos) >= quantity.MAX_INT64:
        yield invalid(path, text, "must be less than 9223372036854775807m")


def _huge_pages(name: str, text: str, path: str) -> Iterator[Cause]:
    """Huge pages are used whole (validateResourceQuantityHugePageValue)."""
    if not name.startswith(_HUGE_PAGES):
        return
    try:
        size = quantity.parse_quantity(name.removeprefix(_HUGE_PAGES))
    except quantity.QuantityError:
        size = 0
    if size <= 0 or size % quantity.NANO or quantity.parse_text(text) % size:
        yield invalid(path, text, f"{text} is not positive integer multiple of {name}")


def _container_resource(name: str, path: str) -> Iterator[Cause]:
    if problem := names.qualified_name(name):
        yield invalid(path, name, problem)
    elif "/" not in name:
        if name not in _CONTAINER_RESOURCES and not name.startswith("hugepages-"):
            yield invalid(path, name, "must be a standard resource for containers")
    elif "kubernetes.io/" not in name and not is_extended_resource(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def _within_limits(requests: dict[str, str], limits: dict[str, str], path: str) -> Iterator[Cause]:
    for name, text in requests.items():
        if name not in limits:
            continue
        asked, limit = quantity.parse_text(text), quantity.parse_text(limits[name])
        if asked != limit and not _can_be_overcommitted(name):
            yield invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limits[name]}")
        elif asked > limit:
            detail = f"must be less than or equal to {name} limit of {limits[name]}"
            yield invalid(f"{path}.requests", text, detail)


def _can_be_overcommitted(name: str) -> bool:
    return ("/" not in name or "kubernetes.io/" in name) and not name.startswith("hugepages-")
