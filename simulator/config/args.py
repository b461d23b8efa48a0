"""Arguments of scheduler plugins: strict decoding, defaults, validation.

A plugin declares its arguments as a subclass of :class:`Args` (``Plugin.args_type``)."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

import msgspec

from simulator.kernel.prepared_types import prepared
from simulator.versions.features import Features

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


def to_cause(failure: msgspec.ValidationError) -> Cause:
    """Split msgspec's message "... - at `$.a[0].b`" into path and message."""
    message, _, place = str(failure).partition(" - at `$")
    return place.rstrip("`").lstrip("."), message
