"""Whether the selectors of a class and of a request select a device (isSelectable and selectorsMatch in
allocator_experimental.go, v1.34)."""

from functools import lru_cache
from typing import Final

from simulator.cel.device_selector import compile_selector
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import EvaluationError
from simulator.kernel.work import REQUEST_WORK, measure_work, spend_work
from simulator.plugins.dynamic_resources.errors import AllocationError
from simulator.plugins.dynamic_resources.pool import PoolDevice

CACHED_RESULTS = 1 << 17
"""The maximum of cached results of distinct devices and expressions: a cluster has few of either."""
EVALUATION_WORK: Final = 100_000
"""The maximum work of one evaluation."""


def is_selectable(device: PoolDevice, selectors: tuple[tuple[str, tuple[str, ...]], ...]) -> bool:
    """Whether all expressions are true of the device. ``selectors``: what an error names (``class gpu``), and
    its expressions. Those behind one that is false are not evaluated. A result that is cached spends the work
    of its evaluation, too: what is refused does not depend on the cache. Raises AllocationError,
    OutOfWork."""
    if device.device.has_binding_conditions:
        return False
    for owner, expressions in selectors:
        for index, expression in enumerate(expressions):
            result, work = _evaluate(expression, device.device.value)
            spend_work(work)
            if isinstance(result, str):
                raise AllocationError(f"{owner}: selector #{index}: {result}")
            if not result:
                return False
    return True


@lru_cache(maxsize=CACHED_RESULTS)
def _evaluate(expression: str, device: DeviceValue) -> tuple[bool | str, int]:
    """Return the result, or the text of the error, and the work."""
    with measure_work(REQUEST_WORK):
        selector = compile_selector(expression)
    if selector.error:
        return f"CEL compile error: {selector.error}", 0
    result: bool | str
    with measure_work(EVALUATION_WORK) as work:
        try:
            result = selector.matches(device)
        except EvaluationError as error:
            result = f"CEL runtime error: {error}"
    return result, EVALUATION_WORK - work.left
