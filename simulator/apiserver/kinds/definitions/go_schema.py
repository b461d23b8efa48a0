"""A schema of a definition as Go prints its internal type in messages (JSONSchemaProps and ValidationRule in
apiextensions-apiserver/pkg/apis/apiextensions/types_jsonschema.go, v1.34)."""

from typing import Any, Final

from simulator.apiserver.custom_resources.rules import RULES

_FIELDS: Final = {
    "ID": ("id", ""),
    "Schema": ("$schema", ""),
    "Ref": ("$ref", None),
    "Description": ("description", ""),
    "Type": ("type", ""),
    "Nullable": ("nullable", False),
    "Format": ("format", ""),
    "Title": ("title", ""),
    "Default": ("default", None),
    "Maximum": ("maximum", None),
    "ExclusiveMaximum": ("exclusiveMaximum", False),
    "Minimum": ("minimum", None),
    "ExclusiveMinimum": ("exclusiveMinimum", False),
    "MaxLength": ("maxLength", None),
    "MinLength": ("minLength", None),
    "Pattern": ("pattern", ""),
    "MaxItems": ("maxItems", None),
    "MinItems": ("minItems", None),
    "UniqueItems": ("uniqueItems", False),
    "MultipleOf": ("multipleOf", None),
    "Enum": ("enum", None),
    "MaxProperties": ("maxProperties", None),
    "MinProperties": ("minProperties", None),
    "Required": ("required", None),
    "Items": ("items", None),
    "AllOf": ("allOf", None),
    "OneOf": ("oneOf", None),
    "AnyOf": ("anyOf", None),
    "Not": ("not", None),
    "Properties": ("properties", None),
    "AdditionalProperties": ("additionalProperties", None),
    "PatternProperties": ("patternProperties", None),
    "Dependencies": ("dependencies", None),
    "AdditionalItems": ("additionalItems", None),
    "Definitions": ("definitions", None),
    "ExternalDocs": ("externalDocs", None),
    "Example": ("example", None),
    "XPreserveUnknownFields": ("x-kubernetes-preserve-unknown-fields", None),
    "XEmbeddedResource": ("x-kubernetes-embedded-resource", False),
    "XIntOrString": ("x-kubernetes-int-or-string", False),
    "XListMapKeys": ("x-kubernetes-list-map-keys", None),
    "XListType": ("x-kubernetes-list-type", None),
    "XMapType": ("x-kubernetes-map-type", None),
    "XValidations": (RULES, None),
}
"""Name in Go, name in JSON and zero value of each field."""
_RULE: Final = {
    "Rule": ("rule", ""),
    "Message": ("message", ""),
    "MessageExpression": ("messageExpression", ""),
    "Reason": ("reason", None),
    "FieldPath": ("fieldPath", ""),
    "OptionalOldSelf": ("optionalOldSelf", None),
}
_LISTS: Final = ("AllOf", "OneOf", "AnyOf")
_MAPS: Final = ("Properties", "PatternProperties", "Definitions")
_OR_BOOL: Final = ("AdditionalProperties", "AdditionalItems")


def schema_struct(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the names of Go, and with its zero values."""
    return {
        name: _value(name, schema[field]) if schema.get(field) is not None else zero
        for name, (field, zero) in _FIELDS.items()
    }


def rule_struct(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule with the names of Go, and with its zero values."""
    return {name: rule.get(field, zero) for name, (field, zero) in _RULE.items()}


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        return [schema_struct(each) for each in value]
    if name in _MAPS:
        return {key: schema_struct(each) for key, each in sorted(value.items())}
    if name in _OR_BOOL:
        is_schema = isinstance(value, dict)
        return {"Allows": is_schema or value, "Schema": schema_struct(value) if is_schema else None}
    if name == "Items":
        is_list = isinstance(value, list)
        return {
            "Schema": None if is_list else schema_struct(value),
            "JSONSchemas": [*map(schema_struct, value)] if is_list else None,
        }
    if name == "Not":
        return schema_struct(value)
    return [*map(rule_struct, value)] if name == "XValidations" else value
