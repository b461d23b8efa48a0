"""Selectors of devices: values and errors as kube-scheduler's."""

import pytest

from simulator.cel.device_selector import SelectorError, compile_selector
from simulator.cel.device_value import DeviceValue

DEVICE = DeviceValue.of(
    "gpu.example.com",
    {
        "name": "gpu-0",
        "attributes": {
            "model": {"string": "a100"},
            "numa": {"int": 1},
            "healthy": {"bool": True},
            "version": {"version": "1.10.3"},
            "other.io/model": {"string": "x"},
        },
        "capacity": {"memory": {"value": "40Gi"}, "slice": {"value": "1500m"}},
    },
)
A = 'device.attributes["gpu.example.com"]'
C = 'device.capacity["gpu.example.com"]'


def evaluate(expression: str) -> bool | str:
    """What a selector says of the device: whether it matches, or the error."""
    selector = compile_selector(expression)
    if selector.error:
        return selector.error
    try:
        return selector.matches(DEVICE)
    except SelectorError as error:
        return str(error)


@pytest.mark.parametrize(
    "expression",
    [
        f'{A}.model == "a100" && device.driver == "gpu.example.com"',
        f"{A}.numa + 1 == 2 && {A}.healthy",
        'device.attributes["other.io"].model == "x"',
        "has(device.attributes.nosuch) && size(device.attributes) == 2",
        f'{C}.memory.compareTo(quantity("40Gi")) == 0 && !{C}.slice.isInteger()',
        f'{A}.version.isLessThan(semver("2.0.0"))',
        f"{A}.missing == 1 || true",
    ],
)
def test_a_selector_matches(expression: str) -> None:
    assert evaluate(expression) is True


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f"{A}.missing == 1 && true", "no such key: missing"),
        (f"{A}.numa < '2'", "no such overload"),
        (f"{A}.numa / 0 == 1", "division by zero"),
        (
            f'{A}.numa.isGreaterThan(quantity("1"))',
            "no such overload: isGreaterThan(int, kubernetes.Quantity)",
        ),
        (
            "quantity(1) == 1",
            (
                "compilation failed: ERROR: <input>:1:9: found no matching overload for 'quantity' applied to"
                " '(int)'\n | quantity(1) == 1\n | ........^"
            ),
        ),
    ],
)
def test_a_selector_fails(expression: str, text: str) -> None:
    assert evaluate(expression) == text


def test_devices_of_equal_content_are_equal() -> None:
    one = DeviceValue.of("a", {"name": "x", "attributes": {"n": {"int": 1}}})
    assert one == DeviceValue.of("a", {"name": "y", "attributes": {"n": {"int": 1}}})
    assert one != DeviceValue.of("a", {"name": "x", "attributes": {"n": {"bool": True}}})
    assert one != DeviceValue.of("b", {"name": "x", "attributes": {"n": {"int": 1}}})
