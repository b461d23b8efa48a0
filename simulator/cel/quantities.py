"""Kubernetes' CEL library of quantities (apiserver/pkg/cel/library/quantity.go, cel/quantity.go)."""

import re
from dataclasses import dataclass
from typing import Final

from simulator.cel.errors import ExpressionError
from simulator.cel.functions import Function
from simulator.cel.values import MAX_INT, MIN_INT, Opaque, Value
from simulator.objects.quantity import MAX_LENGTH, NANO, parse_text

_PARTS: Final = re.compile(
    r"([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)", re.ASCII
)
_SUFFIX: Final = re.compile(r"[numkMGTPE]?|[KMGTPE]i|[eE][+-]?[0-9]+", re.ASCII)
_WRONG: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@dataclass(frozen=True, slots=True)
class Quantity(Opaque):
    type_name = "kubernetes.Quantity"
    go_name = "cel.Quantity"
    nanos: int
    is_pointer: bool = False
    """Whether the value is a pointer in Go, as the results of add and sub are. Quantity.Equal accepts none on
    its right side."""

    def equals(self, other: Value) -> bool | None:
        if type(other) is not Quantity or other.is_pointer:
            return None
        return self.nanos == other.nanos


def parse_quantity(text: str) -> Quantity:
    """Return the quantity of a text (resource.ParseQuantity). Raises ExpressionError."""
    found = _PARTS.fullmatch(text) if 0 < len(text) <= MAX_LENGTH else None
    if found is None:
        raise ExpressionError(_WRONG)
    _, whole, decimals, suffix = found.groups()
    if not _SUFFIX.fullmatch(suffix):
        raise ExpressionError("unable to parse quantity's suffix")
    if not whole and not decimals:
        raise ExpressionError("unable to parse numeric part of quantity")
    return Quantity(parse_text(text))


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except ExpressionError:
        return False
    return True


def _compare(left: Quantity, right: Quantity) -> int:
    return int(left.nanos > right.nanos) - int(left.nanos < right.nanos)


def _is_integer(quantity: Quantity) -> bool:
    return quantity.nanos % NANO == 0 and MIN_INT <= quantity.nanos // NANO <= MAX_INT


def _as_integer(quantity: Quantity) -> int:
    if not _is_integer(quantity):
        raise ExpressionError("cannot convert value to integer")
    return quantity.nanos // NANO


def _add(left: Quantity, right: Quantity) -> Quantity:
    return Quantity(left.nanos + right.nanos, is_pointer=True)


def _add_int(left: Quantity, right: int) -> Quantity:
    return Quantity(left.nanos + right * NANO, is_pointer=True)


def _subtract(left: Quantity, right: Quantity) -> Quantity:
    return Quantity(left.nanos - right.nanos, is_pointer=True)


def _subtract_int(left: Quantity, right: int) -> Quantity:
    return Quantity(left.nanos - right * NANO, is_pointer=True)


_Q: Final = Quantity.type_name
FUNCTIONS: Final = (
    Function("quantity", f"(string) -> {_Q}", parse_quantity),
    Function("isQuantity", "(string) -> bool", _is_quantity),
    Function("sign", f"({_Q}) -> int", lambda q: (q.nanos > 0) - (q.nanos < 0)),
    Function("isGreaterThan", f"{_Q}.({_Q}) -> bool",
             lambda left, right: left.nanos > right.nanos),
    Function("isLessThan", f"{_Q}.({_Q}) -> bool",
             lambda left, right: left.nanos < right.nanos),
    Function("compareTo", f"{_Q}.({_Q}) -> int", _compare),
    Function("asApproximateFloat", f"{_Q}.() -> double", lambda q: q.nanos / NANO),
    Function("asInteger", f"{_Q}.() -> int", _as_integer),
    Function("isInteger", f"{_Q}.() -> bool", _is_integer),
    Function("add", f"{_Q}.({_Q}) -> {_Q}", _add),
    Function("add", f"{_Q}.(int) -> {_Q}", _add_int),
    Function("sub", f"{_Q}.({_Q}) -> {_Q}", _subtract),
    Function("sub", f"{_Q}.(int) -> {_Q}", _subtract_int),
)  # fmt: skip
