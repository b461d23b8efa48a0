"""The schemas within the schema of a definition, each with what its place allows.

Upstream: ValidateCustomResourceDefinitionOpenAPISchema in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from simulator.apiserver.bounds import index_key
from simulator.apiserver.structural_schema import EMBEDDED, Schema

JUNCTORS: Final = ("allOf", "oneOf", "anyOf")
EITHER: Final = [{"type": "integer"}, {"type": "string"}]
"""The alternatives of an integer or a text, which may name their types."""
_META_FIELDS: Final = ("metadata", "kind", "apiVersion")


class SchemaPlace(NamedTuple):
    schema: Schema
    closed: Schema
    """The same in the structural schema; {} where that has none."""
    path: str
    level: Literal["root", "item", "field", "nested"] = "root"
    """Nested is all within allOf, oneOf, anyOf and not."""
    no_default: str = ""
    """The reason for which it must not have a default."""
    in_metadata: bool = False
    uncorrelated: str = ""
    """The path of the outermost list or map whose items cannot be compared with their old ones."""

    def places_below(self) -> Iterator["SchemaPlace"]:
        schema, closed, path = self[:3]
        of_field = self._replace(level="nested" if self.level == "nested" else "field")
        others, items = child(schema, "additionalProperties"), child(schema, "items")
        if others is not None:
            reason = "inside additionalProperties applying to object metadata" if self.in_metadata else ""
            yield of_field._replace(
                schema=others,
                closed=child(closed, "additionalProperties") or {},
                path=f"{path}.additionalProperties",
                no_default=reason or self.no_default,
            )
        is_root, is_atomic = self.level == "root", schema.get("x-kubernetes-map-type") == "atomic"
        for name, field in sorted(fields_of(schema).items()):
            at = of_field._replace(
                schema=field,
                closed=fields_of(closed).get(name, {}),
                path=index_key(f"{path}.properties", name),
                uncorrelated=self._within(is_atomic),
            )
            if (is_root or schema.get(EMBEDDED)) and name in _META_FIELDS:
                reason = f"in top-level {name}" if is_root else self.no_default
                at = at._replace(in_metadata=True, no_default=reason)
            yield at
        for step, each in alternatives(schema):
            yield self._replace(schema=each, closed={}, path=f"{path}.{step}", level="nested")
        if items is not None:
            yield self._replace(
                schema=items,
                closed=child(closed, "items") or {},
                path=f"{path}.items",
                level="nested" if self.level == "nested" else "item",
                uncorrelated=self._within(schema.get("x-kubernetes-list-type") != "map"),
            )

    def _within(self, is_uncorrelated: bool) -> str:
        return self.uncorrelated or (self.path if is_uncorrelated else "")


def alternatives(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the schemas of allOf, oneOf, anyOf and not, with their steps: ``anyOf[0]``. Those of an integer
    or a text are left out."""
    negated = child(schema, "not")
    if negated is not None:
        yield "not", negated
    for name in JUNCTORS:
        found = schema.get(name) or []
        if name != "anyOf" or found != EITHER:
            yield from ((f"{name}[{index}]", each) for index, each in enumerate(found))


def child(of: Schema, name: str) -> Schema | None:
    """Return the schema at a field of a schema, if there is one."""
    found = of.get(name)
    return found if isinstance(found, dict) else None


def fields_of(schema: Schema) -> dict[str, Schema]:
    """Return the schemas of the fields, by name."""
    return schema.get("properties") or {}
