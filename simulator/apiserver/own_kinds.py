"""JSON schemas of schedviz's own kinds (group ``schedviz``), in the form of the Kubernetes schemas."""

from typing import Any

_META = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
_STRING = {"type": "string"}


def _object(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def _kind(spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return _object(
        ("metadata", "spec"), apiVersion=_STRING, kind=_STRING, metadata=_META, spec=spec, status=status
    )


_ENTRY = _object(
    ("at", "object"),
    at=_STRING,
    every=_STRING,
    until=_STRING,
    object={"type": "object"},
)

_CREATED = _object(created={"type": "array", "items": {"type": "integer", "format": "int64"}})

OWN_KINDS: dict[tuple[str, str], dict[str, Any]] = {
    ("schedviz/v1", "Timetable"): _kind(
        _object(("entries",), entries={"type": "array", "items": _ENTRY}), _CREATED
    ),
}
"""Schemas by apiVersion and kind."""
