"""Validation of an applied object against the types of its fields.

Upstream: structured-merge-diff/typed/validate.go and helpers.go, with the values written as Go does.
"""

from collections.abc import Iterator
from typing import Any

from simulator.apiserver.managed_fields.field_paths import PathElement, element_text, field_element
from simulator.apiserver.managed_fields.field_types import (
    ItemError,
    deduced,
    element_of,
    is_whole,
    scalar_type,
)
from simulator.apiserver.types.model import ListType, MapType, StructType, Type, field_type
from simulator.kernel.go_text import go_syntax, plain


def applied_object_errors(of: Type, value: Any, path: str = "") -> Iterator[str]:
    """Yield what is wrong with an applied object, each with its path."""
    known = deduced(of, value)
    if value is None:
        return
    match known:
        case ListType() if not isinstance(value, list):
            yield _at(path, f"expected list, got &{{{plain(value)}}}")
        case ListType():
            yield from _item_errors(known, value, path)
        case StructType() | MapType() if not isinstance(value, dict):
            yield _at(path, f"expected map, got &{{{plain(value)}}}")
        case StructType() | MapType():
            for name, item in value.items():
                below = path + element_text(field_element(name))
                declared = field_type(known, name)
                if declared is None:
                    yield _at(below, "field not declared in schema")
                    return
                yield from applied_object_errors(declared, item, below)
        case _:
            if expected := _scalar_error(scalar_type(known), value):
                yield _at(path, expected)


def _item_errors(of: ListType, items: list[Any], path: str) -> Iterator[str]:
    seen: set[PathElement] = set()
    for index, item in enumerate(items):
        if is_whole(of):
            yield from applied_object_errors(of.items, item, f"{path}[{index}]")
            continue
        try:
            element = element_of(of, item)
        except ItemError as error:
            yield _at(path, f"element {index}: {error}")
            return
        if element in seen:
            yield _at(path, f"duplicate entries for key {element_text(element)}")
        seen.add(element)
        yield from applied_object_errors(of.items, item, path + element_text(element))


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


def _at(path: str, message: str) -> str:
    return f"{path}: {message}" if path else message
