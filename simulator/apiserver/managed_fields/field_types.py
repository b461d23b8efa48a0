"""How the values of a type are merged and owned, and what is wrong with an applied object.

Upstream: kube-openapi/pkg/schemaconv (openapi.go, proto_models.go), structured-merge-diff/typed/helpers.go
and validate.go, with the values written as Go does.
"""

from typing import Any, Final

from simulator.apiserver.managed_fields.field_paths import (
    FieldPath,
    PathElement,
    element_text,
    field_element,
    index_element,
    key_element,
    path_text,
    value_element,
)
from simulator.apiserver.status import MAX_CAUSES
from simulator.apiserver.types.model import (
    ANYTHING,
    STRING,
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
    field_type,
)
from simulator.kernel.go_text import go_syntax, plain

_KEY_DEFAULTS: Final = {"protocol": "TCP"}
"""The defaults of the keys of lists, which the shipped schemas leave out: ports of containers and Services
(the ``+default`` tags in types.go)."""
_TEXTS: Final = ("Time", "MicroTime")
_UNTYPED: Final = ("Quantity", "IntOrString")
_KNOWN: Final = frozenset((*_TEXTS, *_UNTYPED))
_DESCRIBED: Final = (StructType, ListType, MapType, Scalar)
_NUMBERS: Final = ("int32", "int64", "float64")
_ANY_LIST: Final = ListType(ANYTHING)
_ANY_MAP: Final = MapType(ANYTHING, STRING)
_ANY_SCALAR: Final = OwnType("io.k8s.apimachinery.pkg.util.intstr.IntOrString")


class ItemError(ValueError):
    """An item of a list has no path element."""


def deduced(of: Type, value: Any) -> Type:
    """Return the type for a value: that of one that no schema describes is what the value is. Its maps are
    merged, its lists are atomic (``__untyped_deduced_``)."""
    if isinstance(of, _DESCRIBED) or of.short_name in _KNOWN:
        return of
    match value:
        case dict() | None:
            return _ANY_MAP
        case list():
            return _ANY_LIST
    return _ANY_SCALAR


def is_whole(of: Type) -> bool:
    """Whether a value of a deduced type is owned and replaced as a whole: a scalar, or what is atomic."""
    match of:
        case ListType() | MapType():
            return of.relation == "atomic"
        case StructType():
            return of.is_atomic
    return True


def scalar_type(of: Type) -> str:
    """Return ``string``, ``numeric``, ``boolean`` or ``untyped`` (a quantity, an integer or string)."""
    if isinstance(of, Scalar):
        return "numeric" if of.kind in _NUMBERS else "boolean" if of.kind == "bool" else "string"
    return "string" if of.short_name in _TEXTS else "untyped"


def declares(of: Type, name: str) -> bool:
    """Whether a type has a field of this name, and not only a key of a map."""
    return isinstance(of, StructType) and name in of.fields


def element_of(of: ListType, item: Any) -> PathElement:
    """Return the path element of an item of a list that is not atomic. Raises ItemError
    (listItemToPathElement in typed/helpers.go)."""
    return _keyed_element(of, item) if of.relation == "map" else _set_element(item)


def _keyed_element(of: ListType, item: Any) -> PathElement:
    if item is None:
        raise ItemError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise ItemError("associative list with keys may not have non-map elements")
    values = {}
    for key in of.keys:
        if key in item:
            values[key] = item[key]
        elif key in _KEY_DEFAULTS:
            values[key] = _KEY_DEFAULTS[key]
    if not values:
        named = " ".join(f'"{key}"' for key in of.keys)
        raise ItemError(
            f"associative list with keys has an element that omits all key fields [{named}] "
            "(and doesn't have default values for any key fields)"
        )
    return key_element(values)


def _set_element(item: Any) -> PathElement:
    match item:
        case dict():
            raise ItemError("associative list without keys has an element that's a map type")
        case list():
            raise ItemError("not supported: associative list with lists as elements")
        case None:
            raise ItemError("associative list without keys has an element that's an explicit null")
    return value_element(item)


def applied_object_errors(of: Type, value: Any) -> list[str]:
    """Return what is wrong with an applied object, each with its path: MAX_CAUSES at most."""
    errors: list[str] = []
    _add_errors(errors, of, value, ())
    return errors


def _add_errors(errors: list[str], of: Type, value: Any, path: FieldPath) -> None:
    known = deduced(of, value)
    if value is None or len(errors) == MAX_CAUSES:
        return
    match known:
        case ListType() if not isinstance(value, list):
            errors.append(_at(path, f"expected list, got &{{{plain(value)}}}"))
        case ListType():
            _add_errors_of_items(errors, known, value, path)
        case StructType() | MapType() if not isinstance(value, dict):
            errors.append(_at(path, f"expected map, got &{{{plain(value)}}}"))
        case StructType() | MapType():
            for name, item in value.items():
                below = (*path, field_element(name))
                declared = field_type(known, name)
                if declared is None:
                    errors.append(_at(below, "field not declared in schema"))
                    return
                _add_errors(errors, declared, item, below)
        case _:
            if expected := _scalar_error(scalar_type(known), value):
                errors.append(_at(path, expected))


def _add_errors_of_items(errors: list[str], of: ListType, items: list[Any], path: FieldPath) -> None:
    seen: set[PathElement] = set()
    for index, item in enumerate(items):
        if is_whole(of):
            _add_errors(errors, of.items, item, (*path, index_element(index)))
            continue
        try:
            element = element_of(of, item)
        except ItemError as error:
            errors.append(_at(path, f"element {index}: {error}"))
            return
        if element in seen and len(errors) < MAX_CAUSES:
            errors.append(_at(path, f"duplicate entries for key {element_text(element)}"))
        seen.add(element)
        _add_errors(errors, of.items, item, (*path, element))


def _scalar_error(expected: str, value: Any) -> str:
    """Return the error of a value that should be a scalar; "" if it is one (validateScalar)."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match expected:
        case "numeric" if not is_number:
            return "expected numeric (int or float), got *value.valueUnstructured"
        case "string" if not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
        case "boolean" if not isinstance(value, bool):
            return f"expected boolean, got &{{{plain(value)}}}"
        case "untyped" if not isinstance(value, (str, int, float)):
            return f"expected any scalar, got &{{{plain(value)}}}"
    return ""


def _at(path: FieldPath, message: str) -> str:
    return f"{path_text(path)}: {message}" if path else message
