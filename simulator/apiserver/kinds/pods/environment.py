"""Validation of the environment variables of containers, and of references to fields of the pod.

Upstream: ValidateEnv, ValidateEnvFrom and what they call in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name, check_required_name
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.objects import quantity

ENV_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.labels",
    "metadata.annotations",
    "metadata.uid",
)
_KNOWN_FIELDS: Final = frozenset(
    (*ENV_FIELDS, *VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase")
)
_RESOURCES: Final = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_DIVISORS: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVIDED: Final = {"cpu": "cpu", "memory": "memory", "ephemeral-storage": "local ephemeral storage"}
"""The resources for which the divisor is checked, each as messages name it."""
_OLD_FIELDS: Final = {"spec.host": "spec.nodeName"}
_TWO_SOURCES: Final = "may not have more than one field specified at a time"
_ENV_NAME: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)


def validate_env(container: Manifest, path: str) -> Iterator[Cause]:
    for index, variable in enumerate(container.get("env", ())):
        at = f"{path}.env[{index}]"
        if not variable["name"]:
            yield required(f"{at}.name")
        else:
            yield from _env_name(variable["name"], f"{at}.name")
        if variable.get("valueFrom") is not None:
            yield from _value_from(variable, f"{at}.valueFrom")
    for index, source in enumerate(container.get("envFrom", ())):
        yield from _env_from(source, f"{path}.envFrom[{index}]", f"{path}.envFrom")


def _env_name(name: str, path: str) -> Iterator[Cause]:
    if not all(character.isprintable() and character.isascii() and character != "=" for character in name):
        yield invalid(path, name, _ENV_NAME)


def _value_from(variable: Manifest, path: str) -> Iterator[Cause]:
    source = variable["valueFrom"]
    if "fieldRef" in source:
        yield from validate_field_reference(source["fieldRef"], ENV_FIELDS, f"{path}.fieldRef")
    if "resourceFieldRef" in source:
        yield from validate_resource_reference(source["resourceFieldRef"], f"{path}.resourceFieldRef")
    for field in ("configMapKeyRef", "secretKeyRef"):
        if field in source:
            yield from _key_selector(source[field], f"{path}.{field}")
    if not source:
        detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        yield invalid(path, "", detail)
    elif variable.get("value"):
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(source) > 1:
        yield invalid(path, "", _TWO_SOURCES)


def _env_from(source: Manifest, path: str, whole: str) -> Iterator[Cause]:
    """Yield the faults that ValidateEnvFrom reports. ``whole`` is the path of all sources: upstream writes it
    where it means one."""
    if source.get("prefix"):
        yield from _env_name(source["prefix"], f"{path}.prefix")
    given = [field for field in ("configMapRef", "secretRef") if field in source]
    for field in given:
        yield from check_required_name(_masked_name, source[field].get("name", ""), f"{path}.{field}.name")
    if not given:
        yield invalid(whole, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(given) > 1:
        yield invalid(whole, "", _TWO_SOURCES)


def _masked_name(name: str) -> list[str]:
    return names.dns_subdomain(names.with_masked_dash(name))


def _key_selector(selector: Manifest, path: str) -> Iterator[Cause]:
    yield from check_name(names.dns_subdomain, selector.get("name", ""), f"{path}.name")
    yield from check_required_name(names.config_key, selector.get("key", ""), f"{path}.key")


def validate_field_reference(reference: Manifest, allowed: Collection[str], path: str) -> Iterator[Cause]:
    """Validate a reference to a field of the pod (validateObjectFieldSelector)."""
    field = reference.get("fieldPath", "")
    if not reference.get("apiVersion", "v1"):
        yield required(f"{path}.apiVersion")
        return
    if not field:
        yield required(f"{path}.fieldPath")
        return
    base, subscript = _with_subscript(field)
    if problem := _unknown_field(reference.get("apiVersion", "v1"), field, base, subscript):
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {problem}")
    elif subscript is not None:
        rule = names.annotation_key if base == "metadata.annotations" else names.qualified_name
        shown = subscript.lower() if base == "metadata.annotations" else subscript
        yield from (invalid(path, shown, fault) for fault in rule(subscript))
    elif base not in allowed:
        yield not_supported(f"{path}.fieldPath", base, allowed)


def _with_subscript(field: str) -> tuple[str, str | None]:
    """Split ``metadata.labels['app']`` (SplitMaybeSubscriptedPath). ``spec.host`` is an old name."""
    base, bracket, rest = field.removesuffix("']").partition("['")
    if field.endswith("']") and bracket and base:
        return base, rest
    return _OLD_FIELDS.get(field, field), None


def _unknown_field(version: str, field: str, base: str, subscript: str | None) -> str:
    """Return the error for a field that does not exist (ConvertDownwardAPIFieldLabel in
    pkg/apis/core/pods/helpers.go); "" if it exists."""
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscript is not None:
        has_keys = base in ("metadata.annotations", "metadata.labels")
        return "" if has_keys else f"field label does not support subscript: {field}"
    return "" if base in _KNOWN_FIELDS else f"field label not supported: {field}"


def validate_resource_reference(
    reference: Manifest, path: str, *, is_volume: bool = False
) -> Iterator[Cause]:
    """Validate a reference to a resource of a container (validateContainerResourceFieldSelector)."""
    resource, divisor = reference.get("resource", ""), reference.get("divisor", "0")
    is_huge = resource.startswith(("limits.hugepages-", "requests.hugepages-"))
    if is_volume and not reference.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not is_huge:
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    if quantity.parse_quantity(divisor) == 0:
        return
    kind = "hugepages" if is_huge else _DIVIDED.get(resource.partition(".")[2], "")
    if kind == "cpu" and divisor not in ("1m", "1"):
        detail = "only divisor's values 1m and 1 are supported with the cpu resource"
        yield invalid(f"{path}.divisor", resource, detail)
    elif kind and kind != "cpu" and divisor not in _DIVISORS:
        detail = f"only divisor's values {', '.join(_DIVISORS)} are supported with the {kind} resource"
        yield invalid(f"{path}.divisor", resource, detail)
