"""Parsing of JSON, with the same bounds as YAML."""

import json
from collections import Counter
from typing import Any

from simulator.apiserver.bounds import (
    MAX_DEPTH,
    ManifestError,
    count_values,
    parse_finite_float,
    parse_integer,
)


def parse_json_value(text: str) -> Any:
    """Parse one JSON value. Raises :class:`ManifestError`."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_refuse_duplicate_keys,
            parse_int=parse_integer,
            parse_float=parse_finite_float,
            parse_constant=parse_finite_float,
        )
        count_values(value)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeEncodeError:
        # JSON can escape a lone surrogate, but it is not a character and cannot be encoded in UTF-8.
        raise ManifestError("not Unicode: half of a surrogate pair") from None
    return value


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ManifestError(f'duplicate key "{key[:100]}"')
    return found
