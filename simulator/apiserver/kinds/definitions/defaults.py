"""Checks that the defaults of a schema are values of it.

Upstream: ValidateDefaults in apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go, v1.34.
Defaults within metadata are not checked.
"""

from collections.abc import Iterator

from simulator.apiserver.bounds import index_key
from simulator.apiserver.custom_resources.pruning import prune
from simulator.apiserver.custom_resources.rules import rule_faults
from simulator.apiserver.custom_resources.schema_validation import schema_faults
from simulator.apiserver.kinds.definitions.structural import child, fields_of
from simulator.apiserver.status import Cause, invalid
from simulator.apiserver.structural_schema import META, Schema


def default_faults(schema: Schema, closed: Schema, path: str) -> list[Cause]:
    """Return the faults of all defaults. ``closed``: the structural schema."""
    return [*_faults(schema, closed, path)]


def _faults(schema: Schema, closed: Schema, path: str) -> Iterator[Cause]:
    if closed is META:
        return
    value = schema.get("default")
    if value is not None:
        at = f"{path}.default"
        if prune(closed, value).unknown:
            yield invalid(at, value, "must not have unknown fields")
        found = [*schema_faults(closed, value, at)]
        yield from found or rule_faults(closed, value, path=at)
    items = child(schema, "items")
    if items is not None:
        yield from _faults(items, child(closed, "items") or {}, f"{path}.items")
    for name, field in sorted(fields_of(schema).items()):
        yield from _faults(field, fields_of(closed).get(name, {}), index_key(f"{path}.properties", name))
