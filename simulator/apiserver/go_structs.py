"""Objects as Go prints the structs of its internal types in messages, and the difference of two of them.

The internal types have the fields of v1, but for those that are named here. Upstream: pkg/apis/core/types.go,
pkg/apis/apps/types.go, apimachinery/pkg/util/diff/diff.go.
"""

import difflib
import json
import re
from itertools import islice, takewhile
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.shown_values import STRUCT_LENGTH, cut_off
from simulator.apiserver.types.api_types import META, api_types
from simulator.apiserver.types.model import (
    Field,
    ListType,
    MapType,
    StructType,
    Type,
    once_per_type,
)
from simulator.apiserver.types.zero_values import zero_value

_CORE: Final = "io.k8s.api.core.v1."
DEFINITION_TYPES: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
_CONTEXT: Final = 3
"""Lines of a difference that are shown before and after those that differ."""
_MOST_COMPARED: Final = 1_000
"""Lines of a struct that are compared line by line, as the work grows with the square of them."""
_OF_SECURITY_CONTEXT: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields of a pod's spec that the internal type has in its securityContext, as its first ones."""
_NOT_INTERNAL: Final = (*_OF_SECURITY_CONTEXT, "serviceAccount")
_PLACES: Final = {
    "JSONSchemaProps": {"nullable": "format"},
    "PersistentVolumeSource": {"quobyte": "iscsi", "flexVolume": "cinder"},
    "PodSecurityContext": {"fsGroupChangePolicy": "sysctls"},
    "PodSpec": {
        "setHostnameAsFQDN": "affinity",
        "preemptionPolicy": "dnsConfig",
        "overhead": "enableServiceLinks",
    },
    "Volume": {"quobyte": "flexVolume"},
}
"""Fields that stand elsewhere in the internal type: before which other one."""
_VALUES: Final = {
    "RollingUpdateDaemonSet": ("maxUnavailable", "maxSurge"),
    "RollingUpdateDeployment": ("maxUnavailable", "maxSurge"),
    "RollingUpdateStatefulSetStrategy": ("partition",),
}
"""Fields that are pointers in v1 and values in the internal type."""


def core_struct(kind: str, value: Manifest) -> Any:
    """Return a value of a core type, such as ``PodSpec``, as the internal struct."""
    return _struct(api_types().struct(f"{_CORE}{kind}"), value)


def api_struct(type_name: str, value: Any) -> Any:
    """Return a value of another group's type, such as ``batch.v1.SuccessPolicy``, as the internal struct."""
    return _struct(api_types().struct(f"io.k8s.api.{type_name}"), value)


def served_struct(type_name: str, value: Manifest) -> Any:
    """Return a value of such a type as the JSON of the version that is served: for declarative validation."""
    return _served(api_types().struct(f"io.k8s.api.{type_name}"), value)


def _served(of: Type, value: Any) -> Any:
    if isinstance(of, ListType) and isinstance(value, list):
        return [_served(of.items, item) for item in value]
    if not isinstance(of, StructType) or not isinstance(value, dict):
        return value
    zeros = zero_value(of)
    return {
        name: _served(field.type, value.get(name, zeros.get(name)))
        for name, field in of.fields.items()
        if name in value or name in zeros
    }


def definition_struct(kind: str, value: Manifest) -> Any:
    """Return a value of a type of CustomResourceDefinitions as the internal struct. Schemas that may be
    something else, such as ``items``, keep their names in JSON."""
    return _struct(api_types().struct(f"{DEFINITION_TYPES}{kind}"), value)


def volume_source_struct(spec: Manifest) -> Any:
    """Return the source of a PersistentVolume, whose fields are those of its spec, as the internal struct."""
    return core_struct("PersistentVolumeSource", spec)


def pod_template_struct(template: Manifest) -> Any:
    """Return a pod template as the internal struct, whose metadata keeps the names of its fields."""
    metadata = {
        field: dict(sorted(value.items())) if isinstance(value, dict) else value
        for field, value in template.get("metadata", {}).items()
    }
    return {**metadata, "Spec": core_struct("PodSpec", template.get("spec", {}))}


def struct_difference(old: Any, new: Any) -> str:
    """Return the unified diff of two structs in indented JSON, up to STRUCT_LENGTH characters of it. Large
    structs are compared from the first line that differs, for _MOST_COMPARED lines."""
    before, after = _lines(old), _lines(new)
    skipped = 0
    if max(len(before), len(after)) > _MOST_COMPARED:
        equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
        skipped = max(equal - _CONTEXT, 0)
        before, after = (each[skipped : skipped + _MOST_COMPARED] for each in (before, after))
    found = difflib.unified_diff(before, after, n=_CONTEXT)
    written = ""
    for line in islice(found, 2, None):  # without the lines that name the files
        written += _with_line_numbers(line, skipped) if line.startswith("@@") else line
        if len(written) > STRUCT_LENGTH:
            break
    return cut_off(written, STRUCT_LENGTH)


def _with_line_numbers(heading: str, skipped: int) -> str:
    """Return the heading of a part of a diff with the numbers of the lines in the whole texts."""
    return re.sub(r"(?<=[-+])[0-9]+", lambda number: str(int(number[0]) + skipped), heading)


def _lines(value: Any) -> list[str]:
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".splitlines(keepends=True)


def _struct(of: Type, value: Any) -> Any:
    match of, value:
        case ListType(), list():
            return [_struct(of.items, item) for item in value] or None
        case MapType(), dict():
            return dict(sorted(value.items())) or None
        case StructType(), dict() if not of.name.startswith(META):  # the types of meta/v1 have JSON tags
            if of.short_name == "PodSpec":
                value = _with_security_context(value)
            return {
                field.go_name: _struct(field.type, value.get(field.name, zero))
                for field, zero in _internal_fields(of)
            }
    return value


@once_per_type
def _internal_fields(of: Type) -> list[tuple[Field, Any]]:
    """Return the fields of the internal type with their zero values."""
    assert isinstance(of, StructType)
    fields = dict(of.fields)
    if of.short_name == "PodSpec":
        fields = {name: field for name, field in fields.items() if name not in _NOT_INTERNAL}
    elif of.short_name == "PodSecurityContext":
        spec = api_types().struct(f"{_CORE}PodSpec").fields
        fields = {name: spec[name] for name in _OF_SECURITY_CONTEXT} | fields
    for name, following in _PLACES.get(of.short_name, {}).items():
        moved, names = fields.pop(name), [*fields]
        place = names.index(following)
        fields = {each: fields[each] for each in names[:place]} | {name: moved} | fields
    values = _VALUES.get(of.short_name, ())
    return [(field, _zero_of(field, is_value=field.name in values)) for field in fields.values()]


def _zero_of(field: Field, *, is_value: bool) -> Any:
    if field.is_pointer and not is_value:
        return None
    return {} if isinstance(field.type, StructType) else zero_value(field.type)


def _with_security_context(spec: Manifest) -> Manifest:
    moved = {field: spec[field] for field in _OF_SECURITY_CONTEXT if field in spec}
    context = spec.get("securityContext")
    return {**spec, "securityContext": {**(context or {}), **moved}} if moved or context is not None else spec
