"""Compiles and evaluates the selectors of devices (dynamic-resource-allocation/cel/compile.go)."""

from functools import lru_cache
from typing import Final

from simulator.cel.declared_sizes import DeclaredSize
from simulator.cel.device_value import DeviceValue
from simulator.cel.errors import CompileFault, ExpressionError
from simulator.cel.functions import Environment
from simulator.cel.meter import Meter
from simulator.cel.types import BOOL, STRING, ObjectTypes, Type, parse_type
from simulator.cel.values import Value, type_name
from simulator.kernel.work import spend_work

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
_DEVICE_SIZE: Final = DeclaredSize(
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
_DEVICE: Final = "device"
_DEVICE_TYPE: Final = Type("kubernetes.DRADevice")


def _fields(attribute: str) -> ObjectTypes:
    return ObjectTypes(
        {
            _DEVICE_TYPE.name: {
                "driver": STRING,
                "attributes": parse_type(f"map(string, map(string, {attribute}))"),
                "capacity": parse_type("map(string, map(string, kubernetes.Quantity))"),
                "allowMultipleAllocations": BOOL,
            }
        }
    )


_FIELDS: Final = _fields("any")
_FIELDS_WITH_LISTS: Final = _fields("dyn")
_NATIVE_ERRORS: Final = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "type": "type conversion not supported for 'type'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
    "kubernetes.URL": "type conversion error from 'URL' to 'bool'",
    "kubernetes.NamedFormat": "type conversion error from 'Format' to 'bool'",
    "net.IP": "type conversion error from 'IP' to 'bool'",
    "net.CIDR": "type conversion error from 'CIDR' to 'bool'",
}
"""Why a value of a type is no bool."""
NEW_SELECTORS: Final = Environment.NEW_SELECTORS
STORED_SELECTORS: Final = Environment.STORED_SELECTORS
LIST_SELECTORS: Final = Environment.LIST_SELECTORS


class DeviceSelector:
    """A compiled selector."""

    def __init__(self, expression: str, environment: Environment) -> None:
        self.error = ""
        """The compile error, in the words of the scheduler's message."""
        self._length = len(expression)
        self._lists = environment is Environment.LIST_SELECTORS
        try:
            self._compile(expression, environment)
        except CompileFault as fault:
            self.error = str(fault)

    def matches(self, device: DeviceValue) -> bool:
        """Whether the selector matches the device. Raises EvaluationError, OutOfWork."""
        if fault := device.error or (None if self._lists else device.list_error):
            raise ExpressionError(str(fault))
        assert not self.error, self.error
        meter = Meter(MAX_ITERATIONS)
        try:
            return _to_result(self._evaluate({_DEVICE: device.value}, meter))
        finally:
            spend_work(self._length // _LENGTH_OF_A_UNIT + _ITERATION_WORK * meter.iterations)

    def estimate_cost(self) -> int:
        """Return the largest cost of an evaluation, as the API server estimates it. The selector must have
        compiled."""
        return self._compiled.estimate_cost(DeclaredSize(fields={_DEVICE: _DEVICE_SIZE}))

    def _compile(self, expression: str, environment: Environment) -> None:
        """Raises CompileFault."""
        # The compiler loads the library that parses: only where there are selectors.
        from simulator.cel.compilation import compile_tree  # noqa: PLC0415

        fields = _FIELDS_WITH_LISTS if self._lists else _FIELDS
        compiled = compile_tree(expression, environment, {_DEVICE: _DEVICE_TYPE}, fields)
        if compiled.result.name not in ("bool", "dyn" if self._lists else "any"):
            kind = compiled.result.describe()
            raise CompileFault(f"must evaluate to bool or the unknown type, not {kind}")
        self._evaluate = compiled.plan()
        self._compiled = compiled


def _to_result(value: Value) -> bool:
    """Return the result of a selector. Raises ExpressionError if it is no bool
    (CompilationResult.DeviceMatches)."""
    if type(value) is bool:
        return value
    kind = type_name(value)
    raise ExpressionError(
        f"CEL result of type {kind} could not be converted to bool: "
        + _NATIVE_ERRORS.get(kind, f"type conversion error from '{kind}' to 'bool'")
    )


@lru_cache(maxsize=CACHED)
def compile_selector(
    expression: str, environment: Environment = Environment.STORED_SELECTORS
) -> DeviceSelector:
    return DeviceSelector(expression, environment)
