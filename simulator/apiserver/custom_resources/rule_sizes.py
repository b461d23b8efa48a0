"""The largest sizes of a custom resource's values, by its schema, for the estimated costs of its rules.

Upstream: SchemaDeclType in apiserver/pkg/cel/common/schemas.go, apiserver/pkg/cel/{types,limits}.go and
maxCardinality in apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, v1.34.
"""

from typing import Any, Final

from simulator.apiserver.custom_resources.rule_values import escape
from simulator.apiserver.structural_schema import META
from simulator.cel.declared_sizes import DeclaredSize

MAX_REQUEST: Final = 3 * 1024 * 1024
"""Maximum number of bytes of a request (MaxRequestSizeBytes)."""
_LONGEST: Final = MAX_REQUEST - 2
"""A text without its quotation marks, or what is between two brackets."""
_KEY: Final = 6
"""Bytes of the shortest key of a map, with quotation marks, colon and comma."""
_BYTES_OF_CHARACTER: Final = 4
_EMPTY_TEXT: Final = 2
_TIMES: Final = {"duration": (32, 3), "date": (12, 12), "date-time": (32, 21)}
"""Bytes of the longest and of the shortest text of a format."""
_SCALARS: Final = {"boolean": DeclaredSize(least_serialized=4)} | dict.fromkeys(
    ("number", "integer"), DeclaredSize(least_serialized=1)
)
_TEXT: Final = DeclaredSize(_LONGEST, least_serialized=_EMPTY_TEXT)
_KEYS: Final = DeclaredSize(least_serialized=_EMPTY_TEXT)
_METADATA: Final = DeclaredSize(fields={"name": _TEXT, "generateName": _TEXT}, least_serialized=2)


def declare_sizes(schema: dict[str, Any]) -> DeclaredSize | None:
    """Return the sizes of the values of a structural schema. None if rules cannot name them."""
    if schema is META:
        return _METADATA
    if schema.get("x-kubernetes-int-or-string"):
        return DeclaredSize(_length(schema, _LONGEST, _BYTES_OF_CHARACTER), least_serialized=1)
    match schema.get("type"):
        case "array":
            items = schema.get("items")
            item = declare_sizes(items) if isinstance(items, dict) else None
            return item and _repeated(schema, "maxItems", item, item.least_serialized + 1)
        case "object":
            return _declare_object(schema)
        case "string":
            return _declare_text(schema)
        case str() as kind:
            return _SCALARS.get(kind)
    return None


def most_in_request(size: DeclaredSize) -> int:
    """Return how many values of this size a request can have."""
    return MAX_REQUEST // (size.least_serialized + 1)


def _repeated(
    schema: dict[str, Any], limit: str, element: DeclaredSize, least: int, key: DeclaredSize | None = None
) -> DeclaredSize:
    """Return the size of a list or map. least: bytes of its smallest element, with the characters between two
    of them."""
    given = schema.get(limit)
    most = _LONGEST // least if given is None else max(int(given), 0)
    return DeclaredSize(most, key=key, element=element, least_serialized=2)


def _declare_object(schema: dict[str, Any]) -> DeclaredSize | None:
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        value = declare_sizes(others)
        return value and _repeated(schema, "maxProperties", value, value.least_serialized + _KEY, _KEYS)
    needed, fields, least = set(schema.get("required") or ()), {}, 2
    for name, of in (schema.get("properties") or {}).items():
        size = declare_sizes(of)
        if size is None:
            continue
        fields[escape(name)] = size
        if name in needed and of.get("default") is None:
            least += len(name.encode()) + size.least_serialized + 4
    return DeclaredSize(fields=fields, least_serialized=least)


def _declare_text(schema: dict[str, Any]) -> DeclaredSize:
    form = schema.get("format", "")
    if form in _TIMES:
        most, least = _TIMES[form]
        return DeclaredSize(most, least_serialized=least)
    if form == "byte":
        return DeclaredSize(_length(schema, _LONGEST, 1), least_serialized=_EMPTY_TEXT)
    texts = [len(each.encode()) for each in schema.get("enum") or () if isinstance(each, str)]
    longest = max(texts, default=0) if schema.get("enum") else _LONGEST
    return DeclaredSize(_length(schema, longest, _BYTES_OF_CHARACTER), least_serialized=_EMPTY_TEXT)


def _length(schema: dict[str, Any], otherwise: int, factor: int) -> int:
    given = schema.get("maxLength")
    return otherwise if given is None else max(int(given), 0) * factor
