"""Whether the selectors of a class and of a request select a device (isSelectable and selectorsMatch in
allocator_experimental.go, v1.34)."""

from functools import lru_cache

from simulator.cel.device_selector import compile_selector
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import EvaluationError
from simulator.plugins.dynamic_resources.errors import AllocationError
from simulator.plugins.dynamic_resources.pool import PoolDevice

CACHED_RESULTS = 1 << 17
"""The maximum of cached results of distinct devices and expressions: a cluster has few of either."""


def is_selectable(device: PoolDevice, selectors: tuple[tuple[str, tuple[str, ...]], ...]) -> bool:
    """Whether all expressions are true of the device. ``selectors``: what an error names (``class gpu``), and
    its expressions. Those behind one that is false are not evaluated. Raises AllocationError."""
    if device.device.has_binding_conditions:
        return False
    for owner, expressions in selectors:
        for index, expression in enumerate(expressions):
            result = _evaluate(expression, device.device.value)
            if isinstance(result, str):
                raise AllocationError(f"{owner}: selector #{index}: {result}")
            if not result:
                return False
    return True


@lru_cache(maxsize=CACHED_RESULTS)
def _evaluate(expression: str, device: DeviceValue) -> bool | str:
    """Return the result, or the text of the error."""
    selector = compile_selector(expression)
    if selector.error:
        return f"CEL compile error: {selector.error}"
    try:
        return selector.matches(device)
    except EvaluationError as error:
        return f"CEL runtime error: {error}"
