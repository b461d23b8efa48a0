"""JSON to values, with the bounds that YAML has."""

import json
from collections import Counter
from itertools import chain
from typing import Any

from simulator.apiserver.bounds import MAX_DEPTH, MAX_NODES, ManifestError, finite, integer


def json_value(text: str) -> Any:
    """One JSON value. Raises :class:`ManifestError`."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_int=integer, parse_float=finite, parse_constant=finite
        )
        _guard(value)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeEncodeError:
        # It can be written as an escape, but is no character and has no UTF-8.
        raise ManifestError("not Unicode: half of a surrogate pair") from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ManifestError(f'duplicate key "{key[:100]}"')
    return found


def _guard(root: Any) -> None:
    """Holds a value to the bounds on depth and size, level by level."""
    level, depth, nodes = [root], 0, 0
    while level:
        nodes += len(level)
        if depth > MAX_DEPTH:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise ManifestError(f"more than {MAX_NODES} values in one request")
        inside = (
            value.values() if isinstance(value, dict) else value
            for value in level
            if isinstance(value, dict | list)
        )
        level, depth = [*chain.from_iterable(inside)], depth + 1
