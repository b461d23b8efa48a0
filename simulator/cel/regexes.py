"""Regular expressions of RE2, whose syntax Go uses (apiserver/pkg/cel/library/regex.go).

RE2 takes time in proportion to the text, which Python's expressions do not; the library of CEL has it.
"""

import re
from functools import lru_cache
from typing import Final

from cel_expr_python import cel

from simulator.cel.errors import SelectorError
from simulator.cel.functions import Function

_ENVIRONMENT: Final = cel.NewEnv(
    config=cel.NewEnvConfigFromYaml("extensions: [{name: optional}, {name: regex}]"),
    variables={"text": cel.Type.STRING, "pattern": cel.Type.STRING},
)
_MATCHES: Final = _ENVIRONMENT.compile("text.matches(pattern)")
_FIND_ALL: Final = _ENVIRONMENT.compile("regex.extractAll(text, pattern)")
_GROUP: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\((?:\?P?<\w+>|(?!\?))", re.DOTALL)
_KINDS: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
}


@lru_cache(maxsize=1024)
def find_fault(pattern: str) -> str:
    """Return Go's error of a pattern that is not a regular expression, else ""."""
    try:
        _MATCHES.eval(data={"text": "", "pattern": pattern}).plain_value()
        found = _MATCHES.eval(data={"text": "", "pattern": pattern})
        text = str(found.plain_value()) if found.type() == cel.Type.ERROR else ""
    except RuntimeError as error:
        text = str(error)
    return _translate(text) if text else ""


def _translate(text: str) -> str:
    message = text.partition(": ")[2] or text
    for kind, meant in (*_KINDS.items(), *((each, each) for each in _SAME)):
        _, found, rest = message.partition(kind)
        if found:
            at = rest.removeprefix(": ").split(" [")[0]
            return f"error parsing regexp: {meant}" + (f": `{at}`" if at else "")
    return f"error parsing regexp: {message}"


_SAME: Final = (
    "invalid escape sequence", "invalid character class range", "invalid character class",
    "unexpected )", "invalid named capture", "invalid UTF-8",
)  # fmt: skip


def matches(text: str, pattern: str) -> bool:
    """Whether the pattern is found in the text. Raises SelectorError."""
    _check(pattern, "")
    return bool(_MATCHES.eval(data={"text": text, "pattern": pattern}).plain_value())


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    _check(pattern, "Illegal regex: ")
    # The library gives the group of a pattern that has one; Kubernetes gives the whole match.
    whole = _GROUP.sub(lambda found: "(?:" if found[0][0] == "(" else found[0], pattern)
    found = _FIND_ALL.eval(data={"text": text, "pattern": whole}).plain_value()
    if not isinstance(found, list):
        raise SelectorError(f"Illegal regex: {found}")
    return [str(each) for each in found[: limit if limit >= 0 else None]]


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern)), "")


def _check(pattern: str, prefix: str) -> None:
    fault = find_fault(pattern)
    if fault:
        raise SelectorError(prefix + fault)


FUNCTIONS: Final = (
    Function("find", "string.(string) -> string", _find),
    Function("findAll", "string.(string) -> list(string)", _find_all),
    Function("findAll", "string.(string, int) -> list(string)", _find_all),
)
