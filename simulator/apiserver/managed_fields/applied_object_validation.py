"""Validation of an applied object against the types of its fields.

Upstream: structured-merge-diff/typed/validate.go and helpers.go, with the values written as Go does.
"""

import json
from collections.abc import Iterator
from typing import Any

from simulator.apiserver.managed_fields.field_paths import PathElement, element_text, field_element
from simulator.apiserver.managed_fields.field_types import FieldType, ItemError


def applied_object_errors(kind: FieldType, value: Any, path: str = "") -> Iterator[str]:
    """Yield what is wrong with an applied object, each with its path."""
    deduced = kind.deduced(value)
    if value is None:
        return
    match deduced.kind:
        case "scalar":
            if expected := _scalar_error(deduced.scalar, value):
                yield _at(path, expected)
        case "list" if not isinstance(value, list):
            yield _at(path, f"expected list, got &{{{_plain_go(value)}}}")
        case "list":
            yield from _item_errors(deduced, value, path)
        case _ if not isinstance(value, dict):
            yield _at(path, f"expected map, got &{{{_plain_go(value)}}}")
        case _:
            for name, item in value.items():
                below = path + element_text(field_element(name))
                declared = deduced.field(name)
                if declared is None:
                    yield _at(below, "field not declared in schema")
                    return
                yield from applied_object_errors(declared, item, below)


def _item_errors(kind: FieldType, items: list[Any], path: str) -> Iterator[str]:
    seen: set[PathElement] = set()
    for index, item in enumerate(items):
        if kind.is_atomic:
            yield from applied_object_errors(kind.items, item, f"{path}[{index}]")
            continue
        try:
            element = kind.element_of(item)
        except ItemError as error:
            yield _at(path, f"element {index}: {error}")
            return
        if element in seen:
            yield _at(path, f"duplicate entries for key {element_text(element)}")
        seen.add(element)
        yield from applied_object_errors(kind.items, item, path + element_text(element))


def _scalar_error(expected: str, value: Any) -> str:
    """What is wrong with a value that should be a scalar; "" if nothing is (validateScalar)."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match expected:
        case "numeric" if not is_number:
            return "expected numeric (int or float), got *value.valueUnstructured"
        case "string" if not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
        case "boolean" if not isinstance(value, bool):
            return f"expected boolean, got &{{{_plain_go(value)}}}"
        case "untyped" if not isinstance(value, (str, int, float)):
            return f"expected any scalar, got &{{{_plain_go(value)}}}"
    return ""


def _at(path: str, message: str) -> str:
    return f"{path}: {message}" if path else message


def _go_syntax(value: Any) -> str:
    """The value as Go's ``%#v`` writes it."""
    match value:
        case None:
            return "interface {}(nil)"
        case dict():
            items = ", ".join(
                f"{json.dumps(name)}:{_go_syntax(item)}" for name, item in sorted(value.items())
            )
            return f"map[string]interface {{}}{{{items}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    return json.dumps(value, ensure_ascii=False)


def _plain_go(value: Any) -> str:
    """The value as Go's ``%v`` writes it."""
    match value:
        case None:
            return "<nil>"
        case dict():
            return f"map[{' '.join(f'{name}:{_plain_go(item)}' for name, item in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(_plain_go, value))}]"
        case str():
            return value
    return json.dumps(value)
