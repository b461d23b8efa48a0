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


def decimal_int64(text: str) -> int | None:
    """Parse a decimal int64 without plus sign and leading zeros; None for any other text."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS + 1):
        return None
    number = int(text)
    return number if str(number) == text and -(1 << 63) <= number < 1 << 63 else None
