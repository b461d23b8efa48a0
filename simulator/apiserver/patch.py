"""The three kinds of patches. None changes its arguments; each raises BadRequest for one that makes no sense.

JSON merge patch is RFC 7386, JSON patch RFC 6902. Strategic merge patch is Kubernetes' own: lists of known
kinds are merged by a key, as the API's schemas say (apimachinery/pkg/util/strategicpatch/patch.go, v1.34).
"""

import copy
from typing import Any

from simulator.apiserver.bounds import MAX_NODES, ManifestError, size
from simulator.apiserver.schema import Schema, referenced
from simulator.apiserver.status import BadRequest

MAX_OPERATIONS = 10_000
"""Of one JSON patch, as upstream."""

_ORDER, _REMOVED = "$setElementOrder/", "$deleteFromPrimitiveList/"


def merge(target: Any, patch: Any) -> Any:
    """RFC 7386: a null removes, an object is merged, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def strategic(schema: Schema, target: Any, patch: Any) -> Any:
    """A strategic merge, where ``schema`` knows how each list is merged."""
    if not isinstance(patch, dict):
        return patch
    directive = patch.get("$patch")
    if directive == "delete":
        return {}
    if directive == "replace" or not isinstance(target, dict):
        target = {}
    schema = referenced(schema)
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
            merged[key] = _merged_list(
                field, merged.get(key), value, order if isinstance(order, list) else None
            )
        else:
            merged[key] = strategic(field, merged.get(key), value)
    for key, removed in patch.items():
        name = key.removeprefix(_REMOVED)
        if name != key and isinstance(merged.get(name), list) and isinstance(removed, list):
            merged[name] = [item for item in merged[name] if item not in removed]
    retained = patch.get("$retainKeys")
    if isinstance(retained, list):
        merged = {key: value for key, value in merged.items() if key in retained}
    return merged


def _merged_list(field: Schema, target: Any, patch: list[Any], order: list[Any] | None) -> list[Any]:
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
            merged.append(strategic(field["items"], {}, item))
        else:
            merged[position] = strategic(field["items"], merged[position], item)
    if order:
        wanted = [item.get(key) if isinstance(item, dict) else item for item in order]
        place = {name: at for at, name in enumerate(wanted) if isinstance(name, (str, int))}
        merged.sort(key=lambda item: place.get(item.get(key), len(place)))
    return merged


def json_patch(target: Any, operations: Any) -> Any:
    """RFC 6902. All operations apply, or the patch is refused."""
    if not isinstance(operations, list):
        raise BadRequest("a JSON patch must be a list of operations")
    if len(operations) > MAX_OPERATIONS:
        raise BadRequest(f"a JSON patch may have {MAX_OPERATIONS} operations")
    document, copied = copy.deepcopy(target), 0
    for number, operation in enumerate(operations):
        try:
            if operation["op"] == "copy":
                # Each may double the document; upstream bounds their sum too (JSONPatchMaxCopyBytes).
                copied += size(_at(document, _pointer(operation["from"])))
                if copied > MAX_NODES:
                    raise ValueError(f"more than {MAX_NODES} values copied")
            document = _applied(document, operation)
        except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
            raise BadRequest(f"operation {number} of the JSON patch does not apply: {error}") from None
    try:
        size(document)
    except ManifestError as error:
        raise BadRequest(f"the patched object is refused: {error}") from None
    return document


def _applied(document: Any, operation: Any) -> Any:
    path = _pointer(operation["path"])
    match operation["op"]:
        case "add":
            return _added(document, path, operation["value"])
        case "remove":
            return _removed(document, path)
        case "replace":
            _at(document, path)
            return _added(_removed(document, path), path, operation["value"]) if path else operation["value"]
        case "test":
            if _at(document, path) != operation["value"]:
                raise ValueError(f"test failed at {operation['path']}")
            return document
        case "copy":
            return _added(document, path, copy.deepcopy(_at(document, _pointer(operation["from"]))))
        case "move":
            source = _pointer(operation["from"])
            if path[: len(source)] == source and path != source:
                raise ValueError("a value cannot be moved into itself")
            value = _at(document, source)
            return _added(_removed(document, source), path, value)
    raise ValueError(f"unknown operation {operation['op']!r}")


def _pointer(text: str) -> list[str]:
    """RFC 6901."""
    if text == "":
        return []
    if not text.startswith("/"):
        raise ValueError(f"path {text!r} must begin with '/'")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[_index(document, part)] if isinstance(document, list) else document[part]
    return document


def _index(items: list[Any], part: str) -> int:
    if not part.isdecimal() or int(part) >= len(items):
        raise IndexError(f"no element {part!r}")
    return int(part)


def _added(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _at(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" or last == str(len(parent)) else _index(parent, last), value)
    elif isinstance(parent, dict):
        parent[last] = value
    else:
        raise TypeError(f"nothing can be added at {'/'.join(path)}")
    return document


def _removed(document: Any, path: list[str]) -> Any:
    if not path:
        return None
    parent, last = _at(document, path[:-1]), path[-1]
    del parent[_index(parent, last) if isinstance(parent, list) else last]
    return document
