"""Arguments of scheduler plugins: strict decoding, defaults, validation.

A plugin declares its arguments as a subclass of :class:`Args` (``Plugin.args_type``)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol

import msgspec

from simulator.kernel.prepared_types import prepared
from simulator.versions.features import Features

_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_TYPE: Final = re.compile(r"Expected `(\w+)")
_TYPES: Final = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
"""msgspec's names of types -> those of the API server."""

Cause = tuple[str, str]
"""The field path and message of an error."""


class Args(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """The arguments of one plugin. The fields' defaults are upstream's (pkg/scheduler/apis/config/v1)."""

    api_version: str = ""
    kind: str = ""

    def validate(self) -> Iterator[Cause]:
        """Set the defaults that depend on other fields, and yield the errors, with paths relative to ``args``
        (pkg/scheduler/apis/config/validation/validation_pluginargs.go)."""
        return iter(())

    def validate_features(self, features: Features) -> Iterator[Cause]:
        """Set the defaults that depend on the version and its feature gates, and yield the errors, as
        :meth:`validate` does."""
        return iter(())


class TakesArgs(Protocol):
    """The part of a plugin class that loading a configuration uses."""

    args_type: ClassVar[type[Args] | None]


def decode_args(
    plugin: str, manifest: Any, plugins: Mapping[str, type[TakesArgs]], features: Features
) -> tuple[Any, list[Cause]]:
    """Return a plugin's arguments, and the errors in them (paths relative to ``args``). For a plugin that is
    not in ``plugins`` or has no ``args_type``, the manifest itself is returned."""
    kind = plugins[plugin].args_type if plugin in plugins else None
    if kind is None:
        return manifest, []
    try:
        args = msgspec.convert(manifest if manifest is not None else {}, prepared(kind))
    except msgspec.ValidationError as failure:
        return None, [to_cause(failure)]
    causes = [*args.validate(), *args.validate_features(features)]
    if args.kind not in ("", f"{plugin}Args"):
        causes.append(("kind", f"expected {plugin}Args"))
    return args, causes


def check_type(value: Any, kind: type[msgspec.Struct], path: str) -> Iterator[Cause]:
    """Yield the error of a value at a path that is not of a type."""
    try:
        msgspec.convert(value, prepared(kind))
    except msgspec.ValidationError as failure:
        place, message = to_cause(failure)
        yield f"{path}{'' if place.startswith('[') else '.'}{place}" if place else path, message


def to_cause(failure: msgspec.ValidationError) -> Cause:
    """Return the path and the message of msgspec's "... - at `$.a[0].b`". Faults that manifests have, too,
    are named as the API server names them."""
    message, _, place = str(failure).partition(" - at `$")
    path = place.rstrip("`").lstrip(".")
    if field := _FIELD.fullmatch(message):
        path = f"{path}.{field[2]}" if path else field[2]
        return path, "Required value" if field[1] == "missing required" else f'unknown field "{path}"'
    if wanted := _TYPE.match(message):
        return path, f"must be of type {_TYPES.get(wanted[1], wanted[1])}"
    return path, message
