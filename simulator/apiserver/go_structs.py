"""Objects as Go prints the structs of its internal types in messages, and the difference of two of them.

The fields are in ``go_structs.txt``, a type a line, each field as ``Name:json=zero``. Without ``json``, the
name in JSON is that of the field with a small first letter; without ``zero``, the value of a missing field is
null. Upstream: pkg/apis/core/types.go, apimachinery/pkg/util/diff/diff.go, v1.34.
"""

import difflib
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.schema import META, Schema, definitions, resolve_reference

_CORE = "io.k8s.api.core.v1."
_OF_SECURITY_CONTEXT = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields of a pod's spec that the internal type has in its securityContext."""


class _Field(NamedTuple):
    go_name: str
    json_name: str
    zero: Any


@cache
def _structs() -> dict[str, list[_Field]]:
    lines = Path(__file__).with_name("go_structs.txt").read_text().splitlines()
    return {name: [*map(_field, fields)] for name, *fields in map(str.split, lines)}


def _field(text: str) -> _Field:
    text, _, zero = text.partition("=")
    name, _, json_name = text.partition(":")
    return _Field(name, json_name or name[0].lower() + name[1:], json.loads(zero or "null"))


def core_struct(kind: str, value: Manifest) -> Any:
    """Return a value of a core type, such as ``PodSpec``, as the internal struct."""
    return _struct({"$ref": f"{_CORE}{kind}"}, value)


def api_struct(type_name: str, value: Any) -> Any:
    """Return a value of another group's type, such as ``batch.v1.SuccessPolicy``, as the internal struct."""
    return _struct({"$ref": f"io.k8s.api.{type_name}"}, value)


def volume_source_struct(spec: Manifest) -> Any:
    """Return the source of a PersistentVolume, whose fields are those of its spec, as the internal struct."""
    properties = definitions()[f"{_CORE}PersistentVolumeSpec"]["properties"]
    return _fields("PersistentVolumeSource", properties, spec)


def pod_template_struct(template: Manifest) -> Any:
    """Return a pod template as the internal struct, whose metadata keeps the names of its fields."""
    metadata = {
        field: dict(sorted(value.items())) if isinstance(value, dict) else value
        for field, value in template.get("metadata", {}).items()
    }
    return {**metadata, "Spec": core_struct("PodSpec", template.get("spec", {}))}


def struct_difference(old: Any, new: Any) -> str:
    """Return the unified diff of two structs in indented JSON."""
    found = [*difflib.unified_diff(_lines(old), _lines(new), n=3)]
    return "".join(found[2:])  # without the lines that name the files


def _lines(value: Any) -> list[str]:
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".splitlines(keepends=True)


def _struct(schema: Schema, value: Any) -> Any:
    of = resolve_reference(schema)
    name = schema.get("$ref", "")
    match value:
        case list():
            return [_struct(of.get("items", {}), item) for item in value] or None
        case dict() if name.startswith(META) or not of.get("properties"):
            # The types of meta/v1 have JSON tags.
            return dict(sorted(value.items())) or None if not name else value
        case dict():
            return _fields(name, of["properties"], value)
    return value


def _fields(name: str, properties: dict[str, Schema], value: Manifest) -> Any:
    short = name.rpartition(".")[2]
    value = _with_security_context(value) if short == "PodSpec" else value
    if short == "PodSecurityContext":
        properties = properties | definitions()[f"{_CORE}PodSpec"]["properties"]
    fields = _structs().get(short) or [
        _Field(json_name[0].upper() + json_name[1:], json_name, _zero(schema))
        for json_name, schema in properties.items()
    ]
    return {
        field.go_name: _struct(properties.get(field.json_name, {}), value.get(field.json_name, field.zero))
        for field in fields
    }


def _with_security_context(spec: Manifest) -> Manifest:
    moved = {field: spec[field] for field in _OF_SECURITY_CONTEXT if field in spec}
    context = spec.get("securityContext")
    return {**spec, "securityContext": {**(context or {}), **moved}} if moved or context is not None else spec


def _zero(schema: Schema) -> Any:
    return {"string": "", "integer": 0, "boolean": False}.get(resolve_reference(schema).get("type", ""))
