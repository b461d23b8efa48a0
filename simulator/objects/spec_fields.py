"""Fields of pods that are parsed once for all pods with equal specs, as those of a Deployment are."""

from collections.abc import Callable
from functools import lru_cache
from itertools import count
from typing import Any, Final, Generic, Protocol, TypeVar, overload

import msgspec

from simulator.api import Manifest

MAX_SPECS: Final = 512
"""The number of specs whose fields are kept; beyond it, those of the least recently used one are dropped."""
MAX_SPEC_BYTES: Final = 16_000
"""The size of a spec as JSON up to which its fields are kept."""

SPEC_NUMBER: Final = ""
"""The field with the number of the spec. No other spec has it."""

_numbers = count()

T_co = TypeVar("T_co", covariant=True)
Fields = dict[str, Any]


class HasSpecFields(Protocol):
    spec_fields: Fields


P = TypeVar("P", bound=HasSpecFields)


class spec_field(Generic[P, T_co]):  # noqa: N801 - a decorator, as cached_property
    """A property of a pod that depends on its namespace and its spec without the node. All pods with equal
    ones share its value, which must not be changed."""

    def __init__(self, parse: Callable[[P], T_co]) -> None:
        self._parse = parse
        self._name = ""
        self.__doc__ = parse.__doc__

    def __set_name__(self, _: type[P], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, pod: None, _: type[P]) -> "spec_field[P, T_co]": ...
    @overload
    def __get__(self, pod: P, _: type[P]) -> T_co: ...
    def __get__(self, pod: P | None, _: type[P]) -> "spec_field[P, T_co] | T_co":
        if pod is None:
            return self
        fields = pod.spec_fields
        if self._name not in fields:
            fields[self._name] = self._parse(pod)
        value: T_co = fields[self._name]
        pod.__dict__[self._name] = value  # where it is found from now on, without this method
        return value


def find_spec_fields(namespace: str, spec: Manifest) -> Fields:
    """Return the fields of all pods with this namespace and spec that were parsed until now."""
    if "nodeName" in spec:
        spec = {name: value for name, value in spec.items() if name != "nodeName"}
    content = msgspec.json.encode((namespace, spec))
    return _fields(content) if len(content) <= MAX_SPEC_BYTES else {SPEC_NUMBER: next(_numbers)}


@lru_cache(MAX_SPECS)
def _fields(_: bytes) -> Fields:
    return {SPEC_NUMBER: next(_numbers)}
