"""Conversion of objects of another API server to the types of a version: unknown fields are left out.

:mod:`simulator.apiserver.decoding`, for manifests that users write, refuses unknown fields instead.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from simulator.api import Manifest
from simulator.apiserver.faults import find_faults
from simulator.apiserver.resource import Resource
from simulator.apiserver.stored_form import Misfits, normalizer
from simulator.apiserver.types.model import ListType, MapType, StructType, Type, once_per_type
from simulator.apiserver.types.schema_types import type_of
from simulator.objects import quantity

ReportField = Callable[[str], None]
"""A function that is called with the path of each field that is left out."""

STATUS: Final = "status"

MAX_SHOWN: Final = 60
"""Maximum number of characters of a wrong value in a message."""

MAX_WRONG_QUANTITIES: Final = 20
"""Maximum number of wrong quantities of an object that are reported."""

Path = tuple[str | int, ...]
"""The path of a field: names of fields and keys, and places in lists."""


class Unfit(ValueError):
    """Required fields are missing or have wrong values, or quantities are none. The message names the paths,
    as they are in ``given``."""


class _UnfitField(Exception):
    """A field has a wrong value."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


def fit_to_type(
    resource: Resource, manifest: Manifest, note: ReportField, given: Manifest | None = None
) -> Manifest:
    """Return a copy that fits the resource's type, in the form in which it is stored. Raises Unfit.
    ``given``: the whole object, if items of its lists were removed before."""
    of = type_of(resource)
    if not resource.schema_text:
        misfits: Misfits = []
        stored: Manifest = normalizer(of)(manifest, misfits)
        if not misfits and not _lacks_required(of, manifest):
            return stored  # as nearly all objects: the walk below is five times slower
    fitting = _Fitting(note, manifest if given is None else given, manifest)
    try:
        fitted: Manifest = fitting.fit(of, manifest, ())
    except _UnfitField as unfit:
        raise Unfit(f"{fitting.name(unfit.path)} is missing or wrong") from None
    if fitting.wrong_quantities:
        raise Unfit("; ".join(fitting.wrong_quantities))
    if not resource.schema_text:
        fitted = normalizer(of)(fitted, [])
    return fitted


def _lacks_required(of: Type, manifest: Manifest) -> bool:
    """Whether a required field is missing. A status may lack some: counters that are 0, the message of a
    condition."""
    lacks = _required_fields(of)
    return lacks is not None and lacks({field: part for field, part in manifest.items() if field != STATUS})


@once_per_type
def _required_fields(of: Type) -> Callable[[Any], bool] | None:
    """Return the function that says whether a value, which fits its type, lacks a required field; None for a
    type without one. The types of the imported kinds have no cycles."""
    if isinstance(of, StructType):
        return _required_of_struct(of)
    parts = of.items if isinstance(of, ListType) else of.values if isinstance(of, MapType) else None
    lacks = None if parts is None else _required_fields(parts)
    return None if lacks is None else _required_of_each(lacks)


