"""Strict decoding: does a manifest have the fields and types of its kind, and no others?

The schemas of Kubernetes v1.34 come with the package kubernetes-validate (its data only: the package's own
validator is a general one, slow, and cannot word a fault as the API server does). They use a handful of
keywords: properties, additionalProperties, items, required, type, format and ``$ref``.
"""

import difflib
import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from simulator import quantity
from simulator.api import Manifest
from simulator.apiserver.own_kinds import OWN_KINDS
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import Cause, invalid, required

VERSION = "v1.34.0"
MAX_CAUSES = 50
"""Faults that one answer lists; nobody reads more, and each costs room in the answer."""

Schema = dict[str, Any]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_RANGES = {"int32": 1 << 31, "int64": 1 << 63}
_TIME = re.compile(
    r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)


def decode(resource: Resource, manifest: Manifest) -> tuple[Manifest, list[Cause]]:
    """The manifest as the API server reads it, and the faults found.

    The result is a copy: nulls left out (they mean "not set"), quantities in their canonical text. An
    object of a kind without a schema has its ``metadata`` checked and is kept as it is otherwise.
    """
    decoder = _Decoder()
    decoded = decoder.value(schema_of(resource), manifest, "")
    return decoded, decoder.causes[:MAX_CAUSES]


def decode_as(type_name: str, value: Any) -> tuple[Any, list[Cause]]:
    """As :func:`decode`, for a type that is no resource: ``DeleteOptions``."""
    decoder = _Decoder()
    decoded = decoder.value(definitions()[_META + type_name], value, "")
    return decoded, decoder.causes[:MAX_CAUSES]


@cache
def definitions() -> dict[str, Schema]:
    """Every type of the API by its full name."""
    spec = importlib.util.find_spec("kubernetes_validate")
    assert spec is not None, "kubernetes-validate is not installed"
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0])
    path = root / "kubernetes-json-schema" / f"{VERSION}-local-strict" / "_definitions.json"
    loaded: dict[str, Schema] = json.loads(path.read_bytes())["$defs"]
    return loaded


@cache
def _kinds() -> dict[tuple[str, str, str], Schema]:
    """Schemas by group, version and kind."""
    return {
        (gvk["group"], gvk["version"], gvk["kind"]): schema
        for schema in definitions().values()
        for gvk in schema.get("x-kubernetes-group-version-kind", ())
    }


@cache
def schema_of(resource: Resource) -> Schema:
    """The schema of a resource's objects; a loose one for kinds that none is known of."""
    own = OWN_KINDS.get((resource.api_version, resource.kind))
    known = own or _kinds().get((resource.group, resource.version, resource.kind))
    if known:
        return known
    loose = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"$ref": f"#/$defs/{_META}ObjectMeta"},
    }
    return {"type": "object", "properties": loose, "x-kubernetes-preserve-unknown-fields": True}


def referenced(schema: Schema) -> Schema:
    """The schema itself, or what its ``$ref`` points to."""
    reference = schema.get("$ref")
    return definitions()[reference.rpartition("/")[2]] if reference else schema


