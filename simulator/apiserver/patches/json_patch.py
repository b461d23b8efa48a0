"""JSON patch (RFC 6902) and JSON merge patch (RFC 7386), as kube-apiserver applies them
(gopkg.in/evanphx/json-patch.v4, patch.go and merge.go).

In a JSON patch, ``replace`` sets a missing field, a value that is not given and one that is copied from a
missing field are null, and a negative index counts from the end of a list."""

import copy
from collections.abc import Callable
from typing import Any, Final

from simulator.apiserver.bounds import MAX_BODY_BYTES, ManifestError, count_values
from simulator.kernel.parts import size_of

_END: Final = "-"


class PatchDoesNotApply(ValueError):
    """An operation of the patch does not apply to the object."""


def apply_json_patch(target: Any, operations: list[Any]) -> Any:
    """Return the object after all operations; the argument is not changed. As each copy may double it, the
    JSON of all that is copied is bounded (JSONPatchMaxCopyBytes). Raises PatchDoesNotApply."""
    document, copied = copy.deepcopy(target), 0
    for number, operation in enumerate(operations):
        try:
            if operation["op"] == "copy":
                copied += size_of(_get(*_place(document, operation["from"]), missing=None))
                if copied > MAX_BODY_BYTES:
                    raise ValueError(
                        "unable to complete the copy, the accumulated size increase of copy is "
                        f"{copied}, exceeding the limit {MAX_BODY_BYTES}"
                    )
            document = _apply(document, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise PatchDoesNotApply(f"operation {number} of the JSON patch does not apply: {error}") from None
    try:
        count_values(document)
    except ManifestError as error:
        raise PatchDoesNotApply(f"the patched object is refused: {error}") from None
    return document


def parse_pointer(text: Any) -> list[str]:
    """Parse a JSON pointer (RFC 6901) into its parts. What is before the first slash is ignored (findObject).
    Raises ValueError."""
    if not isinstance(text, str) or "/" not in text:
        raise ValueError(f"path {text!r} has no '/'")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    path, kind = operation["path"], operation["op"]
    if path == "" and kind in ("replace", "test"):
        if kind == "replace":
            return operation["value"]
        _check_equal(document, operation, path)
        return document
    handler = _OPERATIONS.get(kind)
    if handler is None:
        raise ValueError(f"unknown operation {kind!r}")
    handler(document, operation)
    return document


def _add(document: Any, operation: dict[str, Any]) -> None:
    _put(*_place(document, operation["path"]), operation.get("value"))


def _remove(document: Any, operation: dict[str, Any]) -> None:
    _take(*_place(document, operation["path"]))


def _replace(document: Any, operation: dict[str, Any]) -> None:
    parent, key = _place(document, operation["path"])
    if isinstance(parent, list):
        parent[_index(parent, key)] = operation.get("value")
    else:
        parent[key] = operation.get("value")


def _test(document: Any, operation: dict[str, Any]) -> None:
    parent, key = _place(document, operation["path"])
    _check_equal(_get(parent, key, missing=None), operation, operation["path"])


def _copy(document: Any, operation: dict[str, Any]) -> None:
    value = copy.deepcopy(_get(*_place(document, operation["from"]), missing=None))
    _put(*_place(document, operation["path"]), value)


def _move(document: Any, operation: dict[str, Any]) -> None:
    source, target = parse_pointer(operation["from"]), parse_pointer(operation["path"])
    if target[: len(source)] == source and target != source:
        raise ValueError("a value cannot be moved into itself")
    value = _take(*_place(document, operation["from"]))
    _put(*_place(document, operation["path"]), value)


_OPERATIONS: Final[dict[Any, Callable[[Any, dict[str, Any]], None]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
    "copy": _copy,
    "move": _move,
}


def _check_equal(value: Any, operation: dict[str, Any], path: str) -> None:
    if value != operation.get("value") or isinstance(value, bool) != isinstance(operation.get("value"), bool):
        raise ValueError(f"testing value {path} failed")


def _place(document: Any, path: Any) -> tuple[Any, str]:
    """Return the list or object that a path leads to, and its last part. Raises KeyError, IndexError,
    TypeError or ValueError."""
    *parents, last = parse_pointer(path)
    for part in parents:
        document = _get(document, part)
    if not isinstance(document, (dict, list)):
        raise TypeError(f"{path!r} leads into a value that has no fields")
    return document, last


_REQUIRED: Final = object()


def _get(parent: Any, key: str, *, missing: Any = _REQUIRED) -> Any:
    if isinstance(parent, list):
        return parent[_index(parent, key)]
    return parent[key] if missing is _REQUIRED else parent.get(key, missing)


def _take(parent: Any, key: str) -> Any:
    """Remove and return a value."""
    return parent.pop(_index(parent, key) if isinstance(parent, list) else key)


def _put(parent: Any, key: str, value: Any) -> None:
    if isinstance(parent, dict):
        parent[key] = value
    elif key == _END:
        parent.append(value)
    else:
        parent.insert(_index(parent, key, size=len(parent) + 1), value)


def _index(items: list[Any], part: str, *, size: int | None = None) -> int:
    """Return the index that a part of a path names, at least 0. ``size``: one more than the greatest."""
    size = len(items) if size is None else size
    digits = part.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise IndexError(f"no element {part!r}")
    index = int(part) + size if part.startswith("-") else int(part)
    if not 0 <= index < size:
        raise IndexError(f"no element {part!r}")
    return index


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch: null removes a field, an object is merged, any other value replaces. Returns
    a new value; nulls that nothing in the target answers to are dropped, also from lists."""
    if not isinstance(patch, dict):
        return patch if isinstance(target, dict) else _without_nulls(patch)
    if not isinstance(target, dict):
        return _without_nulls(patch)
    merged = dict(target)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif merged.get(key) is None:
            merged[key] = _without_nulls(value)
        else:
            merged[key] = apply_merge_patch(merged[key], value)
    return merged


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value if item is not None]
    return value