def _required_of_each(lacks: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the function for a list or a map."""
    return lambda value: any(map(lacks, value.values() if isinstance(value, dict) else value))


def _required_of_struct(of: StructType) -> Callable[[Any], bool] | None:
    names = [field.name for field in of.fields.values() if field.is_required]
    parts = [
        (field.name, lacks)
        for field in of.fields.values()
        if (lacks := _required_fields(field.type)) is not None
    ]

    def lacks_any(value: Manifest) -> bool:
        return any(value.get(name) is None for name in names) or any(
            (part := value.get(name)) is not None and lacks(part) for name, lacks in parts
        )

    return lacks_any if names or parts else None


class _Fitting:
    """The fitting of one object."""

    def __init__(self, note: ReportField, given: Manifest, manifest: Manifest) -> None:
        self._note = note
        self._given = given
        self._manifest = manifest
        self.wrong_quantities: list[str] = []
        """The paths of quantities that are none, each with what is wrong. Without them the simulator would
        count 0 there."""

    def fit(self, of: Type, value: Any, path: Path) -> Any:
        """Return a copy of a value that fits its type. Raises _UnfitField. The depth of recursion is bounded
        by the type's."""
        match of, value:
            case StructType(), dict():
                return self._fit_struct(of, value, path)
            case MapType(), dict():
                return self._fit_map(of, value, path)
            case ListType(), list():
                return [self.fit(of.items, item, (*path, number)) for number, item in enumerate(value)]
        if of.short_name == "Quantity":
            return self._fit_quantity(value, path)
        if any(find_faults(of, value)):
            raise _UnfitField(path)
        return value

    def _fit_quantity(self, value: Any, path: Path) -> Any:
        try:
            quantity.parse_quantity(value)
        except quantity.QuantityError:
            self._report_quantity(path, "not a quantity", value)
            return None
        try:
            return quantity.canonical(value)
        except quantity.QuantityError as error:
            self._report_quantity(path, str(error), value)
            return None

    def _report_quantity(self, path: Path, problem: str, value: Any) -> None:
        """Report a wrong quantity. Raises Unfit where there are more than are reported."""
        if len(self.wrong_quantities) == MAX_WRONG_QUANTITIES:
            raise Unfit("; ".join([*self.wrong_quantities, "further wrong quantities are not listed"]))
        self.wrong_quantities.append(f"{self.name(path)}: {problem}: {_shown(value)}")

    def _fit_struct(self, of: StructType, value: Manifest, path: Path) -> Manifest:
        kept: Manifest = {}
        for key, item in value.items():
            field, at = of.fields.get(key), (*path, key)
            if field is not None:
                self._fit_part(kept, field.type, item, at, is_required=field.is_required)
            elif of.others is not None:
                kept[key] = item
            elif item is not None:
                self._note(_in_general(at))
        for field in of.fields.values():
            if field.is_required and field.name not in kept and path[:1] != (STATUS,):
                raise _UnfitField((*path, field.name))
        return kept

    def _fit_map(self, of: MapType, value: Manifest, path: Path) -> Manifest:
        kept: Manifest = {}
        for key, item in value.items():
            if isinstance(key, str):
                self._fit_part(kept, of.values, item, (*path, key), is_required=False)
            elif item is not None:
                self._note(_in_general((*path, key)))
        return kept

    def _fit_part(self, kept: Manifest, of: Type, value: Any, path: Path, *, is_required: bool) -> None:
        """Add a field or a key to those that are kept, unless its value is null or does not fit."""
        if value is None:
            return
        try:
            kept[str(path[-1])] = self.fit(of, value, path)
        except _UnfitField as unfit:
            if is_required:
                raise
            if unfit.path == path and _holds_quantities(of):
                wanted = "array" if isinstance(of, ListType) else "object"
                self._report_quantity(path, f"not of the type {wanted}", value)
            self._note(_in_general(unfit.path))

    def name(self, path: Path) -> str:
        """Return the path in ``given`` as text: ``spec.containers[0].image``. An item that has a name is
        found there by its name."""
        text = ""
        value: Any = self._manifest
        whole: Any = self._given
        for step in path:
            if isinstance(step, int):
                value = value[step]
                place = _place_of(value, whole, step)
                text += f"[{place}]"
                whole = whole[place] if isinstance(whole, list) and place < len(whole) else None
            else:
                text += f".{step}" if text else step
                value = value.get(step) if isinstance(value, dict) else None
                whole = whole.get(step) if isinstance(whole, dict) else None
        return text


def _holds_quantities(of: Type) -> bool:
    """Whether values of a type may have quantities. The types of the imported kinds have no cycles."""
    match of:
        case StructType():
            return any(_holds_quantities(field.type) for field in of.fields.values())
        case ListType():
            return _holds_quantities(of.items)
        case MapType():
            return _holds_quantities(of.values)
    return of.short_name == "Quantity"


def _place_of(item: Any, items: Any, number: int) -> int:
    """Return the place of an item in a list of which others may have been removed."""
    if isinstance(item, dict) and "name" in item and isinstance(items, list):
        for place, each in enumerate(items):
            if isinstance(each, dict) and each.get("name") == item["name"]:
                return place
    return number


def _in_general(path: Path) -> str:
    """Return the path as text, for all items of a list: ``spec.containers[].image``."""
    text = ""
    for step in path:
        text += "[]" if isinstance(step, int) else f".{step}" if text else f"{step}"
    return text


def _shown(value: Any) -> str:
    """Return the value as JSON, and what may be meant."""
    text = msgspec.json.encode(value).decode()
    meant = quantity.suggest(value)
    shown = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
    return f"{shown} (meant as {' or '.join(meant)}?)" if meant else shown