class _Decoder:
    """One walk over one manifest. Recursion is bounded by :data:`simulator.apiserver.bounds.MAX_DEPTH`."""

    def __init__(self) -> None:
        self.causes: list[Cause] = []

    def value(self, schema: Schema, value: Any, path: str) -> Any:
        reference = schema.get("$ref", "").rpartition("/")[2]
        if reference == _QUANTITY:
            return self.quantity(value, path)
        if reference == _INT_OR_STRING:
            return self.typed(value, path, "integer or string", (int, str))
        if reference:
            schema = definitions()[reference]
        expected = schema.get("type")
        match expected[0] if isinstance(expected, list) else expected:
            case "object":
                return self.object(schema, value, path)
            case "array":
                items = schema.get("items", {})
                listed = self.typed(value, path, "array", (list,))
                return [
                    self.value(items, item, f"{path}[{index}]") for index, item in enumerate(listed or ())
                ]
            case "string":
                return self.string(schema, value, path)
            case "integer":
                return self.integer(schema, value, path)
            case "number":
                return self.typed(value, path, "number", (int, float))
            case "boolean":
                return self.typed(value, path, "boolean", (bool,))
        return value  # a type without a schema, as JSON in a CustomResourceDefinition

    def object(self, schema: Schema, value: Any, path: str) -> dict[str, Any]:
        given = self.typed(value, path, "object", (dict,)) or {}
        fields = schema.get("properties")
        if fields is None:
            items = schema.get("additionalProperties")
            return {
                key: self.value(items, item, f"{path}[{key}]") if isinstance(items, dict) else item
                for key, item in given.items()
                if item is not None
            }
        decoded = {}
        for key, item in given.items():
            child = f"{path}.{key}" if path else key
            if key in fields:
                if item is not None:
                    decoded[key] = self.value(fields[key], item, child)
            elif schema.get("x-kubernetes-preserve-unknown-fields"):
                decoded[key] = item
            else:
                self.causes.append(_unknown(child, key, fields))
        # A PodDisruptionBudget's counters are "required", yet the API server takes 0 for what is left out.
        if path != "status":
            for key in schema.get("required", ()):
                if given.get(key) is None:
                    self.causes.append(required(f"{path}.{key}" if path else key))
        return decoded

    def string(self, schema: Schema, value: Any, path: str) -> Any:
        text = self.typed(value, path, "string", (str,))
        if schema.get("format") == "date-time" and isinstance(text, str) and not _TIME.fullmatch(text):
            self.causes.append(invalid(path, text, "must be a time as RFC 3339 has it: 2006-01-02T15:04:05Z"))
        return text

    def integer(self, schema: Schema, value: Any, path: str) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        number = self.typed(value, path, "integer", (int,))
        bound = _RANGES.get(schema.get("format", "int64"), 1 << 63)
        if isinstance(number, int) and not -bound <= number < bound:
            self.causes.append(
                invalid(path, number, f"must be in the range of {schema.get('format', 'int64')}")
            )
        return number

    def quantity(self, value: Any, path: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return self.typed(value, path, "quantity", (str,))
        text = value if isinstance(value, str) else repr(value)
        try:
            if abs(quantity.parse_text(text)) >= quantity.MAX_NANOS:
                self.causes.append(invalid(path, value, "must be less than 2^63"))
                return text
            return canonical(text)
        except quantity.QuantityError as error:
            self.causes.append(invalid(path, value, str(error)))
            return text

    def typed(self, value: Any, path: str, name: str, types: tuple[type, ...]) -> Any:
        """The value, if it is of one of these types; else a cause, and None."""
        if isinstance(value, types) and (bool in types or not isinstance(value, bool)):
            return value
        hint = "; put it in quotes" if types == (str,) and isinstance(value, (bool, int, float)) else ""
        self.causes.append(
            Cause(
                path, invalid(path, value, f"must be of type {name}{hint}").message, "FieldValueTypeInvalid"
            )
        )
        return None


def _unknown(path: str, key: str, fields: dict[str, Schema]) -> Cause:
    close = difflib.get_close_matches(key[:100], fields, n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return Cause(path[:300], f'unknown field "{path[:300]}"{hint}')


_BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
_DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]


def canonical(text: str) -> str:
    """A quantity's text as the API server keeps it: ``0.5`` is ``500m``, ``1024Mi`` is ``1Gi``.

    apimachinery/pkg/api/resource/quantity.go CanonicalizeBytes, v1.34. Raises QuantityError."""
    nanos = quantity.parse_text(text)
    whole, fraction = divmod(abs(nanos), quantity.NANO)
    sign = "-" if nanos < 0 else ""
    if text.endswith("i") and not fraction and whole >= 1024:
        power = 0
        while whole % 1024 == 0 and power < len(_BINARY) - 1:
            whole, power = whole // 1024, power + 1
        return f"{sign}{whole}{_BINARY[power]}"
    if nanos == 0:
        return "0"
    amount, power = abs(nanos), 0
    while amount % 1000 == 0 and power < len(_DECIMAL) - 1:
        amount, power = amount // 1000, power + 1
    exponential = re.search("[eE][+-]?[0-9]", text)
    suffix = f"e{3 * power - 9}" if exponential and power != 3 else _DECIMAL[power]
    return f"{sign}{amount}{suffix}"
