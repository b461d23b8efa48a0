"""Paths to the fields of an object, sets of them, and their form in ``fieldsV1``.

An element of a path is the text that ``fieldsV1`` has for it: ``f:name`` for a field, ``k:{"name":"a"}`` for
the item of a list with these keys, ``v:"x"`` for an item of a list that is a set. A path is a tuple of
elements, a field set a frozenset of paths: whether a path is in a set says nothing of its parents.

Upstream: structured-merge-diff/fieldpath (element.go, path.go, serialize.go).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

PathElement = str
FieldPath = tuple[PathElement, ...]
FieldSet = frozenset[FieldPath]
FieldsV1 = dict[str, Any]

_MEMBER: Final = "."
"""The key in ``fieldsV1`` that says that the path to this place is a member of the set."""
_LEAF: Final[FieldsV1] = {}
"""What is below a member with nothing below it."""
_AROUND: Final = len('"":{},') - 1
"""The bytes around an element without the comma, which the last one has not."""
_KIND_ORDER: Final = {"f": 0, "k": 1, "v": 2, "i": 3}


class FieldsError(ValueError):
    """A ``fieldsV1`` is malformed."""


def field_element(name: str) -> PathElement:
    return f"f:{name}"


def key_element(keys: Mapping[str, Any]) -> PathElement:
    """Return the element of the list item with these values of its keys."""
    # Of a dict, the encoder is made anew for each; of a text, it is a function in C.
    pairs = [f"{_json_name(name)}:{_compact_json(keys[name])}" for name in sorted(keys)]
    return f"k:{{{','.join(pairs)}}}"


def value_element(value: Any) -> PathElement:
    """Return the element of an item of a set."""
    return "v:" + _compact_json(value)


_compact_json: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
"""Writes a value as JSON without spaces. ``json.dumps`` would make an encoder for each."""
_json_name = lru_cache(1_000)(_compact_json)
"""Writes the name of a key, of which a list has few."""


def index_element(index: int) -> PathElement:
    """Return the element of an item of a list that is atomic."""
    return f"i:{index}"


def to_fields_v1(fields: Iterable[FieldPath]) -> FieldsV1:
    """Return the ``fieldsV1`` of a set, its elements in upstream's order."""
    root: FieldsV1 = {}
    for path in filter(None, fields):  # that of the whole object is not written
        *parents, last = path
        node = root
        for element in parents:
            below = node.get(element)
            if below is None:
                below = node[element] = {}
            elif below is _LEAF:
                below = node[element] = {_MEMBER: _LEAF}
            node = below
        below = node.setdefault(last, _LEAF)
        if below is not _LEAF:
            below[_MEMBER] = _LEAF
    return _in_order(root)


def _in_order(node: FieldsV1) -> FieldsV1:
    """Return what is below an element, in upstream's order: first whether it is a member itself."""
    names = [*node]
    if len(names) > 1:
        is_member = _MEMBER in node
        if is_member:
            names.remove(_MEMBER)
        # The order of fields is that of their texts.
        names.sort(key=None if all(name[0] == "f" for name in names) else _element_order)
        if is_member:
            names.insert(0, _MEMBER)
    return {name: {} if node[name] is _LEAF else _in_order(node[name]) for name in names}


def least_size(fields: Iterable[FieldPath]) -> int:
    """Return a number of bytes that the ``fieldsV1`` of a set has at least as JSON: an element of it for each
    path."""
    return sum(len(path[-1]) + _AROUND for path in fields if path)


def from_fields_v1(fields: Any) -> FieldSet:
    """Return the set of a ``fieldsV1``. Raises FieldsError."""
    return frozenset(_paths_of(fields, ()))


def _paths_of(node: Any, path: FieldPath) -> Iterator[FieldPath]:
    if not isinstance(node, dict):
        raise FieldsError("fieldsV1 must be an object")
    for element, below in node.items():
        if element == _MEMBER:
            yield path
            continue
        _parse_element(element)
        if below:
            yield from _paths_of(below, (*path, element))
        else:
            yield (*path, element)


def paths_in_order(fields: Iterable[FieldPath]) -> list[FieldPath]:
    """Return the paths in the order in which upstream walks through a set: of each level first the members,
    then what is below them (Set.Iterate)."""
    return sorted(fields, key=_walk_order)


def path_text(path: FieldPath) -> str:
    """Return a path as messages have it: ``.spec.containers[name="a"].image``."""
    return "".join(map(element_text, path))


@lru_cache(10_000)
def element_text(element: PathElement) -> str:
    """Return an element as messages have it (PathElement.String)."""
    kind, value = _parse_element(element)
    match kind:
        case "f":
            return f".{value}"
        case "k":
            return "[" + ",".join(f"{name}={_compact_json(item)}" for name, item in value) + "]"
        case "v":
            return f"[={_compact_json(value)}]"
    return f"[{value}]"


@lru_cache(10_000)
def _parse_element(element: PathElement) -> tuple[str, Any]:
    """Return the kind of an element, and its name, its sorted keys, its value or its index. Raises
    FieldsError."""
    kind, colon, text = element.partition(":")
    try:
        if not colon or kind not in _KIND_ORDER:
            raise ValueError
        if kind == "f":
            return kind, text
        value = msgspec.json.decode(text)
        if kind == "k":
            return kind, tuple(sorted(value.items()))
        if kind == "i":
            return kind, int(value)
        return kind, value
    except (ValueError, AttributeError, TypeError):
        raise FieldsError(f"unknown path element {element!r}") from None


@lru_cache(10_000)
def _element_order(element: PathElement) -> tuple[Any, ...]:
    """Return the order of elements at one place (PathElement.Compare)."""
    kind, value = _parse_element(element)
    match kind:
        case "k":
            order: tuple[Any, ...] = tuple((name, _value_order(item)) for name, item in value)
        case "v":
            order = _value_order(value)
        case _:
            order = (value,)
    return _KIND_ORDER[kind], *order


def _value_order(value: Any) -> tuple[int, Any]:
    """Return the order of scalars: numbers, strings, booleans, others (value.Compare)."""
    match value:
        case bool():
            return 2, value
        case int() | float():
            return 0, value
        case str():
            return 1, value
    return 3, _compact_json(value)


def _walk_order(path: FieldPath) -> tuple[Any, ...]:
    """Return the order in which a member of a level comes before the paths that go below this level."""
    *parents, last = map(_element_order, path)
    return (*((1, parent) for parent in parents), (0, last))
