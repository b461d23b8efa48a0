"""The bounds on the text of a request, and the errors for text beyond them."""

import math
from itertools import chain
from typing import Any

MAX_BYTES = 512 * 1024
"""Maximum size of a text of several objects: about 500 pods as YAML."""
MAX_OBJECT_BYTES = 3 << 19
"""Maximum size of one object: 1.5 MiB, as etcd's ``--max-request-bytes``."""
MAX_BODY_BYTES = 3 << 20
"""Maximum size of the body of a request to Kubernetes' API: 3 MiB, as kube-apiserver. An object that kubectl
applies is also in one of its annotations."""
MAX_DEPTH = 64
"""Maximum nesting of a document. The deepest field of a Pod is at level 12; the schema in a
CustomResourceDefinition needs about 40 levels."""
MAX_TEXT_DEPTH = 250
"""Maximum nesting of a JSON body, in which fields that its type does not have may be deeper than MAX_DEPTH:
they are dropped. The functions that decode it need three calls a level, of the 1,000 that Python allows."""
MAX_NODES = 100_000
"""Maximum number of scalars, lists and mappings in one request, with aliases expanded: a bound against alias
bombs. 512 KiB of usual manifests hold about 30,000."""
MAX_DOCUMENTS = 1_000
"""Maximum number of documents in one request. They are stored in one commit, which delays all other
commits."""
MAX_DIGITS = 25
"""Maximum number of digits of a number. An int64 has 19; converting a very long number takes quadratic
time."""

MAX_SHOWN_KEY = 300
"""Maximum number of characters of a key in the path of a field. A key may be as long as the request, and
be in the paths of all that is below it."""
MAX_STRICT_ERRORS = 1_000
"""Maximum number of unknown and repeated fields of an object that are noted."""


class ManifestError(ValueError):
    """The text is not a manifest. The message is one line, with the line number if it is known; ``problem``
    is the message without it."""

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        place = f"line {line}, column {column}" if column else f"line {line}"
        super().__init__(f"{place}: {problem}" if line else problem)
        self.problem = problem
        self.line = line
        self.column = column


class TooLong(ManifestError):
    """A text has more bytes than its bound."""


def several_too_long() -> TooLong:
    return TooLong(f"larger than {MAX_BYTES // 1024} KiB; split it into several requests")


def object_too_long() -> TooLong:
    return TooLong(f"larger than {MAX_OBJECT_BYTES / (1 << 20)} MiB, the limit of one object")


def count_values(value: Any, max_depth: int = MAX_DEPTH) -> int:
    """Count the scalars, lists and mappings in a value. Raises :class:`ManifestError` beyond ``max_depth``
    levels or MAX_NODES."""
    level, depth, nodes = [value], 0, 0
    while level:
        nodes += len(level)
        if depth > max_depth:
            raise ManifestError(f"nested deeper than {max_depth} levels")
        if nodes > MAX_NODES:
            raise ManifestError(f"more than {MAX_NODES} values in one request")
        inside = (
            parent.values() if isinstance(parent, dict) else parent
            for parent in level
            if isinstance(parent, dict | list)
        )
        level, depth = [*chain.from_iterable(inside)], depth + 1
    return nodes


def join_key(path: str, key: str) -> str:
    """Return the path of a field, or of the value of a map: ``spec.labels``."""
    return f"{path}.{key[:MAX_SHOWN_KEY]}" if path else key[:MAX_SHOWN_KEY]


def index_key(path: str, key: str) -> str:
    """Return the path of the value of a map where upstream writes its key as an index:
    ``spec.labels[a]``."""
    return f"{path}[{key[:MAX_SHOWN_KEY]}]"


def parse_integer(text: str) -> int:
    """Parse an integer: decimal, hexadecimal (0x), or octal (a leading 0 or 0o). Raises
    :class:`ManifestError`."""
    if len(text) > MAX_DIGITS:
        raise ManifestError(f"number of more than {MAX_DIGITS} digits")
    if text.lstrip("+-").startswith("0x"):
        return int(text, 16)
    # int() with base 0 requires "0o"; in YAML 1.1 and for kubectl a leading 0 alone means octal.
    digits = text.lstrip("+-")
    return int(text.replace("0o", ""), 8 if len(digits) > 1 and digits.startswith("0") else 10)


def parse_finite_float(text: str) -> float:
    """Parse a floating-point number. Raises :class:`ManifestError` for infinity and NaN, which JSON does not
    have."""
    value = float(text) if len(text) <= 400 else math.inf
    if not math.isfinite(value):
        raise ManifestError(f"number out of range: {text[:30]}")
    return value
