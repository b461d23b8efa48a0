"""JSON to values, with the bounds that YAML has."""

import json
from collections import Counter
from typing import Any

from simulator.apiserver.bounds import MAX_DEPTH, ManifestError, finite, integer, size


def json_value(text: str) -> Any:
    """One JSON value. Raises :class:`ManifestError`."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_int=integer, parse_float=finite, parse_constant=finite
        )
        size(value)
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
