"""JSON to values, with the bounds that YAML has."""

import json
from typing import Any

from simulator.apiserver.bounds import MAX_DEPTH, MAX_NODES, ManifestError, finite, integer


def json_value(text: str) -> Any:
    """One JSON value. Raises :class:`ManifestError`."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_int=integer, parse_float=finite, parse_constant=finite
        )
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from None
    _bounded(value)
    if "\\ud" in text.lower():
        _encodable(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ManifestError(f'duplicate key "{key[:100]}"')
            seen.add(key)
    return result


def _bounded(root: Any) -> None:
    """Holds JSON to the bounds on depth and size, without recursion."""
    level, depth, nodes = [root], 0, 0
    while level:
        nodes += len(level)
        if depth > MAX_DEPTH:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise ManifestError(f"more than {MAX_NODES} values in one request")
        level = [
            child
            for value in level
            if isinstance(value, (dict, list))
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        depth += 1


def _encodable(value: Any) -> None:
    """Half of a surrogate pair can be written as an escape, but is no character and has no UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ManifestError("not Unicode: half of a surrogate pair") from None
