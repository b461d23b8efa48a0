"""Validation of the environment variables of containers, and of references to fields of the pod.

Upstream: ValidateEnv, ValidateEnvFrom and what they call in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_file_path
from simulator.apiserver.served_features import enabled
from simulator.apiserver.shapes import all_of, each, field, filled, matches, must_have, named_by, needed
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.objects import quantity

_METADATA: Final = ("metadata.name", "metadata.namespace", "metadata.uid")
ENV_FIELDS: Final = (
    *_METADATA,
    *("spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
VOLUME_FIELDS: Final = (*_METADATA, "metadata.labels", "metadata.annotations")
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
_ENV_NAME: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_VARIABLE_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_WHOLE_SOURCES: Final = ("configMapRef", "secretRef")


def _value_from(variable: Manifest, path: str) -> Iterable[Cause]:
    """Return the faults of the number of sources (validateEnvVarValueFrom)."""
    source, at = variable.get("valueFrom"), f"{path}.valueFrom"
    if source is None:
        return ()
    if source and variable.get("value"):
        return (invalid(at, "", "may not be specified when `value` is not empty"),)
    kinds = (*_VARIABLE_SOURCES, "fileKeyRef") if enabled("EnvFiles") else _VARIABLE_SOURCES
    return _one_source(source, kinds, at)


def _one_source(source: Manifest, kinds: Collection[str], path: str) -> Iterable[Cause]:
    given = [kind for kind in kinds if kind in source]
    if len(given) == 1:
        return ()
    if given:
        return (invalid(path, "", "may not have more than one field specified at a time"),)
    *others, last = (f"`{kind}`" for kind in kinds)
    return (invalid(path, "", f"must specify one of: {', '.join(others)} or {last}"),)


def _whole_source(source: Manifest, path: str) -> Iterable[Cause]:
    """Return the faults of a source of many variables (ValidateEnvFrom), whose index upstream leaves out."""
    return _one_source(source, _WHOLE_SOURCES, path.rpartition("[")[0])


def _masked_name(name: str) -> list[str]:
    return names.dns_subdomain(names.with_masked_dash(name))


def validate_field_reference(reference: Manifest, allowed: Collection[str], path: str) -> Iterator[Cause]:
    """Validate a reference to a field of the pod (validateObjectFieldSelector)."""
    given = reference.get("fieldPath", "")
    if not reference.get("apiVersion", "v1"):
        yield required(f"{path}.apiVersion")
        return
    if not given:
        yield required(f"{path}.fieldPath")
        return
    base, subscript = _with_subscript(given)
    if problem := _unknown_field(reference.get("apiVersion", "v1"), given, base, subscript):
        yield invalid(f"{path}.fieldPath", given, f"error converting fieldPath: {problem}")
    elif subscript is not None:
        rule = names.annotation_key if base == "metadata.annotations" else names.qualified_name
        shown = subscript.lower() if base == "metadata.annotations" else subscript
        yield from (invalid(path, shown, fault) for fault in rule(subscript))
    elif base not in allowed:
        yield not_supported(f"{path}.fieldPath", base, allowed)


def _with_subscript(path: str) -> tuple[str, str | None]:
    """Split ``metadata.labels['app']`` (SplitMaybeSubscriptedPath). ``spec.host`` is an old name."""
    base, bracket, rest = path.removesuffix("']").partition("['")
    if path.endswith("']") and bracket and base:
        return base, rest
    return _OLD_FIELDS.get(path, path), None


def _unknown_field(version: str, path: str, base: str, subscript: str | None) -> str:
    """Return the error for a field that does not exist (ConvertDownwardAPIFieldLabel in
    pkg/apis/core/pods/helpers.go); "" if it exists."""
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscript is not None:
        has_keys = base in ("metadata.annotations", "metadata.labels")
        return "" if has_keys else f"field label does not support subscript: {path}"
    return "" if base in _KNOWN_FIELDS else f"field label not supported: {path}"


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


_VARIABLE_NAME: Final = matches("[ -<>-~]+", _ENV_NAME)
_KEY: Final = all_of(
    field("name", named_by(names.dns_subdomain), default=""), needed("key", named_by(names.config_key))
)
ENVIRONMENT: Final = all_of(
    each(
        "env",
        needed("name", _VARIABLE_NAME),
        field(
            "valueFrom",
            field("fieldRef", lambda reference, path: validate_field_reference(reference, ENV_FIELDS, path)),
            field("resourceFieldRef", validate_resource_reference),
            field("configMapKeyRef", _KEY),
            field("secretKeyRef", _KEY),
            field(
                "fileKeyRef",
                needed("key", _VARIABLE_NAME),
                must_have("volumeName"),
                needed("path", check_file_path),
            ),
        ),
        _value_from,
    ),
    each(
        "envFrom",
        filled("prefix", _VARIABLE_NAME),
        *(field(kind, needed("name", named_by(_masked_name))) for kind in _WHOLE_SOURCES),
        _whole_source,
    ),
)
"""The environment of a container (ValidateEnv and ValidateEnvFrom)."""
