"""The types of API objects: what all that reads, writes, merges or checks an object knows of its fields.

Names are those of structured-merge-diff where it has them. The types of Kubernetes come from
:mod:`simulator.apiserver.types.api_types`, those of custom resources from
:mod:`simulator.apiserver.types.schema_types`. A type is one object, by which walkers keep what they compile
for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Final, Literal, TypeVar

Relation = Literal["atomic", "set", "map"]
"""How a list or a map is merged: as a whole, by its items, or by keys: those of its items, or its own."""
ScalarKind = Literal["string", "bool", "int32", "int64", "float64", "bytes"]


T = TypeVar("T")


class Type:
    """Any type. ``name``: the full name, such as ``io.k8s.api.core.v1.PodSpec``; "" for a type without a
    name."""

    name: str = ""

    @cached_property
    def compiled(self) -> dict[Any, Any]:
        """What walkers have compiled for this type (:func:`once_per_type`)."""
        return {}

    @cached_property
    def go_name(self) -> str:
        """The type as Go prints it: ``v1.PodSpec``, ``[]v1.Container``, ``map[string]string``."""
        return short_name(self.name) if self.name else self._unnamed

    @property
    def short_name(self) -> str:
        """``PodSpec``."""
        return self.name.rpartition(".")[2]

    @property
    def _unnamed(self) -> str:
        return "interface {}"


class Anything(Type):
    """The type of a value that has none: in a custom resource."""


@dataclass(eq=False)
class Scalar(Type):
    kind: ScalarKind
    name: str = ""

    @property
    def _unnamed(self) -> str:
        return "[]uint8" if self.kind == "bytes" else self.kind


@dataclass(eq=False)
class OwnType(Type):
    """A type that decodes itself: a quantity, a time, an integer or text, a JSON value."""

    name: str


@dataclass(eq=False)
class ListType(Type):
    items: Type
    relation: Relation = "atomic"
    keys: tuple[str, ...] = ()
    """The fields that identify an item, where the relation is ``map``."""
    name: str = ""

    @property
    def _unnamed(self) -> str:
        return f"[]{self.items.go_name}"


@dataclass(eq=False)
class MapType(Type):
    values: Type
    key_type: Type
    relation: Relation = "map"
    name: str = ""

    @property
    def _unnamed(self) -> str:
        return f"map[{self.key_type.go_name}]{self.values.go_name}"


@dataclass(slots=True, eq=False)
class Field:
    name: str
    """In JSON. "" for a struct whose fields are in JSON those of the struct around it."""
    go_name: str
    type: Type
    is_pointer: bool = False
    omits_empty: bool = False
    omits_zero: bool = False
    is_required: bool = False
    """Whether OpenAPI requires it."""
    number: int = 0
    """In Protocol Buffers; 0 = it is not sent."""
    patch_strategy: tuple[str, ...] = ()
    merge_key: str = ""
    """The field by which a strategic patch finds an item of this list."""


class StructType(Type):
    """An object with declared fields. ``others``: the type of all fields that are not declared; None: it has
    no others."""

    def __init__(
        self,
        name: str,
        declare: Callable[[], list[Field]],
        *,
        is_atomic: bool = False,
        others: Type | None = None,
        kinds: tuple[tuple[str, str], ...] = (),
        reports_missing: bool = False,
    ) -> None:
        """``declare``: returns the fields, and is called when they are first read. ``kinds``: the apiVersions
        and kinds that objects of the type may have. ``reports_missing``: whether decoding reports required
        fields that are missing. Those of Kubernetes have zero values, and validation reports these."""
        self.name = name
        self.is_atomic = is_atomic
        self.others = others
        self.kinds = kinds
        self.reports_missing = reports_missing
        self._declare = declare

    @cached_property
    def declared(self) -> list[Field]:
        """The fields of the Go struct in its order, with the structs that it embeds."""
        return self._declare()

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields in JSON by name, in the order of the Go struct."""
        return {field.name: field for field in self._flattened()}

    def _flattened(self) -> Iterator[Field]:
        for field in self.declared:
            if field.name:
                yield field
            elif isinstance(field.type, StructType):
                yield from field.type.fields.values()


def field_type(of: Type, name: str) -> Type | None:
    """Return the type of a field of a struct, or of a key of a map; None if there can be none."""
    match of:
        case StructType():
            field = of.fields.get(name)
            return of.others if field is None else field.type
        case MapType():
            return of.values
    return ANYTHING


def once_per_type(compile_type: Callable[[Type], T]) -> Callable[[Type], T]:
    """Decorate a function of a type, which is then called once for each type. Its result lives as long as
    the type."""

    @wraps(compile_type)
    def find(of: Type) -> T:
        known = of.compiled
        if compile_type not in known:
            known[compile_type] = compile_type(of)
        found: T = known[compile_type]
        return found

    return find


def short_name(name: str) -> str:
    """Return ``v1.PodSpec`` for ``io.k8s.api.core.v1.PodSpec``."""
    return ".".join(name.rsplit(".", 2)[-2:])


ANYTHING: Final = Anything()
INT_LIMITS: Final = {"int32": 1 << 31, "int64": 1 << 63}
STRING: Final = Scalar("string")
