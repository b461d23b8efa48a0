"""Compiles and evaluates the selectors of devices (dynamic-resource-allocation/cel/compile.go, v1.34)."""

from functools import lru_cache
from typing import Final

from cel_expr_python import cel

from simulator.cel.checker import ENVIRONMENT
from simulator.cel.conversions import to_result
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import SelectorError
from simulator.cel.program import plan
from simulator.cel.syntax import read_tree

__all__ = ["DeviceSelector", "SelectorError", "compile_selector"]

CACHED: Final = 1_024
"""Compiled selectors."""


class DeviceSelector:
    """A compiled selector."""

    def __init__(self, expression: str) -> None:
        self.error = ""
        """Why it did not compile, as the scheduler's message says it."""
        try:
            program = ENVIRONMENT.compile(expression)
        except RuntimeError as error:
            self.error = "compilation failed: " + str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(
                " [INVALID_ARGUMENT]"
            )
            return
        kind = program.return_type()
        if kind not in (cel.Type.BOOL, cel.Type("google.protobuf.Any")) and kind.name() != "ERROR":
            self.error = f"must evaluate to bool or the unknown type, not {kind.name()}"
            return
        self._evaluate = plan(read_tree(program.serialize()))

    def matches(self, device: DeviceValue) -> bool:
        """Whether the device has what is asked for. Raises SelectorError."""
        if device.error:
            raise SelectorError(str(device.error))
        return to_result(self._evaluate(device.value))


@lru_cache(maxsize=CACHED)
def compile_selector(expression: str) -> DeviceSelector:
    """The compiled selector of an expression."""
    return DeviceSelector(expression)
