"""How much a response says in its warnings (apiserver/pkg/endpoints/filters/warning.go, v1.34)."""

from collections.abc import Iterable
from typing import Final

MAX_CHARACTERS: Final = 4 * 1024
"""Characters of all warnings of a response, from which on each is cut off (truncateAtTotalRunes)."""
MAX_WARNINGS: Final = 64
"""Warnings of a response. Each is a header, and the clients of Python read 100 at most. kube-apiserver has no
such bound."""
MAX_CUT_OFF: Final = 256
"""Characters of a warning that is cut off (truncateItemRunes)."""


def first_warnings(warnings: Iterable[str]) -> list[str]:
    """Return the warnings that a response can have, without repeated ones. Those behind them are not
    computed: a thousand ports may have a million."""
    found: dict[str, None] = {}
    written = 0
    for warning in warnings:
        if not is_written(warning) or warning in found:
            continue
        found[warning] = None
        written += len(warning[:MAX_CUT_OFF])
        if written > MAX_CHARACTERS or len(found) == MAX_WARNINGS:
            break
    return [*found]


def is_written(warning: str) -> bool:
    """Whether a response may have the warning: one with control characters is left out (NewWarningHeader in
    apimachinery/pkg/util/net/http.go)."""
    return bool(warning) and warning.isprintable()
