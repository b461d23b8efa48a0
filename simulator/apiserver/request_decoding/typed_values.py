"""Values of a body as the fields of Kubernetes' Go types: wrong types are errors in the words of Go, unknown
and repeated fields are noted (sigs.k8s.io/json, which apimachinery uses in place of encoding/json)."""

import re
from typing import Any, Final, NamedTuple

from simulator.apiserver.base64_text import IllegalBase64, canonical_base64
from simulator.apiserver.bounds import MAX_STRICT_ERRORS, join_key
from simulator.apiserver.request_decoding.read_object import RecordedObject
from simulator.apiserver.stored_form import Misfits, normalizer
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import (
    INT_LIMITS,
    STRING,
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
)
from simulator.apiserver.types.zero_values import zero_value
from simulator.kernel.go_text import json_kind
from simulator.objects import quantity
from simulator.objects.timestamps import is_timestamp

TIME_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
MICRO_TIME_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_YEAR: Final = re.compile(r"[0-9]{4}")


class ValuePlace(NamedTuple):
    path: str
    """The path with indices: ``spec.containers[0].image``."""
    fields: tuple[str, ...] = ()
    """The names of the fields: ``spec``, ``containers``, ``image``."""
    struct: str = ""
    """The Go type that has the last one of the fields."""

    def field(self, name: str, struct: str) -> "ValuePlace":
        return ValuePlace(join_key(self.path, name), (*self.fields, name), struct)

    def key(self, name: str) -> "ValuePlace":
        return self._replace(path=join_key(self.path, name))

    def item(self, index: int) -> "ValuePlace":
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

    def decode(self, of: Type, value: Any, path: str = "") -> Any:
        """Return the value with the fields that its type has; one without any fault in its stored form.
        ``path``: of the value, for ``strict``."""
        misfits: Misfits = []
        normal = normalizer(of)(value, misfits)
        is_custom = isinstance(of, StructType) and of.others is not None  # whose content is not looked at
        return self._value(of, value, ValuePlace(path)) if misfits or is_custom else normal

    def _note(self, wrong: str, place: ValuePlace) -> None:
        """Note an unknown or a duplicate field."""
        if len(self.strict) < MAX_STRICT_ERRORS:
            self.strict.append(f'{wrong} field "{place.path}"')

    def _fail(self, error: str) -> None:
        self.error = self.error or error

    def _end(self, error: str) -> None:
        """Note the error of a type that decodes itself."""
        if error and not self._ended:
            self.error, self._ended = error, True

    def _mismatch(self, kind: str, place: ValuePlace, go_type: str) -> None:
        self._fail(self._type_error(kind, place, go_type))

    def _type_error(self, kind: str, place: ValuePlace, go_type: str) -> str:
        named = self._names_fields and place.fields
        where = f"struct field {place.struct}.{'.'.join(place.fields)}" if named else "value"
        return f"json: cannot unmarshal {kind} into Go {where} of type {go_type}"

    def _value(self, of: Type, value: Any, place: ValuePlace) -> Any:
        if value is None:
            return None
        match of:
            case StructType():
                return self._struct(of, value, place)
            case ListType():
                return self._array(of, value, place)
            case MapType():
                return self._map(of, value, place)
            case Scalar(kind=("int32" | "int64")):
                return self._integer(of, value, place)
            case Scalar():
                return self._scalar(of, value, place)
            case OwnType():
                return self._own(of, value, place)
        return value

    def _own(self, of: OwnType, value: Any, place: ValuePlace) -> Any:
        match of.short_name:
            case "Quantity":
                return self._quantity(value)
            case "Time":
                return self._time(value, TIME_LAYOUT, place)
            case "MicroTime":
                return self._time(value, MICRO_TIME_LAYOUT, place)
            case "IntOrString":
                error = "" if isinstance(value, str) else self._integer_error("int32", "int32", value, place)
                self._end(error)
                return None if error else value
            case "JSON" | "RawExtension" | "FieldsV1":
                return value
        return self._schema_or_other(of.name, value)

    def _struct(self, of: StructType, value: Any, place: ValuePlace) -> Any:
        if not isinstance(value, dict):
            self._mismatch(json_kind(value), place, of.go_name)
            return None
        kept = {}
        for key, item in value.items():
            at = place.field(key, of.short_name)
            if of.others is not None:
                at = at._replace(fields=())  # a custom resource has no type, but its metadata has one
            if isinstance(value, RecordedObject) and key in value.repeated:
                self._note("duplicate", at)
            field = of.fields.get(key)
            if field is not None:
                kept[key] = self._value(field.type, item, at)
            elif of.others is None:
                self._note("unknown", at)
            else:
                kept[key] = item
                self._note_repeated(item, at)
        return kept

    def _note_repeated(self, value: Any, place: ValuePlace) -> None:
        """Note the repeated fields of a value without a type, a part of a custom resource."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._note_repeated(item, place.item(index))
        elif isinstance(value, dict):
            for key, item in value.items():
                at = place.key(key)
                if isinstance(value, RecordedObject) and key in value.repeated:
                    self._note("duplicate", at)
                self._note_repeated(item, at)

    def _schema_or_other(self, name: str, value: Any) -> Any:
        """Return a JSON schema of a CustomResourceDefinition, or what may be in its place
        (JSONSchemaPropsOrBool and others in apiextensions/v1/marshal.go). These types decode themselves: an
        error names no field around them, and unknown fields in them are dropped without a note."""
        schema, _, other = name.rpartition("Or")
        of = api_types().struct(schema)
        inner = TypedValues()
        decoded = None
        match value:
            case dict():
                decoded = inner.decode(of, value)
            case list() if other != "Bool":
                decoded = inner.decode(ListType(STRING if other == "StringArray" else of), value)
            case bool() if other == "Bool":
                decoded = value
            case _ if other == "Bool":
                self._end("boolean or JSON schema expected")
        self._end(inner.error)
        return decoded

    def _map(self, of: MapType, value: Any, place: ValuePlace) -> Any:
        if not isinstance(value, dict):
            self._mismatch(json_kind(value), place, of.go_name)
            return None
        kept = {}
        for key, item in value.items():
            at = place.key(key)
            if isinstance(value, RecordedObject) and key in value.repeated:
                self._note("duplicate", at)
            kept[key] = self._element(of.values, item, at)
        return kept

    def _array(self, of: ListType, value: Any, place: ValuePlace) -> Any:
        if not isinstance(value, list):
            self._mismatch(json_kind(value), place, of.go_name)
            return None
        return [self._element(of.items, item, place.item(index)) for index, item in enumerate(value)]

    def _element(self, of: Type, value: Any, place: ValuePlace) -> Any:
        """Return a value of a map or of a list, where null is the zero value of the type."""
        return element_of_null(of) if value is None else self._value(of, value, place)

    def _scalar(self, of: Scalar, value: Any, place: ValuePlace) -> Any:
        match of.kind, value:
            case "bytes", str():
                try:
                    return canonical_base64(value)
                except IllegalBase64 as error:
                    self._fail(str(error))
                return value
            case ("string", str()) | ("bool", bool()):
                return value
            case "float64", int() | float() if not isinstance(value, bool):
                return value
        self._mismatch(json_kind(value), place, of.go_name)
        return None

    def _integer(self, of: Scalar, value: Any, place: ValuePlace) -> Any:
        if not self._names_fields and isinstance(value, float) and value.is_integer():
            value = int(value)  # the converter takes 3.0 for 3, the decoder does not
        error = self._integer_error(of.kind, of.go_name, value, place)
        self._fail(error)
        return None if error else value

    def _integer_error(self, kind: str, go_type: str, value: Any, place: ValuePlace) -> str:
        limit = INT_LIMITS[kind]
        if isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit:
            return ""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return self._type_error(f"number {value}" if number else json_kind(value), place, go_type)

    def _quantity(self, value: Any) -> Any:
        try:
            if isinstance(value, bool | dict | list):
                raise quantity.QuantityError(quantity.NOT_A_QUANTITY)
            quantity.parse_quantity(value)
        except quantity.QuantityError as error:
            self._end(str(error))
        return value

    def _time(self, value: Any, layout: str, place: ValuePlace) -> Any:
        if not isinstance(value, str):
            self._end(self._type_error(json_kind(value), place, "string"))
            return None
        if value and not is_timestamp(value):
            rest = value if not _YEAR.match(value) else value[4:]
            wanted = "2006" if rest == value else "-"
            self._end(f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as "{wanted}"')
        return value or None


def element_of_null(of: Type) -> Any:
    """Return the value that Go's decoder puts into a map or a list for null; None where that is null
    again."""
    if isinstance(of, StructType):
        return {}
    return "" if isinstance(of, Scalar) and of.kind == "bytes" else zero_value(of)
