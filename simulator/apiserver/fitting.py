"""Conversion of objects of another API server to the schemas of v1.34: unknown fields are left out.

:mod:`simulator.apiserver.decoding`, for manifests that users write, refuses unknown fields instead.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from jsonschema.exceptions import FormatError

from simulator.api import Manifest
from simulator.apiserver.faults import FORMATS
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import Schema, resolve_reference, schema_of
from simulator.objects import quantity

ReportField = Callable[[str], None]
"""A function that is called with the path of each field that is left out."""

TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}

MAX_SHOWN: Final = 60
"""Maximum number of characters of a wrong value in a message."""

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


def fit_to_schema(
    resource: Resource, manifest: Manifest, note: ReportField, given: Manifest | None = None
) -> Manifest:
    """Return a copy that fits the resource's schema, without nulls and with canonical quantities. Raises
    Unfit. ``given``: the whole object, if items of its lists were removed before."""
    fitting = _Fitting(note, manifest if given is None else given, manifest)
    try:
        fitted: Manifest = fitting.fit(schema_of(resource), manifest, ())
    except _UnfitField as unfit:
        raise Unfit(f"{fitting.name(unfit.path)} is missing or wrong") from None
    if fitting.wrong_quantities:
        raise Unfit("; ".join(fitting.wrong_quantities))
    return fitted


class _Fitting:
    """The fitting of one object."""

    def __init__(self, note: ReportField, given: Manifest, manifest: Manifest) -> None:
        self._note = note
        self._given = given
        self._manifest = manifest
        self.wrong_quantities: list[str] = []
        """The paths of quantities that are none, each with what is wrong. Without them the simulator would
        count 0 there."""

    def fit(self, of: Schema, value: Any, path: Path) -> Any:
        """Return a copy of a value that fits its schema. Raises _UnfitField. The depth of recursion is
        bounded by the schema's."""
        of = resolve_reference(of)
        if of.get("format") == "quantity":
            return self._fit_quantity(value, path)
        wanted = of.get("type")
        if wanted is not None and not _has_type(value, wanted):
            raise _UnfitField(path)
        if isinstance(value, dict):
            return self._fit_object(of, value, path)
        if isinstance(value, list):
            items = of.get("items")
            if not items:
                return value
            return [self.fit(items, item, (*path, number)) for number, item in enumerate(value)]
        if "format" in of:
            try:
                FORMATS.check(value, of["format"])
            except FormatError:
                raise _UnfitField(path) from None
        if "enum" in of and value not in of["enum"]:
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
        self.wrong_quantities.append(f"{self.name(path)}: {problem}: {_shown(value)}")

    def _fit_object(self, of: Schema, value: Manifest, path: Path) -> Manifest:
        fields, others = of.get("properties", {}), of.get("additionalProperties")
        kept = {}
        for key, item in value.items():
            schema = fields.get(key, others)
            at = (*path, key)
            if not isinstance(key, str) or schema is False or (schema is None and fields):
                if item is not None:
                    self._note(_in_general(at))
            elif isinstance(schema, dict):
                if item is not None:
                    try:
                        kept[key] = self.fit(schema, item, at)
                    except _UnfitField as unfit:
                        if key in of.get("required", ()):
                            raise
                        if unfit.path == at and _holds_quantities(schema):
                            wanted = resolve_reference(schema)["type"]
                            self._report_quantity(at, f"not of the type {wanted}", item)
                        self._note(_in_general(unfit.path))
            else:
                kept[key] = item
        for key in of.get("required", ()):
            # A status may lack required fields: counters that are 0, the message of a condition.
            if key not in kept and path[:1] != ("status",):
                raise _UnfitField((*path, key))
        return kept

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


def _holds_quantities(of: Schema) -> bool:
    """Whether values of a schema may have quantities. The types of the imported kinds have no cycles."""
    of = resolve_reference(of)
    inside = [*of.get("properties", {}).values(), of.get("items"), of.get("additionalProperties")]
    return of.get("format") == "quantity" or any(
        _holds_quantities(each) for each in inside if isinstance(each, dict)
    )


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


def _has_type(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(_has_type(value, each) for each in wanted)
    if isinstance(value, bool):
        return bool(wanted == "boolean")
    return isinstance(value, TYPES[wanted])
