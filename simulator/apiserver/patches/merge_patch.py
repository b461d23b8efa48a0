"""JSON merge patch (RFC 7386), as kube-apiserver applies it (gopkg.in/evanphx/json-patch.v4, merge.go)."""

from typing import Any


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
