"""Validation of the devices and the shared counters of a ResourceSlice (validateDevice and what it calls in
pkg/apis/resource/validation/validation.go). Fields whose feature gate is off are dropped before."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name, too_many
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import (
    BINDING_CONDITIONS,
    TAINT,
    check_qualified_name,
    key_path,
)
from simulator.apiserver.repeated import repeats
from simulator.apiserver.selector_validation import NODE_SELECTOR
from simulator.apiserver.served_features import served_version
from simulator.apiserver.shapes import (
    all_of,
    field,
    filled,
    items,
    matches,
    max_bytes,
    named_by,
    needed,
    where,
)
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, required
from simulator.objects import quantity

SELECTIONS: Final = ("nodeName", "nodeSelector", "allNodes")
LIST_ATTRIBUTES: Final = ("ints", "bools", "strings", "versions")
_MAX_ATTRIBUTES: Final = 32
_MAX_VALUE: Final = max_bytes(64)
_ATTRIBUTE_TYPES: Final = ("int", "bool", "string", "version", *LIST_ATTRIBUTES)
_ONE_VALUE: Final = "exactly one value must be specified"
_NUMBER: Final = "(0|[1-9][0-9]*)"
_PRE_RELEASE: Final = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = "[0-9a-zA-Z-]+"
_SEMVER: Final = (
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?"
)
_VERSION: Final = all_of(
    matches(_SEMVER, "must be a string compatible with semver.org spec 2.0.0"), _MAX_VALUE
)
_ONE_SELECTION: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is "
    "set to true in the ResourceSlice spec"
)
_NO_SELECTION: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
    "the ResourceSlice spec"
)
_TWO_POLICIES: Final = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
)
_MAX_VALUES: Final = 10
"""Maximum number of the values that a policy allows (CapacityRequestPolicyDiscreteMaxOptions)."""
_MAX_COUNTERS: Final = 32


def given_selections(value: Manifest, *further: str) -> list[str]:
    """Return the fields that say on which nodes devices are, as messages name them."""
    return [f"`{name}`" for name in (*SELECTIONS, *further) if value.get(name) or value.get(name) == {}]


def _check_attributes(device: Manifest, path: str) -> Iterator[Cause]:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MAX_ATTRIBUTES:
        detail = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        yield invalid(path, count, detail)
    for key, attribute in sorted(attributes.items()):
        at = key_path(f"{path}.attributes", key)
        yield from check_qualified_name(key, at)
        yield from _ATTRIBUTE(attribute, at)
    for key, value in sorted(capacity.items()):
        at = key_path(f"{path}.capacity", key)
        yield from check_qualified_name(key, at)
        if (value or {}).get("requestPolicy") is not None:
            at = f"{at}.requestPolicy"
            if device.get("allowMultipleAllocations"):
                yield from _check_policy(value["requestPolicy"], value.get("value", "0"), at)
            else:
                yield forbidden(at, "allowMultipleAllocations must be true")


def _check_one_value(attribute: Manifest, path: str) -> Iterator[Cause]:
    given = sum(attribute.get(kind) is not None for kind in _ATTRIBUTE_TYPES)
    if not given and served_version().validates_declaratively:
        yield invalid(path, "", _ONE_VALUE)
    elif not given:
        yield required(path, _ONE_VALUE)
    elif given > 1:
        yield invalid(path, api_struct("resource.v1.DeviceAttribute", attribute), _ONE_VALUE, whole=True)


_ATTRIBUTE: Final = all_of(
    field("string", _MAX_VALUE),
    field("version", _VERSION),
    field("strings", items(_MAX_VALUE)),
    field("versions", items(_VERSION)),
    _check_one_value,
)
"""validateDeviceAttribute."""


def _check_policy(policy: Manifest, capacity: Any, path: str) -> Iterator[Cause]:
    """Yield the faults that validateRequestPolicy reports."""
    values, span, default = policy.get("validValues") or [], policy.get("validRange"), policy.get("default")
    if values and span is not None:
        yield forbidden(path, _TWO_POLICIES)
    elif (values or span is not None) and default is None:
        kind = "validValues" if values else "validRange"
        yield required(f"{path}.default", f"required when {kind} is defined")
    elif values:
        yield from _check_values(values, default, capacity, f"{path}.validValues")
    elif span is not None:
        yield from _check_range(span, default, capacity, f"{path}.validRange")


def _check_values(values: Sequence[Any], default: Any, capacity: Any, path: str) -> Iterator[Cause]:
    amounts = [_amount(value) for value in values]
    for index, (before, after) in enumerate(pairwise(amounts), 1):
        if before > after:
            yield invalid(f"{path}[{index}]", str(values[index]), "values must be sorted in ascending order")
    if len(values) > _MAX_VALUES:
        yield too_many(path, len(values), _MAX_VALUES)
        return
    for index, amount in enumerate(amounts):
        if amount > _amount(capacity):
            detail = f"option is larger than capacity value: {capacity}"
            yield invalid(f"{path}[{index}]", str(values[index]), detail)
    for index, (value, is_repeated) in enumerate(zip(values, repeats(amounts), strict=True)):
        if is_repeated:
            yield duplicate(f"{path}[{index}]", str(quantity.value(_amount(value))))
    if _amount(default) not in amounts:
        yield invalid(path, str(default), "default value is not valid according to the requestPolicy")


def _check_range(span: Manifest, default: Any, capacity: Any, path: str) -> Iterator[Cause]:
    least, most, step = (span.get(name) for name in ("min", "max", "step"))
    if least is None:
        yield required(f"{path}.min", "required when validRange is defined")
        return
    if _amount(least) > _amount(capacity):
        yield invalid(f"{path}.min", str(least), f"min is larger than capacity value: {capacity}")
    if _amount(default) < _amount(least):
        yield invalid(f"{path}.min", str(default), f"default is less than min: {least}")
    if most is not None:
        if _amount(least) > _amount(most):
            yield invalid(f"{path}.max", str(least), f"min is larger than max: {most}")
        if _amount(most) > _amount(capacity):
            yield invalid(f"{path}.max", str(most), f"max is larger than capacity value: {capacity}")
        if _amount(default) > _amount(most):
            yield invalid(f"{path}.max", str(default), f"default is more than max: {most}")
    if step is not None:
        if (added := _amount(least) + _amount(step)) > _amount(capacity):
            shown = quantity.text_in_format_of(added, least)
            detail = f"one step {shown} is larger than capacity value: {capacity}"
            yield invalid(f"{path}.step", str(step), detail)
        for value in (default, *([] if most is None else [most])):
            rest = quantity.value(_amount(value)) - quantity.value(_amount(least))
            # A step of 0 ends upstream's server in a panic, which answers with an error, too.
            if not (whole := quantity.value(_amount(step))) or rest % whole:
                detail = f"value is not a multiple of a given step ({step}) from ({least})"
                yield invalid(f"{path}.step", str(value), detail)


def _amount(value: Any) -> int:
    return quantity.parse_quantity(value)


def _check_counters(holder: Manifest, path: str) -> Iterator[Cause]:
    """Check the names of counters; any quantity is a value."""
    counters, path = holder.get("counters") or {}, f"{path}.counters"
    if not counters:
        yield required(path)
    elif len(counters) > _MAX_COUNTERS:
        yield too_many(path, len(counters), _MAX_COUNTERS)
    else:
        for key in sorted(counters):
            yield from check_name(names.dns_label, key, key_path(path, key))


_COUNTER_SET_NAME: Final = named_by(names.dns_label)
SHARED_COUNTERS: Final = items(needed("name", _COUNTER_SET_NAME), _check_counters, most=8, unique="name")
"""validateCounterSet."""


def _check_binding_conditions(device: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceBindingParameters reports."""
    condition_type = items(named_by(names.qualified_name), most=4)
    given = [device.get(name) or [] for name in BINDING_CONDITIONS]
    paths = [f"{path}.{name}" for name in BINDING_CONDITIONS]
    for conditions, at in zip(given, paths, strict=True):
        yield from condition_type(conditions, at)
    for place, (conditions, at) in enumerate(zip(given, paths, strict=True)):
        for index, (condition, is_repeated) in enumerate(zip(conditions, repeats(conditions), strict=True)):
            if is_repeated:
                yield duplicate(f"{at}[{index}]", condition)
            if place and condition in given[0]:
                detail = "bindingFailureConditions must not overlap with bindingConditions"
                yield invalid(f"{at}[{index}]", condition, detail)
    for place, other in ((0, 1), (1, 0)):
        if not given[place] and given[other]:
            one, two = BINDING_CONDITIONS[place], BINDING_CONDITIONS[other]
            yield invalid(paths[place], None, f"{one} are required to use {two}")


_SELECTION: Final = all_of(
    field("nodeName", where(bool, "must not be empty")),
    filled("nodeName", named_by(names.dns_subdomain)),
    field("nodeSelector", NODE_SELECTOR),
    field("allNodes", where(bool, "must be either unset or set to true")),
)


def check_selection_of_device(device: Manifest, path: str, *, by_device: bool) -> Iterator[Cause]:
    """``by_device``: perDeviceNodeSelection of the slice."""
    if not by_device:
        if any(device.get(name) is not None for name in SELECTIONS):
            yield invalid(path, None, _NO_SELECTION)
        return
    yield from _SELECTION(device, path)
    given = given_selections(device)
    if not given:
        yield required(path, _ONE_SELECTION)
    elif len(given) > 1:
        yield invalid(path, "{" + ", ".join(given) + "}", _ONE_SELECTION)


DEVICE: Final = all_of(
    field("name", named_by(names.dns_label), default=""),
    _check_attributes,
    field("taints", items(TAINT, most=16)),
    field(
        "consumesCounters",
        items(needed("counterSet", _COUNTER_SET_NAME), _check_counters, most=2, unique="counterSet"),
    ),
    _check_binding_conditions,
)
"""validateDevice, but for the nodes on which the device is."""
