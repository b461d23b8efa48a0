"""A device, and what selectors say of it."""

from typing import Final

from simulator.cel.device_selector import compile_selector
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import EvaluationError

DEVICE: Final = DeviceValue.of(
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
NAMES: Final = {"A": 'device.attributes["gpu.example.com"]', "C": 'device.capacity["gpu.example.com"]'}


def evaluate(expression: str, device: DeviceValue = DEVICE) -> bool | str:
    """Whether a selector matches a device, or its error."""
    selector = compile_selector(expression)
    if selector.error:
        return selector.error
    try:
        return selector.matches(device)
    except EvaluationError as error:
        return str(error)


def complete(line: str) -> str:
    """The expression of a line in which A. and C. stand for the attributes and the capacity of the driver."""
    for name, meant in NAMES.items():
        line = line.replace(f"{name}.", f"{meant}.")
    return line
