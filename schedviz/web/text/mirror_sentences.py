"""Finds the values of a sentence in a line that the mirroring process wrote."""

import re
from typing import Final

NAME: Final = re.compile(r"%\((\w+)\)s")


def find_values(sentence: str, message: str) -> dict[str, str] | None:
    """Return the values that make the sentence the message; None = it is another one."""
    begin, *parts = NAME.split(sentence)
    values: dict[str, str] = {}
    rest = message.removeprefix(begin)
    if begin and rest == message:
        return None
    if not parts:
        return None if rest else values
    *others, (last, end) = zip(parts[::2], parts[1::2], strict=True)
    for name, after in others:
        value, found, rest = rest.partition(after)
        if not (value and found):
            return None
        values[name] = value
    values[last] = rest.removesuffix(end)
    return values if values[last] and rest.endswith(end) else None
