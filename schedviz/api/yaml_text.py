"""YAML as kube-apiserver writes it.

Upstream: JSONToYAML in sigs.k8s.io/yaml, whose copy of go-yaml v2 sorts the keys (sorter.go) and chooses the
style of a text (stringv in encode.go).
"""

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any, Final

import yaml

_TEXT: Final = "tag:yaml.org,2002:str"
DIGITS: Final = 18
"""Maximum number of digits that a number in a key is compared by. It fits into the 64 bits of upstream's."""
MOST_BYTES: Final = 1_000_000
MOST_COMMAS: Final = 40_000
"""The size of a JSON document that is written as YAML, which takes up to 2 s. Between two values of JSON is a
comma."""
_BOOLEANS: Final = ("y", "Y", "n", "N")
"""Words that are booleans for go-yaml, and texts for PyYAML."""


class _Dumper(yaml.CSafeDumper):
    """Writes the types of Python that JSON is decoded to, and no subclasses of them."""


def _represent_text(dumper: Any, text: str) -> yaml.Node:
    """Represent a text: one of several lines is a block; one that would be read as another type is in double
    quotes."""
    is_plain = text not in _BOOLEANS and dumper.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT
    node: yaml.Node = dumper.represent_scalar(
        _TEXT, text, style="|" if "\n" in text else None if is_plain else '"'
    )
    return node


_Dumper.add_representer(str, _represent_text)


def is_large(parts: Sequence[bytes]) -> bool:
    """Whether a JSON document, in parts, stays JSON where YAML is asked for: JSON is YAML, and a hundred
    times as fast to write."""
    return sum(map(len, parts)) > MOST_BYTES or sum(part.count(b",") for part in parts) > MOST_COMMAS


def yaml_of(value: Any) -> str:
    """Return the value of a JSON document as a YAML document."""
    return yaml.dump(
        _sorted(value), Dumper=_Dumper, default_flow_style=False, allow_unicode=True, sort_keys=False
    )


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=cmp_to_key(_compare))}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _compare(one: str, other: str) -> int:
    """Compare keys by their first difference: other characters come before letters, and numbers count."""
    for at, (first, second) in enumerate(zip(one, other, strict=False)):
        if first == second:
            continue
        if first.isalpha() != second.isalpha():
            return 1 if first.isalpha() else -1
        numbers = (0, 0) if first.isalpha() else (_number(one, at), _number(other, at))
        if numbers[0] != numbers[1]:
            return numbers[0] - numbers[1]
        return ord(first) - ord(second)
    return len(one) - len(other)


def _number(key: str, at: int) -> int:
    """Return the number whose decimal digits begin here; 0 if there is none. Of more than DIGITS, the first
    ones count: Python refuses to convert thousands of them."""
    end = at
    while end < min(len(key), at + DIGITS) and key[end] in "0123456789":
        end += 1
    return int(key[at:end] or "0")
