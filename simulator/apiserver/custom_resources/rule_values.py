"""Custom resources as their rules see them: the types and the values of CEL, by the schema.

Upstream: SchemaDeclType and MaybeAssignTypeName in apiserver/pkg/cel/{common/schemas,types}.go,
UnstructuredToVal in apiserver/pkg/cel/common/values.go, and apiserver/pkg/cel/escaping.go.
"""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Any, Final

from simulator.apiserver.structural_schema import META
from simulator.cel.durations import parse_duration, parse_timestamp
from simulator.cel.types import BOOL, DYN, INT, STRING, ObjectTypes, Type
from simulator.cel.values import Map, Value
from simulator.kernel.work import spend_work

SELF_TYPE: Final = "selfType"
"""The name of the type of ``self``. Upstream's ends with a number, another one at each write."""
TEXTS: Final = {
    "byte": Type("bytes"),
    "duration": Type("duration"),
    "date": Type("timestamp"),
    "date-time": Type("timestamp"),
}
"""Format -> the type in expressions of texts with this format, where it is not a string."""
SCALARS: Final = {"boolean": BOOL, "number": Type("double"), "integer": INT}
_OF_METADATA: Final = {"name": STRING, "generateName": STRING}
"""The fields of the metadata that rules see."""
_KEYWORDS: Final = frozenset(
    (
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
        "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
    )
)  # fmt: skip
_ESCAPES: Final = {".": "__dot__", "-": "__dash__", "/": "__slash__", "__": "__underscores__"}
_TIMES: Final = {"date-time": "", "date": "T00:00:00Z"}
_CONVERTED: Final = (*_TIMES, "duration", "byte")
"""The formats whose texts become values of other types."""
_VALUES_OF_A_UNIT: Final = 2
_LENGTH_OF_A_UNIT: Final = 4
"""The values, and the characters of a text with a format, that are converted in the time of one unit of
work."""
_FORMAT_WORK: Final = 2


def declare_types(schema: dict[str, Any]) -> tuple[Type | None, ObjectTypes]:
    """Return the type of the values of a structural schema, and the types of the objects within it. None if
    rules cannot name them: no type, or a list without items."""
    objects: dict[str, dict[str, Type]] = {}
    return _declare(schema, SELF_TYPE, objects), ObjectTypes(objects)


def _declare(schema: dict[str, Any], name: str, objects: dict[str, dict[str, Type]]) -> Type | None:
    """Return the type of a schema, with ``name`` if it is an object's."""
    if schema is META:
        objects[name] = dict(_OF_METADATA)
        return Type(name)
    if schema.get("x-kubernetes-int-or-string"):
        return DYN
    match schema.get("type"):
        case "array":
            items = schema.get("items")
            item = _declare(items, f"{name}.@idx", objects) if isinstance(items, dict) else None
            return item and Type("list", (item,))
        case "object":
            return _declare_object(schema, name, objects)
        case "string":
            return TEXTS.get(schema.get("format", ""), STRING)
        case str() as kind:
            return SCALARS.get(kind)
    return None


def _declare_object(schema: dict[str, Any], name: str, objects: dict[str, dict[str, Type]]) -> Type | None:
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        value = _declare(others, f"{name}.@elem", objects)
        return value and Type("map", (STRING, value))
    declared = {
        escape(field): _declare(of, f"{name}.{field}", objects)
        for field, of in (schema.get("properties") or {}).items()
    }
    objects[name] = {field: kind for field, kind in declared.items() if kind is not None}
    return Type(name)


def to_cel(schema: dict[str, Any], value: Any) -> Value:
    """Return a JSON value as CEL has it. An object has the fields of its schema; of the metadata, only the
    name. Raises OutOfWork."""
    if schema is META:
        metadata = value if isinstance(value, dict) else {}
        return Map((name, metadata[name]) for name in _OF_METADATA if name in metadata)
    match value:
        case dict():
            spend_work(1 + len(value) // _VALUES_OF_A_UNIT)
            fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
            if fields:
                return Map(
                    (escape(name), to_cel(fields[name], value[name])) for name in value if name in fields
                )
            of = others if isinstance(others, dict) else {}
            return Map((name, to_cel(of, item)) for name, item in value.items())
        case list():
            spend_work(1 + len(value) // _VALUES_OF_A_UNIT)
            return [to_cel(schema.get("items") or {}, item) for item in value]
        case str():
            return _text(schema.get("format", ""), value)
        case bool():
            return value
        case int() if schema.get("type") == "number":
            return float(value)
        case float() if schema.get("type") == "integer":
            return int(value)
    return value


def escape(name: str) -> str:
    """Return the name of a field as an expression writes it."""
    if name in _KEYWORDS:
        return f"__{name}__"
    return re.sub(r"__|[.\-/]", lambda found: _ESCAPES[found[0]], name)


def _text(form: str, value: str) -> Value:
    """Convert a text to the type of its format; one that is not of the format stays a text."""
    if form in _CONVERTED:
        spend_work(_FORMAT_WORK + len(value) // _LENGTH_OF_A_UNIT)
    if form in _TIMES:
        found = parse_timestamp(value + _TIMES[form])
        return value if found is None else found
    if form == "duration":
        length = parse_duration(value)
        return value if length is None else length
    if form == "byte":
        try:
            return b64decode(value, validate=True)
        except (Base64Error, ValueError):
            return value
    return value
