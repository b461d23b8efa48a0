"""The functions of CEL on regular expressions (apiserver/pkg/cel/library/regex.go)."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final

from simulator.cel.errors import ExpressionError, cost_exceeded
from simulator.cel.functions import Function
from simulator.kernel.go_regexp import PatternFault, Regexp
from simulator.kernel.work import OutOfWork


def matches(text: str, pattern: str) -> bool:
    """Whether the pattern is found in the text. Raises EvaluationError."""
    with _regexp(pattern, "") as found:
        return found.is_found_in(text)


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    with _regexp(pattern, "Illegal regex: ") as found:
        return [*islice(found.find_all(text), limit if limit >= 0 else None)]


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern, 1)), "")


@contextmanager
def _regexp(pattern: str, prefix: str) -> Iterator[Regexp]:
    """Yield the compiled pattern. Raises EvaluationError, for what happens within, too."""
    try:
        yield Regexp(pattern)
    except PatternFault as fault:
        raise ExpressionError(f"{prefix}{fault}") from None
    except OutOfWork:
        raise cost_exceeded() from None


FUNCTIONS: Final = (
    Function("find", "string.(string) -> string", _find),
    Function("findAll", "string.(string) -> list(string)", _find_all),
    Function("findAll", "string.(string, int) -> list(string)", _find_all),
)
