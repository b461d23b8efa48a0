from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.objects.quantity import MAX_INT64, NANO, QuantityError, milli_value, parse_quantity, value


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1", NANO),
        ("+1", NANO),
        ("-1.5", -3 * NANO // 2),
        (".5", NANO // 2),
        ("5.", 5 * NANO),
        ("100m", NANO // 10),
        ("1n", 1),
        ("0.5n", 1),
        ("-0.5n", -1),
        ("2u", 2000),
        ("4000e-3", 4 * NANO),
        ("129000E3", 129_000_000 * NANO),
        ("1E", 10**18 * NANO),
        ("1Ei", (1 << 60) * NANO),
        ("0.5Gi", (1 << 29) * NANO),
        ("1k", 1000 * NANO),
        ("1e400", MAX_INT64 * NANO),
        ("1e-400", 1),
        (2, 2 * NANO),
        (0.1, NANO // 10),
    ],
)
def test_every_form_of_a_quantity_is_read_exactly(text: str | float, nanos: int) -> None:
    assert parse_quantity(text) == nanos


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 Gi",
        "Gi",
        "1K",
        "1ki",
        "1.2.3",
        "--1",
        "1e",
        "1Gi5",
        "1e1.5",
        ".",
        "0x10",
        "1,5",
        "\u0661",
        "9" * 300,
        True,
        None,
    ],
)
def test_an_invalid_quantity_is_refused(text: object) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)  # type: ignore[arg-type]  # manifests hold anything


@given(st.integers(0, 10**9), st.sampled_from(["n", "u", "m", "", "k", "Ki", "Mi"]))
def test_values_are_rounded_up_and_never_twice(number: int, suffix: str) -> None:
    nanos = parse_quantity(f"{number}{suffix}")
    exact = Fraction(nanos, NANO)
    assert 0 <= value(nanos) - exact < 1
    assert 0 <= milli_value(nanos) - exact * 1000 < 1
    assert value(-nanos) == -value(nanos)
