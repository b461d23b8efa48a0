"""How much text of a request is taken, and what is said of text that is not."""

import math
from itertools import chain
from typing import Any

MAX_BYTES = 512 * 1024
"""Of one request. Some 500 pods as YAML; etcd itself takes at most 1.5 MB for an object."""
MAX_DEPTH = 64
"""Nesting of a document. A Pod's deepest field lies 12 deep, a CustomResourceDefinition's schema some 40."""
MAX_NODES = 100_000
"""Scalars, lists and mappings of one request, aliases written out: what an alias bomb multiplies. 512 KiB of
usual manifests hold some 30,000."""
MAX_DOCUMENTS = 1_000
"""Of one request: they are stored in one commit, which holds everybody else up."""
MAX_DIGITS = 25
"""Of a number: int64 has 19 digits, and converting very long ones takes quadratic time."""


class ManifestError(ValueError):
    """The text is not a manifest. One line for people, with the line number where there is one."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.line = line


class TooLong(ManifestError):
    """More bytes than one request may have."""

    def __init__(self) -> None:
        super().__init__(f"larger than {MAX_BYTES // 1024} KiB; split it into several requests")


def size(value: Any) -> int:
    """How many scalars, lists and mappings make a value. Raises :class:`ManifestError` beyond the bounds."""
    level, depth, nodes = [value], 0, 0
    while level:
        nodes += len(level)
        if depth > MAX_DEPTH:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise ManifestError(f"more than {MAX_NODES} values in one request")
        inside = (
            parent.values() if isinstance(parent, dict) else parent
            for parent in level
            if isinstance(parent, dict | list)
        )
        level, depth = [*chain.from_iterable(inside)], depth + 1
    return nodes


def integer(text: str) -> int:
    """A whole number: decimal, 0x, or octal with a leading 0 or 0o. Raises :class:`ManifestError`."""
    if len(text) > MAX_DIGITS:
        raise ManifestError(f"number of more than {MAX_DIGITS} digits")
    if text.lstrip("+-").startswith("0x"):
        return int(text, 16)
    # int() with base 0 wants "0o"; a bare leading 0 is octal in YAML 1.1 and for kubectl.
    digits = text.lstrip("+-")
    return int(text.replace("0o", ""), 8 if len(digits) > 1 and digits.startswith("0") else 10)


def finite(text: str) -> float:
    """A number that JSON can carry. Raises :class:`ManifestError`."""
    value = float(text) if len(text) <= 400 else math.inf
    if not math.isfinite(value):
        raise ManifestError(f"number out of range: {text[:30]}")
    return value
