"""Estimated costs of selectors: those that upstream's own tests expect
(dynamic-resource-allocation/cel/compile_test.go)."""

from typing import Final

import pytest

from simulator.cel.device_selector import MAX_COST, compile_selector

A: Final = 'device.attributes["dra.example.com"]'
C: Final = 'device.capacity["dra.example.com"]'
NUMBERS: Final = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"


def nested(depth: int) -> str:
    if not depth:
        return "int('1'.find('[0-9]*')) < 100"
    return f"{NUMBERS}.all(x{depth}, {nested(depth - 1)})"


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("true", 0),
        (f'{A}.noSuchAttr.isGreaterThan(quantity("0"))', 6),
        (f'{A}["noSuchAttr"].isGreaterThan(quantity("0"))', 6),
        ('"no-such-domain" in device.attributes', 3),
        ('device.driver == ""', 2),
        ('device.driver == "dra.example.com"', 4),
        (f"{A}.name", 4),
        (f"cel.bind(dra, {A}, dra.name)", 15),
        (f"{A}.name > 0", 5),
        (f'{A}.name == "fish"', 5),
        (f'{A}.name.isGreaterThan(semver("0.0.1"))', 6),
        (f'{C}.name.isGreaterThan(quantity("1Ki"))', 6),
        (f'"name" in {C} && {C}.name.isGreaterThan(quantity("1Ki"))', 10),
        (f'!("name" in {C}) || {C}.name.isGreaterThan(quantity("1Ki"))', 11),
        (f"{A}.a && {A}.b && {A}.c", 12),
        ('device.attributes.exists_one(x, x == "dra.example.com")', 164),
        (f'{A}.exists_one(x, x == "services")', 133),
        (f'{A}.services.split("example").size() >= 2', 19),
        (f'{A}.services.matches("[^a]?sym")', 18),
        ('device.capacity.exists_one(x, x == "dra.example.com")', 164),
        (f'{C}.exists_one(x, x == "memory")', 133),
        (nested(7), 85555551),
    ],
)
def test_a_selector_has_the_cost_that_upstream_estimates(expression: str, cost: int) -> None:
    selector = compile_selector(expression)
    assert not selector.error
    assert selector.estimate_cost() == cost
    assert (cost > MAX_COST) == (expression == nested(7))


def test_only_what_belongs_to_the_device_has_a_declared_size() -> None:
    """The items of another list than the device's are of an unknown size (sizeEstimator.EstimateSize)."""
    selector = compile_selector("[1, 2].map(x, x).map(y, y == 1) == [true]")
    assert selector.estimate_cost() == 97
