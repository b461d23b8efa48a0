"""The zero values of types as Go writes them in JSON.

A field with ``omitempty`` is left out if it has its zero value, unless it is a struct: that is never empty.
"""

import copy
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.types.model import Field, OwnType, Scalar, StructType, Type, once_per_type
from simulator.apiserver.types.schema_types import decoded_type

_SCALARS: Final = {"string": "", "bool": False, "bytes": None}
_OWN: Final = {"Quantity": "0", "IntOrString": 0}


def empty_object(resource: Resource) -> Manifest:
    """Return the empty object of a resource, without apiVersion and kind: what every object of the kind has,
    its creator does not own. A custom resource has no Go type: its empty object has nothing."""
    if resource.schema_text:
        return {}
    zeros: Manifest = zero_value(decoded_type(resource))
    return {name: value for name, value in zeros.items() if name not in ("apiVersion", "kind")}


def zero_value(of: Type) -> Any:
    """Return the zero value of a type: null for lists, maps and times."""
    match of:
        case StructType():
            return copy.deepcopy(_written_zeros(of))
        case Scalar(kind=kind):
            return _SCALARS.get(kind, 0)
        case OwnType():
            return _OWN.get(of.short_name)
    return None


@once_per_type
def _written_zeros(of: Type) -> Manifest:
    assert isinstance(of, StructType)
    return {field.name: _zero_of_field(field) for field in of.fields.values() if writes_zero(field)}


def _zero_of_field(field: Field) -> Any:
    return None if field.is_pointer else zero_value(field.type)


def writes_zero(field: Field) -> bool:
    """Whether a field is written when it has its zero value."""
    if not field.is_pointer and isinstance(field.type, StructType | OwnType):
        return not field.omits_zero
    return not field.omits_empty


def keeps_empty(field: Field) -> bool:
    """Whether a field that is given as empty is written: a pointer keeps the zero that it points to."""
    return field.is_pointer or writes_zero(field)
