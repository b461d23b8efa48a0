"""Strategic merge patch: lists are merged by a key that the API's schemas define, and ``$`` directives
replace, delete or reorder parts of lists and objects.

Upstream: apimachinery/pkg/util/strategicpatch/patch.go and mergepatch/errors.go, v1.34.
"""

from typing import Any, Final

from simulator.apiserver.patches.element_order import ordered
from simulator.apiserver.request_errors import UnprocessablePatch
from simulator.apiserver.schema import Schema, resolve_reference
from simulator.apiserver.status import BadRequest, PlainError
from simulator.kernel.go_text import plain

_DIRECTIVE: Final = "$patch"
_ORDER: Final = "$setElementOrder"
_DELETE_FROM: Final = "$deleteFromPrimitiveList"
_RETAIN: Final = "$retainKeys"


def apply_strategic_merge_patch(schema: Schema, target: Any, patch: Any) -> Any:
    """Return the object after the patch; the arguments are not changed. ``schema`` defines how each list is
    merged. Raises StatusError."""
    if not isinstance(patch, dict):
        return patch
    return _merge_objects(schema, target if isinstance(target, dict) else {}, patch)


def _merge_objects(schema: Schema, target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    if _DIRECTIVE in patch:
        return _directed(patch)
    schema = resolve_reference(schema)
    merged, patch = dict(target), dict(patch)
    _retain_keys(merged, patch)
    _merge_ordered_lists(schema, merged, patch)
    for key, value in patch.items():
        deletes = key.startswith(f"{_DELETE_FROM}/")
        name = key.partition("/")[2] if deletes else key
        if value is None:
            merged.pop(name, None)
        elif name not in merged or _type(merged[name]) is not _type(value):
            if not deletes:
                merged[name] = _without_directives(value)
        elif isinstance(value, dict):
            merged[name] = _merge_field(_field(schema, name), merged[name], value)
        elif isinstance(value, list) and deletes:
            merged[name] = [item for item in merged[name] if item not in value]
        elif isinstance(value, list):
            merged[name] = _merge_list(_field(schema, name), merged[name], value)
        else:
            merged[name] = value
    return merged


def _directed(patch: dict[str, Any]) -> dict[str, Any]:
    match patch[_DIRECTIVE]:
        case "replace":
            return {key: value for key, value in patch.items() if key != _DIRECTIVE}
        case "delete":
            return {}
    raise _unknown_directive(patch)


def _unknown_directive(patch: dict[str, Any]) -> PlainError:
    return PlainError(f"unknown patch type: {plain(patch[_DIRECTIVE])} in map: {plain(patch)}")


def _retain_keys(merged: dict[str, Any], patch: dict[str, Any]) -> None:
    """Remove the fields that the directive ``$retainKeys`` does not name."""
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    directives = (f"{_DELETE_FROM}/", f"{_ORDER}/")
    given = [key for key, value in patch.items() if value is not None and not key.startswith(directives)]
    if not isinstance(kept, list) or any(key not in kept for key in given):
        raise BadRequest("invalid patch format of retainKeys")
    for key in [key for key in merged if key not in kept]:
        del merged[key]


def _merge_ordered_lists(schema: Schema, merged: dict[str, Any], patch: dict[str, Any]) -> None:
    """Merge the lists for which the patch has a ``$setElementOrder``, and take both out of the patch."""
    for directive in [key for key in patch if key.startswith(f"{_ORDER}/")]:
        order, name = patch.pop(directive), directive.partition("/")[2]
        if not isinstance(order, list):
            raise BadRequest("invalid patch format of setElementOrder list")
        known, given = merged.get(name), patch.pop(name, None)
        if not isinstance(known, list) and not isinstance(given, list):
            continue
        field = _field(schema, name)
        key = field.get("x-kubernetes-patch-merge-key", "")
        if isinstance(given, list):
            _check_order(given, order, key)
        before = known if isinstance(known, list) else []
        if isinstance(known, list) and isinstance(given, list):
            result = _merge_list(field, known, given)
        else:
            result = _without_directives(given) if isinstance(given, list) else before
        merged[name] = ordered(result, order, before, key)


def _check_order(items: list[Any], order: list[Any], key: str) -> None:
    """Check that the items of a patch are in its order (validatePatchWithSetOrderList)."""
    places = iter(order)
    kept = [
        item for item in items if not (key and isinstance(item, dict) and item.get(_DIRECTIVE) == "delete")
    ]
    for item in kept:
        if not any(_same(item, place, key) for place in places):
            raise PlainError(
                f"The order in patch list:\n{plain(items)}\n doesn't match {_ORDER} list:\n{plain(order)}\n"
            )


def _same(item: Any, other: Any, key: str) -> bool:
    if key and isinstance(item, dict) and isinstance(other, dict):
        return bool(item.get(key) == other.get(key))
    return bool(item == other)


def _field(schema: Schema, name: str) -> Schema:
    others = schema.get("additionalProperties")
    return schema.get("properties", {}).get(name) or (others if isinstance(others, dict) else {})


def _strategies(field: Schema) -> list[str]:
    strategies: str = field.get("x-kubernetes-patch-strategy", "")
    return strategies.split(",")


def _merge_field(field: Schema, target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    return patch if "replace" in _strategies(field) else _merge_objects(field, target, patch)


def _merge_list(field: Schema, target: list[Any], patch: list[Any]) -> list[Any]:
    if "merge" not in _strategies(field):
        return patch
    if not target and not patch:
        return target
    _check_items(target, patch)
    key = field.get("x-kubernetes-patch-merge-key", "")
    if not isinstance((target or patch)[0], dict):
        merged = [*dict.fromkeys([*target, *patch])]
        return ordered(merged, patch, target, "")
    if not key:
        raise PlainError("cannot merge lists without merge key")
    before, given = _apply_item_directives(target, patch, key)
    merged = list(before)
    for item in given:
        if key not in item:
            raise _no_merge_key(item, key)
        place = next((at for at, known in enumerate(merged) if known.get(key) == item[key]), None)
        if place is None:
            merged.append(item)
        else:
            merged[place] = _merge_objects(field["items"], merged[place], item)
    return ordered(merged, given, before, key)


def _check_items(target: list[Any], patch: list[Any]) -> None:
    """Check that the items of both lists are of one type, and no lists (sliceElementType)."""
    types = {_type(item) for item in (*target, *patch)}
    if list in types:
        raise UnprocessablePatch("lists of lists are not supported")
    if len(types) > 1:
        raise PlainError("list element types are not identical: " + plain([*target, *patch]))


def _type(value: Any) -> type:
    return dict if isinstance(value, dict) else type(value)


def _apply_item_directives(
    target: list[Any], patch: list[Any], key: str
) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return the target without the items that the patch deletes, and the patch without directives
    (mergeSliceWithSpecialElements)."""
    left, given, replaces = list(target), [], False
    for item in patch:
        match item.get(_DIRECTIVE):
            case None:
                given.append(item)
            case "delete":
                if key not in item:
                    raise _no_merge_key(item, key)
                left = [known for known in left if known.get(key) != item[key]]
            case "replace":
                replaces = True
            case "merge":
                raise PlainError("merging lists cannot yet be specified in the patch")
            case _:
                raise _unknown_directive(item)
    return ([], given) if replaces else (left, given)


def _no_merge_key(item: dict[str, Any], key: str) -> PlainError:
    return PlainError(f"map: {plain(item)} does not contain declared merge key: {key}")


def _without_directives(value: Any) -> Any:
    """A value of a patch that nothing is merged with: without directives and nulls."""
    match value:
        case dict() if value.get(_DIRECTIVE) == "delete":
            return {}
        case dict():
            return {
                key: _without_directives(item)
                for key, item in value.items()
                if not key.startswith("$") and item is not None
            }
        case list():
            kept = [item for item in value if not (isinstance(item, dict) and _DIRECTIVE in item)]
            return [_without_directives(item) for item in kept]
    return value
