"""The three kinds of patches: JSON merge patch (RFC 7386), JSON patch (RFC 6902) and strategic merge patch.

A strategic merge patch merges lists by a key that the API's schemas define
(apimachinery/pkg/util/strategicpatch/patch.go, v1.34). The functions return the patched object and do not
change their arguments. They raise BadRequest for a patch that cannot be applied.
"""

import copy
from typing import Any

from simulator.apiserver.bounds import MAX_NODES, ManifestError, count_values
from simulator.apiserver.schema import Schema, resolve_reference
from simulator.apiserver.status import BadRequest

MAX_OPERATIONS = 10_000
"""Maximum number of operations in one JSON patch, as upstream."""

_ORDER, _DELETE_FROM = "$setElementOrder/", "$deleteFromPrimitiveList/"


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch: null removes a field, an object is merged, any other value replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = apply_merge_patch(merged.get(key), value)
    return merged


def apply_strategic_merge_patch(schema: Schema, target: Any, patch: Any) -> Any:
    """Apply a strategic merge patch. ``schema`` defines how each list is merged."""
    if not isinstance(patch, dict):
        return patch
    directive = patch.get("$patch")
    if directive == "delete":
        return {}
    if directive == "replace" or not isinstance(target, dict):
        target = {}
    schema = resolve_reference(schema)
    fields = schema.get("properties", {})
    every = schema.get("additionalProperties")
    merged = dict(target)
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        field = fields.get(key) or (every if isinstance(every, dict) else {})
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, list):
            order = patch.get(_ORDER + key)
            merged[key] = _merge_list(
                field, merged.get(key), value, order if isinstance(order, list) else None
            )
        else:
            merged[key] = apply_strategic_merge_patch(field, merged.get(key), value)
    for key, removed in patch.items():
        name = key.removeprefix(_DELETE_FROM)
        if name != key and isinstance(merged.get(name), list) and isinstance(removed, list):
            merged[name] = [item for item in merged[name] if item not in removed]
    retained = patch.get("$retainKeys")
    if isinstance(retained, list):
        merged = {key: value for key, value in merged.items() if key in retained}
    return merged


def _merge_list(field: Schema, target: Any, patch: list[Any], order: list[Any] | None) -> list[Any]:
    strategies = field.get("x-kubernetes-patch-strategy", "").split(",")
    replaces = any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch)
    if "merge" not in strategies or replaces:
        return [item for item in patch if not (isinstance(item, dict) and item.keys() == {"$patch"})]
    merged = list(target) if isinstance(target, list) else []
    key = field.get("x-kubernetes-patch-merge-key")
    if key is None:
        return [*merged, *(item for item in patch if item not in merged)]
    for item in patch:
        if not isinstance(item, dict) or item.get(key) is None:
            raise BadRequest(f"map does not contain key: {key}")
        position = next((at for at, known in enumerate(merged) if known.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            merged = [known for known in merged if known.get(key) != item[key]]
        elif position is None:
            merged.append(apply_strategic_merge_patch(field["items"], {}, item))
        else:
            merged[position] = apply_strategic_merge_patch(field["items"], merged[position], item)
    if order:
        wanted = [item.get(key) if isinstance(item, dict) else item for item in order]
        place = {name: at for at, name in enumerate(wanted) if isinstance(name, (str, int))}
        merged.sort(key=lambda item: place.get(item.get(key), len(place)))
    return merged


def apply_json_patch(target: Any, operations: Any) -> Any:
    """Apply a JSON patch: all of its operations, or none."""
    if not isinstance(operations, list):
        raise BadRequest("a JSON patch must be a list of operations")
    if len(operations) > MAX_OPERATIONS:
        raise BadRequest(f"a JSON patch may have at most {MAX_OPERATIONS} operations")
    document, copied = copy.deepcopy(target), 0
    for number, operation in enumerate(operations):
        try:
            if operation["op"] == "copy":
                # Each copy may double the document, so their sum is bounded (upstream:
                # JSONPatchMaxCopyBytes).
                copied += count_values(_value_at(document, _parse_pointer(operation["from"])))
                if copied > MAX_NODES:
                    raise ValueError(f"more than {MAX_NODES} values copied")
            document = _apply_operation(document, operation)
        except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
            raise BadRequest(f"operation {number} of the JSON patch does not apply: {error}") from None
    try:
        count_values(document)
    except ManifestError as error:
        raise BadRequest(f"the patched object is refused: {error}") from None
    return document


def _apply_operation(document: Any, operation: Any) -> Any:
    path = _parse_pointer(operation["path"])
    match operation["op"]:
        case "add":
            return _add(document, path, operation["value"])
        case "remove":
            return _remove(document, path)
        case "replace":
            _value_at(document, path)
            return _add(_remove(document, path), path, operation["value"]) if path else operation["value"]
        case "test":
            if _value_at(document, path) != operation["value"]:
                raise ValueError(f"test failed at {operation['path']}")
            return document
        case "copy":
            return _add(document, path, copy.deepcopy(_value_at(document, _parse_pointer(operation["from"]))))
        case "move":
            source = _parse_pointer(operation["from"])
            if path[: len(source)] == source and path != source:
                raise ValueError("a value cannot be moved into itself")
            value = _value_at(document, source)
            return _add(_remove(document, source), path, value)
    raise ValueError(f"unknown operation {operation['op']!r}")


def _parse_pointer(text: Any) -> list[str]:
    """Parse a JSON pointer (RFC 6901) into its parts. Raises ValueError."""
    if text == "":
        return []
    if not isinstance(text, str) or not text.startswith("/"):
        raise ValueError(f"path {text!r} must begin with '/'")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _value_at(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[_list_index(document, part)] if isinstance(document, list) else document[part]
    return document


def _list_index(items: list[Any], part: str) -> int:
    if not part.isdecimal() or int(part) >= len(items):
        raise IndexError(f"no element {part!r}")
    return int(part)


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _value_at(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        parent.insert(
            len(parent) if last == "-" or last == str(len(parent)) else _list_index(parent, last), value
        )
    elif isinstance(parent, dict):
        parent[last] = value
    else:
        raise TypeError(f"nothing can be added at {'/'.join(path)}")
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        return None
    parent, last = _value_at(document, path[:-1]), path[-1]
    del parent[_list_index(parent, last) if isinstance(parent, list) else last]
    return document
