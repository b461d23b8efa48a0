"""Numbers in annotations and names, which users may set to any text, and values that are a number or a
percentage of a total."""

from typing import Final

MAX_DIGITS: Final = 18
"""Maximum number of digits. A number with up to 18 digits fits into an int64."""


def whole_number(text: str) -> int | None:
    """Parse a text of decimal digits; None for any other text and for more than MAX_DIGITS digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None


def scaled_value_rounded_up(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else -(-int(value.removesuffix("%")) * total // 100)


def scaled_value_rounded_down(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else int(value.removesuffix("%")) * total // 100
