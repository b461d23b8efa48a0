"""Strategic merge patch: lists are merged by a key that the API's schemas define, and ``$`` directives
replace, delete or reorder parts of lists and objects.

Upstream: apimachinery/pkg/util/strategicpatch/patch.go and mergepatch/errors.go.
"""

from collections.abc import Hashable
from typing import Any, Final

from simulator.apiserver.patches.element_order import ordered
from simulator.apiserver.repeated import identity
from simulator.apiserver.request_errors import UnprocessablePatch
from simulator.apiserver.status import BadRequest, PlainError
from simulator.apiserver.types.model import ANYTHING, Field, ListType, MapType, StructType, Type
from simulator.kernel.go_text import plain

_DIRECTIVE: Final = "$patch"
_ORDER: Final = "$setElementOrder"
_DELETE_FROM: Final = "$deleteFromPrimitiveList"
_RETAIN: Final = "$retainKeys"


def apply_strategic_merge_patch(of: Type, target: Any, patch: Any) -> Any:
    """Return the object after the patch; the arguments are not changed. ``of`` says how each list is
    merged. Raises StatusError."""
    if not isinstance(patch, dict):
        return patch
    return _merge_objects(of, target if isinstance(target, dict) else {}, patch)


def _merge_objects(of: Type, target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    if _DIRECTIVE in patch:
        return _directed(patch)
    merged, patch = dict(target), dict(patch)
    _retain_keys(merged, patch)
    _merge_ordered_lists(of, merged, patch)
    for key, value in patch.items():
        deletes = key.startswith(_DELETE_FROM)
        name = _directed_field(key, "primitive list") if deletes else key
        if value is None:
            merged.pop(name, None)
        elif name not in merged or _type(merged[name]) is not _type(value):
            if not deletes:
                _set_new(merged, name, value)
        elif isinstance(value, dict):
            merged[name] = _merge_field(_field(of, name), merged[name], value)
        elif isinstance(value, list):
            merged[name] = _merge_list(_field(of, name), merged[name], value, deletes=deletes)
        else:
            merged[name] = value
    return merged


def _directed_field(directive: str, described: str) -> str:
    """Return the field that a directive such as ``$setElementOrder/containers`` is about. Raises
    BadRequest."""
    word, slash, name = directive.partition("/")
    if not slash or word not in (_DELETE_FROM, _ORDER):
        raise BadRequest(f"invalid patch format of {described}")
    return name


def _set_new(merged: dict[str, Any], name: str, value: Any) -> None:
    """Set a field that has nothing to be merged with; one with a directive is left out."""
    if _is_directed(value):
        merged.pop(name, None)
    else:
        merged[name] = _without_directives(_without_nulls(value))


def _directed(patch: dict[str, Any]) -> dict[str, Any]:
    match patch[_DIRECTIVE]:
        case "replace":
            return {key: value for key, value in patch.items() if key != _DIRECTIVE}
        case "delete":
            return {}
    raise _unknown_directive(patch)


def _unknown_directive(patch: dict[str, Any]) -> PlainError:
    directive = patch[_DIRECTIVE]
    shown = directive if isinstance(directive, str) else f"%!s({_go_value(directive)})"
    return PlainError(f"unknown patch type: {shown} in map: {plain(patch)}")


def _go_value(value: Any) -> str:
    """Format a value that is not a text where Go's ``%s`` needs one."""
    return "<nil>" if value is None else f"{_go_type(value)}={plain(value)}"


def _go_type(value: Any) -> str:
    match value:
        case None:
            return "%!s(<nil>)"
        case dict():
            return "map[string]interface {}"
        case list():
            return "[]interface {}"
    return {str: "string", bool: "bool", int: "int64"}.get(type(value), "float64")


def _retain_keys(merged: dict[str, Any], patch: dict[str, Any]) -> None:
    """Remove the fields that the directive ``$retainKeys`` does not name."""
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    directives = (_DELETE_FROM, _ORDER)
    given = [key for key, value in patch.items() if value is not None and not key.startswith(directives)]
    names = {key for key in kept if isinstance(key, str)} if isinstance(kept, list) else set[str]()
    if not isinstance(kept, list) or not names.issuperset(given):
        raise BadRequest("invalid patch format of retainKeys")
    for key in merged.keys() - names:
        del merged[key]


def _merge_ordered_lists(of: Type, merged: dict[str, Any], patch: dict[str, Any]) -> None:
    """Merge the lists for which the patch has a ``$setElementOrder``, and take both out of the patch."""
    for directive in [key for key in patch if key.startswith(_ORDER)]:
        order = _checked_list(patch.pop(directive))
        name = _directed_field(directive, "setElementOrder list")
        known = _checked_list(merged[name]) if name in merged else None
        given = _checked_list(patch[name]) if name in patch else None
        field = _field(of, name)
        key = field.merge_key
        _check_order(given or [], order, key)
        if known is None and given is None:
            continue
        patch.pop(name, None)
        if known is not None and given is not None:
            result = _merge_list(field, known, given)
        else:
            result = _without_directives(given) if known is None else known
        _check_items(known or [], given or [])
        if not known and not given:
            raise PlainError("no elements in any of the given slices")
        for item in result if key else ():
            _check_merge_key(item, key)
        merged[name] = ordered(result, order, known or [], key)


def _checked_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PlainError(f"expected a []interface {{}}, but received a {_go_type(value)}")
    return value


def _check_order(items: list[Any], order: list[Any], key: str) -> None:
    """Check that the items of a patch are in its order (validatePatchWithSetOrderList)."""
    if not order:
        return
    places = iter(order)
    for item in items:
        if _is_directed(item):
            continue
        if not any(_same(item, place, key) for place in places):
            raise PlainError(
                f"The order in patch list:\n{plain(items)}\n doesn't match {_ORDER} list:\n{plain(order)}\n"
            )


def _same(item: Any, other: Any, key: str) -> bool:
    if not key:
        return bool(item == other)
    for each in (item, other):
        _check_merge_key(each, key)
    return bool(item[key] == other[key])


def _check_merge_key(item: Any, key: str) -> None:
    if not isinstance(item, dict):
        raise PlainError(f"expected a map[string]interface {{}}, but received a {_go_type(item)}")
    if key not in item:
        raise _no_merge_key(item, key)


def _field(of: Type, name: str) -> Field:
    """Return a field of a struct, or a key of a map."""
    match of:
        case StructType() if name in of.fields:
            return of.fields[name]
        case MapType():
            return Field(name, "", of.values)
    return Field(name, "", ANYTHING)


def _merge_field(field: Field, target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    return patch if "replace" in field.patch_strategy else _merge_objects(field.type, target, patch)


def _merge_list(field: Field, target: list[Any], patch: list[Any], *, deletes: bool = False) -> list[Any]:
    """Merge two lists. ``deletes``: the patch names the scalars that are taken out."""
    if "merge" not in field.patch_strategy:
        return patch
    if not target and not patch:
        return target
    _check_items(target, patch)
    key = field.merge_key
    if not isinstance((target or patch)[0], dict):
        if deletes:
            taken = {*map(identity, patch)}
            return [item for item in target if identity(item) not in taken]
        merged = [*dict.fromkeys([*target, *patch])]
        return ordered(merged, patch, target, "")
    if not key:
        raise PlainError("cannot merge lists without merge key")
    before, given = _apply_item_directives(target, patch, key)
    merged = list(before)
    places: dict[Hashable, int] = {}
    for place, known in enumerate(before):
        places.setdefault(identity(known.get(key)), place)
    for item in given:
        if key not in item:
            raise _no_merge_key(item, key)
        place = places.setdefault(identity(item[key]), len(merged))
        if place == len(merged):
            merged.append(item)
        else:
            items = field.type.items if isinstance(field.type, ListType) else ANYTHING
            merged[place] = _merge_objects(items, merged[place], item)
    return ordered(merged, given, before, key)


def _check_items(target: list[Any], patch: list[Any]) -> None:
    """Check that the items of both lists are of one type, and no lists (sliceElementType)."""
    types = {_type(item) for item in (*target, *patch)}
    if list in types:
        raise UnprocessablePatch("lists of lists are not supported")
    if len(types) > 1:
        raise PlainError("list element types are not identical: " + plain([target, patch]))


def _type(value: Any) -> type:
    return dict if isinstance(value, dict) else type(value)


def _apply_item_directives(
    target: list[Any], patch: list[Any], key: str
) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return the target without the items that the patch deletes, and the patch without directives
    (mergeSliceWithSpecialElements)."""
    deleted: set[Hashable] = set()
    given, replaces = [], False
    for item in patch:
        match item.get(_DIRECTIVE):
            case None:
                given.append(item)
            case "delete":
                if key not in item:
                    raise _no_merge_key(item, key)
                deleted.add(identity(item[key]))
            case "replace":
                replaces = True
            case "merge":
                raise PlainError("merging lists cannot yet be specified in the patch")
            case _:
                raise _unknown_directive(item)
    if replaces:
        return [], given
    return [known for known in target if identity(known.get(key)) not in deleted], given


def _no_merge_key(item: dict[str, Any], key: str) -> PlainError:
    return PlainError(f"map: {plain(item)} does not contain declared merge key: {key}")


def _is_directed(value: Any) -> bool:
    return isinstance(value, dict) and _DIRECTIVE in value


def _without_directives(value: Any) -> Any:
    """Return a value of a patch without the objects that have a ``$patch``. Other directives stay: they
    become unknown fields (removeDirectives)."""
    match value:
        case dict():
            return {key: _without_directives(item) for key, item in value.items() if not _is_directed(item)}
        case list():
            return [_without_directives(item) for item in value if not _is_directed(item)]
    return value


def _without_nulls(value: Any) -> Any:
    """Return a value of a patch without the fields that are null (discardNullValuesFromPatch)."""
    match value:
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value]
    return value
