"""Checks that a stored object fits its kind, as client-go does when it decodes what a watch delivers.

The API server stores no other objects, but the store may contain some that came another way, on which a
component would fail again and again. The msgspec types are made from the types that admission uses
(:mod:`simulator.apiserver.types`); to check a pod takes some 10 µs."""

import datetime
from typing import Annotated, Any

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import once_per_version
from simulator.apiserver.types.model import Field, ListType, MapType, OwnType, Scalar, StructType, Type
from simulator.apiserver.types.schema_types import UNKNOWN_KIND, decoded_type
from simulator.kernel.prepared_types import prepared
from simulator.objects import quantity

_INTEGERS: dict[str, Any] = {
    "int32": Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)],
    "int64": Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)],
}
FOUND_BY = ("name", "status", "type")
"""The fields by which a status or a condition is found, and what it is found for."""
NULL_LISTS = ("drivers", "endpoints", "limits", "rules")
"""Required lists that the API server stores as null where they are empty: of CSINodes, EndpointSlices,
LimitRanges, roles, and the failure policies of Jobs."""
_TIME = Annotated[datetime.datetime, msgspec.Meta(tz=True)]


class _Quantity:
    """The type of a quantity, which is checked and not converted."""


_QUANTITY = _Quantity()


class Misfit(ValueError):
    """The object does not fit its kind; the text names the field."""


def checked(known: Resource | None, key: str, manifest: Manifest) -> Manifest:
    """Return the object, with an empty ``spec`` if its kind has one and the object has none, as Go's types
    do. Raises Misfit.

    ``known``: the built-in resource. None: only the metadata is checked."""
    try:
        msgspec.convert(manifest, prepared(_type_of(known)), dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise Misfit(str(error)) from None
    metadata = manifest.get("metadata") or {}
    namespace, _, name = key.rpartition("/")
    if (metadata.get("namespace", ""), metadata.get("name")) != (namespace, name):
        raise Misfit(f"its name and namespace are not those of its key, {key!r}")
    if known is None:
        return manifest
    if (manifest.get("apiVersion"), manifest.get("kind")) != (known.api_version, known.kind):
        raise Misfit(f"its apiVersion and kind are not {known.api_version} and {known.kind}")
    if manifest.get("spec") is None and "spec" in decoded_type(known).fields:
        return {**manifest, "spec": {}}
    return manifest


def _decode(kind: type, value: object) -> object:
    """Decode a type that msgspec does not support: a quantity. Raises ValueError."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError("a quantity is expected")
    quantity.canonical(value)
    return _QUANTITY


@once_per_version()
def _type_of(known: Resource | None) -> Any:
    return _msgspec_type(decoded_type(known) if known else UNKNOWN_KIND, ())


_made: dict[Type, Any] = {}


def _msgspec_type(of: Type, within: tuple[str, ...]) -> Any:
    """Return the msgspec type of a type. ``within`` are the types that contain it: a type that contains
    itself (JSONSchemaProps) is checked no further."""
    match of:
        case StructType(name=name) if name:
            if name in within:
                return Any
            if of not in _made:
                _made[of] = _struct(of, (*within, name))
            return _made[of]
        case StructType():
            return _struct(of, within)
        case ListType():
            return list[_msgspec_type(of.items, within)]  # type: ignore[misc]  # made at run time
        case MapType():
            return dict[str, _msgspec_type(of.values, within)]  # type: ignore[misc]  # made at run time
        case Scalar(kind=kind):
            return _INTEGERS.get(kind) or {"bool": bool, "float64": float}.get(kind, str)
        case OwnType():
            return _OWN.get(of.short_name, Any)
    return Any


_OWN: dict[str, Any] = {
    "FieldsV1": dict[str, Any],
    "IntOrString": _INTEGERS["int32"] | str,
    "MicroTime": _TIME,
    "Quantity": _Quantity,
    "Time": _TIME,
}
"""The msgspec types of the types that decode themselves."""


def _struct(of: StructType, within: tuple[str, ...]) -> Any:
    """Return the type of an object with fields. Of the required fields of a status and its conditions, only
    FOUND_BY are required here, and none of what a kubelet says of itself: components write these objects, and
    Go reads 0 or "" for a missing field. A field that is not required may be null, which means "not set":
    real API servers answer ``lastProbeTime: null`` in the conditions of each pod. So may one of
    NULL_LISTS."""
    names = {f"field_{number}": field for number, field in enumerate(of.fields.values())}
    fields: list[Any] = [
        (place, _msgspec_type(field.type, within))
        if _is_required(of, field)
        else (place, _msgspec_type(field.type, within) | None, msgspec.UNSET)
        for place, field in names.items()
    ]
    renamed = {place: field.name for place, field in names.items()}
    return msgspec.defstruct("Object", fields, rename=renamed, kw_only=True, gc=False)


def _is_required(of: StructType, field: Field) -> bool:
    if not field.is_required or field.name in NULL_LISTS:
        return False
    written_by_components = of.name.endswith(("Status", "Condition", "NodeSystemInfo"))
    return field.name in FOUND_BY or not written_by_components
