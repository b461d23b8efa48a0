"""Compiles and evaluates the selectors of devices (dynamic-resource-allocation/cel/compile.go, v1.34)."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from simulator.cel.checker import Checked, check
from simulator.cel.conversions import to_result
from simulator.cel.cost_estimate import estimate_cost
from simulator.cel.declared_sizes import DeclaredSize
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import SelectorError
from simulator.cel.issues import Issues
from simulator.cel.literals import find_broken_pattern, validate
from simulator.cel.meter import Meter
from simulator.cel.parser import SyntaxFault, parse
from simulator.cel.program import plan
from simulator.cel.syntax import Tree
from simulator.cel.values import Value
from simulator.kernel.work import spend_work

__all__ = ["DeviceSelector", "compile_selector"]

CACHED: Final = 1_024
"""The largest number of compiled selectors that are kept."""
MAX_COST: Final = 1_000_000
"""The maximum cost of a selector (CELSelectorExpressionMaxCost)."""
MAX_ITERATIONS: Final = 20_000
"""The largest number of iterations of all macros of one evaluation for a device. Its cost is not counted, as
there are many devices."""
_LENGTH_OF_A_UNIT: Final = 10
"""The characters of an expression that are evaluated in the time of one unit of work."""
_ITERATION_WORK: Final = 3
"""The units of work of an iteration, whose cost is not counted."""
_MAX_NAMES: Final = 32
"""The largest number of attributes and capacities of a device."""
_ID: Final = DeclaredSize(32)
_DOMAIN: Final = DeclaredSize(63)

_ATTRIBUTE: Final = DeclaredSize(64)
_DEVICE: Final = DeclaredSize(
    fields={
        "driver": DeclaredSize(63),
        "allowMultipleAllocations": DeclaredSize(1),
        "attributes": DeclaredSize(
            _MAX_NAMES,
            key=_DOMAIN,
            element=DeclaredSize(_MAX_NAMES, key=_ID, element=_ATTRIBUTE, other=_ATTRIBUTE),
        ),
        "capacity": DeclaredSize(
            _MAX_NAMES, key=_DOMAIN, element=DeclaredSize(_MAX_NAMES, key=_ID, element=DeclaredSize())
        ),
    }
)


class DeviceSelector:
    """A compiled selector."""

    def __init__(self, expression: str) -> None:
        self.error = ""
        """The compile error, in the words of the scheduler's message."""
        self._evaluate: Callable[[Value, Meter], Value] | None = None
        self._length = len(expression)
        try:
            self.error = self._compile(expression)
        except SyntaxFault as fault:
            self.error = f"compilation failed: {fault}"
        except RecursionError:
            self.error = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250"

    def matches(self, device: DeviceValue) -> bool:
        """Whether the selector matches the device. Raises EvaluationError, OutOfWork."""
        if device.error:
            raise SelectorError(str(device.error))
        assert self._evaluate, self.error
        meter = Meter(MAX_ITERATIONS)
        try:
            return to_result(self._evaluate(device.value, meter))
        finally:
            spend_work(self._length // _LENGTH_OF_A_UNIT + _ITERATION_WORK * meter.iterations)

    def estimate_cost(self) -> int:
        """Return the largest cost of an evaluation, as the API server estimates it. The selector must have
        compiled."""
        return estimate_cost(*self._checked, _DEVICE).most

    def _compile(self, expression: str) -> str:
        """Sets the evaluation, or returns the error."""
        tree = parse(expression)
        issues = Issues(expression)
        checked = check(tree, issues)
        if not issues:
            validate(tree, checked, issues)
        if issues:
            return f"compilation failed: {issues}"
        if checked.result.name not in ("bool", "any"):
            return f"must evaluate to bool or the unknown type, not {checked.result.describe()}"
        broken = find_broken_pattern(tree.root)
        if broken:
            return f"program instantiation failed: {broken}"
        self._checked: tuple[Tree, Checked] = tree, checked
        self._evaluate = plan(tree, checked)
        return ""


@lru_cache(maxsize=CACHED)
def compile_selector(expression: str) -> DeviceSelector:
    """Return the compiled selector of an expression."""
    return DeviceSelector(expression)
