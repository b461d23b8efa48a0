"""Kubernetes' CEL library of versions (apiserver/pkg/cel/library/semverlib.go), with the grammar and
the errors of github.com/blang/semver/v4."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from simulator.cel.errors import ExpressionError
from simulator.cel.functions import Function
from simulator.cel.values import Opaque, Value
from simulator.kernel.go_text import quote

_DIGITS: Final = re.compile(r"[0-9]*", re.ASCII)
_WORD: Final = re.compile(r"[0-9A-Za-z-]*", re.ASCII)
_MAX: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Semver(Opaque):
    """A version. Its build is not compared."""

    type_name = "kubernetes.Semver"
    go_name = "cel.Semver"
    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...]

    def equals(self, other: Value) -> bool | None:
        return self == other if isinstance(other, Semver) else None


def compare_versions(left: Semver, right: Semver) -> int:
    """Return -1, 0 or 1, by the precedence of Semantic Versioning 2.0.0 (semver.Version.Compare)."""
    one, other = _order(left), _order(right)
    return int(one > other) - int(one < other)


def _order(version: Semver) -> tuple[object, ...]:
    # A version without prerelease comes after those with one, and a number before a word.
    parts = tuple((0, each, "") if isinstance(each, int) else (1, 0, each) for each in version.prerelease)
    return version.major, version.minor, version.patch, not parts, parts


@lru_cache(maxsize=4096)
def parse_version(text: str) -> Semver:
    """Return the version of a text (semver.Parse). Raises ExpressionError."""
    if not text:
        raise ExpressionError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ExpressionError("No Major.Minor.Patch elements found")
    major = _parse_number(parts[0], "major")
    minor = _parse_number(parts[1], "minor")
    patch, plus, build = parts[2].partition("+")
    patch, minus, prerelease = patch.partition("-")
    number = _parse_number(patch, "patch")
    found = tuple(map(_parse_prerelease, prerelease.split("."))) if minus else ()
    for each in build.split(".") if plus else ():
        if not each:
            raise ExpressionError("Build meta data is empty")
        if not _WORD.fullmatch(each):
            raise ExpressionError(f"Invalid character(s) found in build meta data {quote(each)}")
    return Semver(major, minor, number, found)


def _parse_number(text: str, part: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise ExpressionError(f"Invalid character(s) found in {part} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise ExpressionError(f"{part.capitalize()} number must not contain leading zeroes {quote(text)}")
    return _parse_uint(text)


def _parse_prerelease(text: str) -> int | str:
    if not text:
        raise ExpressionError("Prerelease is empty")
    if _DIGITS.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise ExpressionError(f"Numeric PreRelease version must not contain leading zeroes {quote(text)}")
        return _parse_uint(text)
    if not _WORD.fullmatch(text):
        raise ExpressionError(f"Invalid character(s) found in prerelease {quote(text)}")
    return text


def _parse_uint(text: str) -> int:
    if not text:
        raise ExpressionError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX:
        raise ExpressionError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


def _parse(text: str, normalize: bool = False) -> Semver:
    return parse_version(_normalize(text) if normalize else text)


def _is_version(text: str, normalize: bool = False) -> bool:
    try:
        _parse(text, normalize)
    except ExpressionError:
        return False
    return True


def _normalize(text: str) -> str:
    """Remove "v" and leading zeros, and add missing minor and patch numbers (normalizeAndParse)."""
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[index] = rest if rest and rest[0] in "0123456789" else "0" + rest
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise ExpressionError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


_S: Final = Semver.type_name
FUNCTIONS: Final = (
    Function("semver", f"(string) -> {_S}", _parse),
    Function("semver", f"(string, bool) -> {_S}", _parse),
    Function("isSemver", "(string) -> bool", _is_version),
    Function("isSemver", "(string, bool) -> bool", _is_version),
    Function("isGreaterThan", f"{_S}.({_S}) -> bool",
             lambda left, right: compare_versions(left, right) > 0),
    Function("isLessThan", f"{_S}.({_S}) -> bool",
             lambda left, right: compare_versions(left, right) < 0),
    Function("compareTo", f"{_S}.({_S}) -> int", compare_versions),
    Function("major", f"{_S}.() -> int", lambda version: version.major),
    Function("minor", f"{_S}.() -> int", lambda version: version.minor),
    Function("patch", f"{_S}.() -> int", lambda version: version.patch),
)  # fmt: skip
