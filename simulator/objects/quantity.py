"""Exact quantities (resource.Quantity) as integers of nano-units.

staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go. Nano-units are the finest that Kubernetes
stores, so sums and maxima are exact. Only :func:`milli_value` and :func:`value` round, upwards.
"""

import re
from fractions import Fraction
from functools import lru_cache

Nanos = int

NANO: Nanos = 1_000_000_000
MAX_INT64 = (1 << 63) - 1
MAX_NANOS = MAX_INT64 * NANO  # Larger quantities are capped, as upstream.

NOT_A_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_GRAMMAR = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([a-zA-Z]*)((?:[+-]|(?<=[a-zA-Z]))[0-9]+)?", re.ASCII
)
_MEANT = re.compile(r"([0-9]+(?:[.,][0-9]+)?)(?:\s*([a-zA-Z]+))?", re.ASCII)
_SUFFIXES = {
    "": Fraction(1),
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 10**3),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9),
    "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(1 << 10), "Mi": Fraction(1 << 20), "Gi": Fraction(1 << 30),
    "Ti": Fraction(1 << 40), "Pi": Fraction(1 << 50), "Ei": Fraction(1 << 60),
}  # fmt: skip

MAX_LENGTH = 256
"""Maximum length of a quantity. Every number in the valid range is shorter."""
MAX_EXPONENT = 64
"""Maximum absolute value of a decimal exponent; larger ones are reduced to it. The result is the same,
because a number other than 0 is then capped or rounded up to one nano-unit."""


class QuantityError(ValueError):
    """The text is not a quantity."""


@lru_cache(maxsize=16384)
def parse_text(text: str) -> Nanos:
    """Parse a quantity to nano-units, rounded away from zero. Raises :class:`QuantityError`."""
    match = _GRAMMAR.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise QuantityError(NOT_A_QUANTITY)
    sign, digits, suffix, exponent = match.groups()
    if exponent is not None:
        if suffix not in ("e", "E"):
            raise QuantityError("unable to parse quantity's suffix")
        power = max(-MAX_EXPONENT, min(MAX_EXPONENT, int(exponent)))
        scale = Fraction(10) ** power
    elif suffix in _SUFFIXES:
        scale = _SUFFIXES[suffix]
    else:
        raise QuantityError("unable to parse quantity's suffix")
    exact = Fraction(digits if digits[-1] != "." else digits + "0") * scale * NANO
    nanos = min(-(-exact.numerator // exact.denominator), MAX_NANOS)
    return -nanos if sign == "-" else nanos


def parse_quantity(quantity: str | int | float) -> Nanos:
    """Parse a quantity of a manifest: a string, or a number. Raises :class:`QuantityError`."""
    if isinstance(quantity, bool) or not isinstance(quantity, str | int | float):
        raise QuantityError("a quantity is text or a number")
    if isinstance(quantity, int):
        return max(-MAX_NANOS, min(MAX_NANOS, quantity * NANO))
    return parse_text(quantity if isinstance(quantity, str) else repr(quantity))


def value(nanos: Nanos) -> int:
    """Return whole units, rounded away from zero (Quantity.Value)."""
    return -(-nanos // NANO) if nanos >= 0 else nanos // NANO


def milli_value(nanos: Nanos) -> int:
    """Return thousandths, rounded away from zero and capped to int64 (Quantity.MilliValue)."""
    unit = NANO // 1000
    return min(MAX_INT64, -(-nanos // unit)) if nanos >= 0 else max(-MAX_INT64, nanos // unit)


_UNITS = {
    "b": [""], "byte": [""], "bytes": [""], "core": [""], "cores": [""], "cpu": [""], "cpus": [""],
    "millicpu": ["m"], "millicore": ["m"], "millicores": ["m"], "mcpu": ["m"],
    **{prefix.lower() + "i" + unit: [prefix + "i"] for prefix in "KMGTPE" for unit in ("", "b")},
    **{
        prefix.lower() + unit: [prefix + "i", "k" if prefix == "K" else prefix]
        for prefix in "KMGTPE" for unit in ("", "b")
    },
}  # fmt: skip
"""Units that are no suffixes of quantities, in lower case, and the suffixes that may be meant: "1gb" is meant
as 1Gi or 1G."""


def suggest(text: object) -> list[str]:
    """Return the quantities that a text may have been meant as, which is not one; [] = no idea."""
    match = _MEANT.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= MAX_LENGTH else None
    if match is None:
        return []
    number, unit = match[1].replace(",", "."), match[2] or ""
    found = [number + suffix for suffix in _UNITS.get(unit.lower(), [unit] if unit in _SUFFIXES else [])]
    return [each for each in found if each != text]


_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")


@lru_cache(maxsize=16384, typed=True)
def canonical(quantity: str | int | float) -> str:
    """Return a quantity in canonical form, as the API server stores it: ``0.5`` is ``500m``, ``1024Mi`` is
    ``1Gi`` (CanonicalizeBytes). Raises :class:`QuantityError`, also from 2^63."""
    text = quantity if isinstance(quantity, str) else repr(quantity)
    nanos = parse_text(text)
    if abs(nanos) >= MAX_NANOS:
        raise QuantityError("must be less than 2^63")
    whole, fraction = divmod(abs(nanos), NANO)
    sign = "-" if nanos < 0 else ""
    if text.endswith("i") and not fraction and whole >= 1024:
        power = 0
        while whole % 1024 == 0 and power < len(_BINARY) - 1:
            whole, power = whole // 1024, power + 1
        return f"{sign}{whole}{_BINARY[power]}"
    if nanos == 0:
        return "0"
    amount, power = abs(nanos), 0
    while amount % 1000 == 0 and power < len(_DECIMAL) - 1:
        amount, power = amount // 1000, power + 1
    exponential = re.search("[eE][+-]?[0-9]", text)
    suffix = f"e{3 * power - 9}" if exponential and power != 3 else _DECIMAL[power]
    return f"{sign}{amount}{suffix}"


def text_in_format_of(nanos: Nanos, like: str) -> str:
    """Return an amount in canonical form, in binary units if ``like`` is in such: the format of a sum is
    that of its first summand."""
    whole, fraction = divmod(nanos, NANO)
    if fraction or not like.endswith("i"):
        return canonical(f"{nanos}n")
    return canonical(f"{whole // 1024}Ki") if whole % 1024 == 0 else str(whole)
