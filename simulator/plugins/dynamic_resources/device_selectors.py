"""The selectors of DeviceClasses and of requests, and whether they select a device (isSelectable and
selectorsMatch in allocator_experimental.go)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from simulator.api import Manifest
from simulator.cel.device_selector import LIST_SELECTORS, STORED_SELECTORS, compile_selector
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import EvaluationError
from simulator.cel.functions import Environment
from simulator.cluster.other_objects import OtherObjects
from simulator.kernel.work import REQUEST_WORK, measure_work, spend_work
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import selector_expressions


class ClaimError(Exception):
    """A claim of the pod cannot be used yet: the pod is not tried. The message is upstream's."""


class AllocationError(Exception):
    """The allocation failed with an error, which ends the scheduling cycle. The message is upstream's."""


DEVICE_CLASSES = "deviceclasses.resource.k8s.io"


def device_classes(objects: OtherObjects) -> Mapping[str, Manifest]:
    return objects.objects(DEVICE_CLASSES)


def class_expressions(objects: OtherObjects) -> Mapping[str, tuple[str, ...]]:
    """Return the CEL expressions of each class, by its name."""
    return objects.derived(_class_expressions, DEVICE_CLASSES)


def _class_expressions(objects: OtherObjects) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(each or "" for each in selector_expressions(manifest.get("spec") or {}))
        for name, manifest in device_classes(objects).items()
    }


CACHED_RESULTS = 1 << 17
"""The maximum of cached results of distinct devices and expressions: a cluster has few of either."""
EVALUATION_WORK: Final = 100_000
"""The maximum work of one evaluation."""


def is_selectable(device: PoolDevice, selectors: tuple[tuple[str, tuple[str, ...]], ...]) -> bool:
    """Whether all expressions are true of the device, as :func:`matches` says."""
    return matches(device.device.value, selectors)


def matches(
    device: DeviceValue, selectors: tuple[tuple[str, tuple[str, ...]], ...], *, lists: bool = False
) -> bool:
    """Whether all expressions are true of the device. ``selectors``: what an error names (``class gpu``), and
    its expressions. Those behind one that is false are not evaluated. A result that is cached spends the work
    of its evaluation, too: what is refused does not depend on the cache. Raises AllocationError,
    OutOfWork. ``lists``: whether attributes can be lists."""
    environment = LIST_SELECTORS if lists else STORED_SELECTORS
    for owner, expressions in selectors:
        for index, expression in enumerate(expressions):
            result, work = _evaluate(expression, device, environment)
            spend_work(work)
            if isinstance(result, str):
                raise AllocationError(f"{owner}: selector #{index}: {result}")
            if not result:
                return False
    return True


@lru_cache(maxsize=CACHED_RESULTS)
def _evaluate(expression: str, device: DeviceValue, environment: Environment) -> tuple[bool | str, int]:
    """Return the result, or the text of the error, and the work."""
    with measure_work(REQUEST_WORK):
        selector = compile_selector(expression, environment)
    if selector.error:
        return f"CEL compile error: {selector.error}", 0
    result: bool | str
    with measure_work(EVALUATION_WORK) as work:
        try:
            result = selector.matches(device)
        except EvaluationError as error:
            result = f"CEL runtime error: {error}"
    return result, EVALUATION_WORK - work.left
