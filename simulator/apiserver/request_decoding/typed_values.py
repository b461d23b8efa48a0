"""Values of a body as the fields of Kubernetes' Go types: wrong types are errors in the words of Go, unknown
and repeated fields are noted (sigs.k8s.io/json, which apimachinery uses in place of encoding/json)."""

import re
from typing import Any, Final, NamedTuple

from simulator.apiserver.base64_text import IllegalBase64, canonical_base64
from simulator.apiserver.request_decoding.go_type_names import NAMED_TYPES
from simulator.apiserver.request_decoding.read_object import RecordedObject
from simulator.apiserver.schema import UNKNOWN_KIND, Schema, definitions
from simulator.kernel.go_text import json_kind
from simulator.objects import quantity
from simulator.objects.timestamps import is_timestamp

INT_LIMITS: Final = {"int32": 1 << 31, "int64": 1 << 63}
TIME_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
MICRO_TIME_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_QUALIFIED_NAMES: Final = ("CapacityRequirements", "DeviceRequestAllocationResult")
_YEAR: Final = re.compile(r"[0-9]{4}")


class Place(NamedTuple):
    """The place of a value."""

    path: str
    """The path with indices: ``spec.containers[0].image``."""
    fields: tuple[str, ...]
    """The names of the fields: ``spec``, ``containers``, ``image``."""
    struct: str
    """The Go type that has the last one of the fields."""

    @property
    def named_type(self) -> str:
        """The name that upstream gave to the type of the field, or of the list that the field is; or ""."""
        return NAMED_TYPES.get(f"{self.struct}.{self.fields[-1]}", "") if self.fields else ""

    def field(self, name: str, struct: str) -> "Place":
        return Place(f"{self.path}.{name}" if self.path else name, (*self.fields, name), struct)

    def key(self, name: str) -> "Place":
        return self._replace(path=f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> "Place":
        return self._replace(path=f"{self.path}[{index}]")


class TypedValues:
    """The decoding of one body. ``error`` refuses the body; ``strict`` are unknown and repeated fields.

    The first error counts. But a type that decodes itself, such as a quantity, ends the decoding with its
    error, whatever was wrong before. ``names_fields``: errors name their fields, which those of objects that
    were merged do not."""

    def __init__(self, *, names_fields: bool = True) -> None:
        self.error = ""
        self.strict: list[str] = []
        self._names_fields = names_fields
        self._ended = False

    def decode(self, type_name: str, value: Any, path: str = "") -> Any:
        """Return the value with the fields that its type has. ``path``: of the value, for ``strict``."""
        return self._value({"$ref": type_name}, value, Place(path, (), ""))

    def _fail(self, error: str) -> None:
        self.error = self.error or error

    def _end(self, error: str) -> None:
        """Note the error of a type that decodes itself."""
        if error and not self._ended:
            self.error, self._ended = error, True

    def _mismatch(self, kind: str, place: Place, go_type: str) -> None:
        self._fail(self._type_error(kind, place, go_type))

    def _type_error(self, kind: str, place: Place, go_type: str) -> str:
        named = self._names_fields and place.fields
        where = f"struct field {place.struct}.{'.'.join(place.fields)}" if named else "value"
        return f"json: cannot unmarshal {kind} into Go {where} of type {go_type}"

    def _value(self, schema: Schema, value: Any, place: Place) -> Any:
        of, name = _resolved(schema)
        if value is None:
            return None
        if "properties" in of:
            return self._struct(of, name, value, place)
        if "anyOf" in of:
            return self._schema_or_other(name, value)
        match of.get("format"), of.get("type"):
            case "quantity", _:
                return self._quantity(value)
            case "date-time", _:
                layout = MICRO_TIME_LAYOUT if name.endswith(".MicroTime") else TIME_LAYOUT
                return self._time(value, layout, place)
            case "int32", list():
                return self._int_or_string(value, place)
            case "byte", "string":
                return self._bytes(value, place)
            case _, "array":
                return self._array(of, value, place)
            case _, "object" if "additionalProperties" in of:
                return self._map(of, value, place)
            case format_, "integer":
                return self._integer(format_ or "int64", value, place)
            case _, ("string" | "boolean" | "number") as kind:
                return self._scalar(kind, value, place)
        return value

    def _struct(self, of: Schema, name: str, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            self._mismatch(json_kind(value), place, go_name(name))
            return None
        struct, fields = name.rpartition(".")[2], of["properties"]
        kept = {}
        for key, item in value.items():
            at = place.field(key, struct)
            if name == UNKNOWN_KIND:
                at = at._replace(fields=())  # a custom resource has no type, but its metadata has one
            if isinstance(value, RecordedObject) and key in value.repeated:
                self.strict.append(f'duplicate field "{at.path}"')
            if key in fields:
                kept[key] = self._value(fields[key], item, at)
            elif of.get("additionalProperties") is False:
                self.strict.append(f'unknown field "{at.path}"')
            else:
                kept[key] = item
                if name == UNKNOWN_KIND:
                    self._note_repeated(item, at)
        return kept

    def _note_repeated(self, value: Any, place: Place) -> None:
        """Note the repeated fields of a value without a type, a part of a custom resource."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._note_repeated(item, place.item(index))
        elif isinstance(value, dict):
            for key, item in value.items():
                at = place.key(key)
                if isinstance(value, RecordedObject) and key in value.repeated:
                    self.strict.append(f'duplicate field "{at.path}"')
                self._note_repeated(item, at)

    def _schema_or_other(self, name: str, value: Any) -> Any:
        """Return a JSON schema of a CustomResourceDefinition, or what may be in its place
        (JSONSchemaPropsOrBool and others in apiextensions/v1/marshal.go). These types decode themselves: an
        error names no field around them, and unknown fields in them are dropped without a note."""
        schema, _, other = name.rpartition("Or")
        inner = TypedValues()
        decoded = None
        match value:
            case dict():
                decoded = inner.decode(schema, value)
            case list() if other != "Bool":
                items = {"type": "string"} if other == "StringArray" else {"$ref": schema}
                decoded = inner._array({"type": "array", "items": items}, value, Place("", (), ""))
            case bool() if other == "Bool":
                decoded = value
            case _ if other == "Bool":
                self._end("boolean or JSON schema expected")
        self._end(inner.error)
        return decoded

    def _map(self, of: Schema, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            self._mismatch(json_kind(value), place, _map_type(of, place.struct))
            return None
        items = of["additionalProperties"]
        kept = {}
        for key, item in value.items():
            at = place.key(key)
            if isinstance(value, RecordedObject) and key in value.repeated:
                self.strict.append(f'duplicate field "{at.path}"')
            kept[key] = self._element(items, item, at) if isinstance(items, dict) else item
        return kept

    def _array(self, of: Schema, value: Any, place: Place) -> Any:
        if not isinstance(value, list):
            self._mismatch(json_kind(value), place, place.named_type or go_type(of))
            return None
        items = of.get("items") or {}
        return [self._element(items, item, place.item(index)) for index, item in enumerate(value)]

    def _element(self, schema: Schema, value: Any, place: Place) -> Any:
        """Return a value of a map or of a list, where null is the zero value of the type."""
        return zero_value(schema) if value is None else self._value(schema, value, place)

    def _scalar(self, kind: str, value: Any, place: Place) -> Any:
        wanted: dict[str, type | tuple[type, ...]] = {
            "string": str,
            "boolean": bool,
            "number": (int, float),
        }
        if isinstance(value, wanted[kind]) and (kind == "boolean" or not isinstance(value, bool)):
            return value
        basic = {"boolean": "bool", "number": "float64"}.get(kind, kind)
        self._mismatch(json_kind(value), place, place.named_type.removeprefix("[]") or basic)
        return None

    def _integer(self, format_: str, value: Any, place: Place) -> Any:
        if not self._names_fields and isinstance(value, float) and value.is_integer():
            value = int(value)  # the converter takes 3.0 for 3, the decoder does not
        error = self._integer_error(format_, value, place)
        self._fail(error)
        return None if error else value

    def _integer_error(self, format_: str, value: Any, place: Place) -> str:
        limit = INT_LIMITS.get(format_, INT_LIMITS["int64"])
        if isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit:
            return ""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return self._type_error(f"number {value}" if number else json_kind(value), place, format_)

    def _int_or_string(self, value: Any, place: Place) -> Any:
        error = "" if isinstance(value, str) else self._integer_error("int32", value, place)
        self._end(error)
        return None if error else value

    def _quantity(self, value: Any) -> Any:
        try:
            if isinstance(value, bool | dict | list):
                raise quantity.QuantityError(quantity.NOT_A_QUANTITY)
            quantity.parse_quantity(value)
        except quantity.QuantityError as error:
            self._end(str(error))
        return value

    def _time(self, value: Any, layout: str, place: Place) -> Any:
        if not isinstance(value, str):
            self._end(self._type_error(json_kind(value), place, "string"))
            return None
        if value and not is_timestamp(value):
            rest = value if not _YEAR.match(value) else value[4:]
            wanted = "2006" if rest == value else "-"
            self._end(f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as "{wanted}"')
        return value or None

    def _bytes(self, value: Any, place: Place) -> Any:
        if not isinstance(value, str):
            self._mismatch(json_kind(value), place, "[]uint8")
            return None
        try:
            return canonical_base64(value)
        except IllegalBase64 as error:
            self._fail(str(error))
        return value


def _resolved(schema: Schema) -> tuple[Schema, str]:
    """Return the schema, and the name of its type; "" for a type without a name."""
    name = ""
    while "$ref" in schema:
        name = schema["$ref"]
        schema = definitions()[name]
    return schema, name


def zero_value(schema: Schema) -> Any:
    """Return the value that Go's decoder puts into a map or a list for null; None where that is null
    again."""
    of, _ = _resolved(schema)
    if "properties" in of:
        return {}
    match of.get("format"), of.get("type"):
        case "quantity", _:
            return "0"
        case "int32", list():
            return 0
        case "date-time", _:
            return None
        case _, "string":
            return ""
        case _, "boolean":
            return False
        case _, ("integer" | "number"):
            return 0
    return None


def go_name(type_name: str) -> str:
    """Return ``v1.PodSpec`` for ``io.k8s.api.core.v1.PodSpec``."""
    return ".".join(type_name.rsplit(".", 2)[-2:])


def go_type(schema: Schema) -> str:
    """Return the Go type of a schema: ``[]v1.Container``, ``map[string]string``."""
    of, name = _resolved(schema)
    if name:
        return go_name(name)
    match of.get("type"):
        case "array":
            return f"[]{go_type(of.get('items') or {})}"
        case "object" if isinstance(of.get("additionalProperties"), dict):
            return f"map[string]{go_type(of['additionalProperties'])}"
        case "integer":
            return str(of.get("format", "int64"))
        case "boolean":
            return "bool"
        case "number":
            return "float64"
        case "string" if of.get("format") == "byte":
            return "[]uint8"
        case "string":
            return "string"
    return "interface {}"


def _map_type(schema: Schema, struct: str) -> str:
    """Return the Go type of a map that is a field of the struct."""
    found = go_type(schema)
    # The maps of resource.k8s.io/v1 have other keys, v1.QualifiedName, and no name.
    is_list = found.endswith("]resource.Quantity") and struct not in _QUALIFIED_NAMES
    return "v1.ResourceList" if is_list else found
