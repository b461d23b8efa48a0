"""Validation of the environment variables of containers, and of references to fields of the pod.

Upstream: ValidateEnv, ValidateEnvFrom and what they call in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
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
    (*ENV_FIELDS, *VOLUME_FIELDS, "spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase")
)
_RESOURCES: Final = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_DIVISORS: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
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
        yield from _env_from(source, f"{path}.envFrom[{index}]")


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


def _env_from(source: Manifest, path: str) -> Iterator[Cause]:
    if source.get("prefix"):
        yield from _env_name(source["prefix"], f"{path}.prefix")
    given = [field for field in ("configMapRef", "secretRef") if field in source]
    for field in given:
        if not source[field].get("name"):
            yield required(f"{path}.{field}.name")
    if not given:
        yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(given) > 1:
        yield invalid(path, "", _TWO_SOURCES)


def _key_selector(selector: Manifest, path: str) -> Iterator[Cause]:
    if not selector.get("name"):
        yield required(f"{path}.name")
    if not selector.get("key"):
        yield required(f"{path}.key")
    elif problem := names.config_key(selector["key"]):
        yield invalid(f"{path}.key", selector["key"], problem)


def validate_field_reference(reference: Manifest, allowed: Collection[str], path: str) -> Iterator[Cause]:
    """Validate a reference to a field of the pod (validateObjectFieldSelector)."""
    version, field = reference.get("apiVersion", "v1"), reference.get("fieldPath", "")
    if not field:
        yield required(f"{path}.fieldPath")
        return
    base, bracket, rest = field.partition("['")
    subscript = rest.removesuffix("']") if bracket and rest.endswith("']") else ""
    if version != "v1" or (base if subscript else field) not in _KNOWN_FIELDS:
        problem = (
            f"field label not supported: {field}"
            if version == "v1"
            else f"unsupported pod version: {version}"
        )
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {problem}")
    elif subscript and base in ("metadata.labels", "metadata.annotations"):
        key = subscript.lower() if base == "metadata.annotations" else subscript
        yield from (invalid(path, subscript, problem) for problem in names.qualified_name_problems(key))
    elif subscript:
        yield invalid(path, base, "does not support subscript")
    elif field not in allowed:
        yield not_supported(f"{path}.fieldPath", field, allowed)


def validate_resource_reference(
    reference: Manifest, path: str, *, is_volume: bool = False
) -> Iterator[Cause]:
    """Validate a reference to a resource of a container (validateContainerResourceFieldSelector)."""
    resource, divisor = reference.get("resource", ""), reference.get("divisor", "0")
    if is_volume and not reference.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    if quantity.parse_quantity(divisor) == 0:
        return
    if resource.endswith(".cpu"):
        if divisor not in ("1m", "1"):
            detail = "only divisor's values 1m and 1 are supported with the cpu resource"
            yield invalid(f"{path}.divisor", resource, detail)
    elif divisor not in _DIVISORS:
        name = resource.partition(".")[2].partition("-")[0] if "hugepages" in resource else "memory"
        if resource.endswith("ephemeral-storage"):
            name = "local ephemeral storage"
        detail = f"only divisor's values {', '.join(_DIVISORS)} are supported with the {name} resource"
        yield invalid(f"{path}.divisor", resource, detail)
