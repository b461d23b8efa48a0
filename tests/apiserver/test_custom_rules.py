"""Rules in CEL, list types and formats of custom resources, with upstream's texts."""

import json
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.custom_resources.coercion import set_schema_defaults
from simulator.apiserver.custom_resources.parts import ABSENT
from simulator.apiserver.custom_resources.resource_schema import custom_faults
from simulator.apiserver.custom_resources.rules import rule_faults
from simulator.apiserver.custom_resources.schema_validation import list_type_faults, schema_faults
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resource import Resource
from simulator.apiserver.structural_schema import structural_schema
from simulator.kernel.work import limit_work

INTEGER = {"type": "integer"}
TEXT = {"type": "string"}


def rules(*given: dict[str, Any] | str) -> list[dict[str, Any]]:
    return [{"rule": each} if isinstance(each, str) else each for each in given]


def spec_schema(spec: dict[str, Any]) -> dict[str, Any]:
    return structural_schema(json.dumps({"type": "object", "properties": {"spec": spec}}))


def broken(spec: dict[str, Any], value: Any, old: Any = ABSENT) -> list[str]:
    schema = spec_schema({"type": "object", **spec})
    before = ABSENT if old is ABSENT else {"spec": old}
    return [str(cause) for cause in rule_faults(schema, {"spec": value}, before)]


RANGE = {"properties": {"least": INTEGER, "most": INTEGER}}


def test_a_rule_that_does_not_hold_gives_its_message() -> None:
    rule = "self.least <= self.most"
    wrong, right = {"least": 3, "most": 2}, {"least": 1, "most": 2}
    texts = {
        'spec: Invalid value: "object": failed rule: self.least <= self.most': {"rule": f" {rule} "},
        'spec: Invalid value: "object": too large': {"rule": rule, "message": "too large "},
        'spec: Invalid value: "object": 3 > 2': {
            "rule": rule,
            "messageExpression": "string(self.least) + ' > ' + string(self.most)",
        },
        'spec: Invalid value: "object": fallback': {
            "rule": rule,
            "message": "fallback",
            "messageExpression": "string(self.none)",
        },
        "spec.least: Forbidden: no": {
            "rule": rule,
            "message": "no",
            "reason": "FieldValueForbidden",
            "fieldPath": ".least",
        },
        "spec: Required value: no": {"rule": rule, "message": "no", "reason": "FieldValueRequired"},
        'spec: Duplicate value: "object"': {"rule": rule, "reason": "FieldValueDuplicate"},
    }
    for text, given in texts.items():
        spec = {**RANGE, "x-kubernetes-validations": rules(given)}
        assert broken(spec, wrong) == [text]
        assert broken(spec, right) == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("self.most == 1", "no such key: most evaluating rule: self.most == 1"),
        ("1 / (self.least - self.least) > 0", "division by zero evaluating rule: "),
        (
            "dyn(self.least).startsWith('a')",
            "call arguments did not match a supported operator, function or macro signature for rule: ",
        ),
        (
            "self.none == 1",
            "rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'none'",
        ),
    ],
)
def test_a_rule_that_cannot_be_evaluated(rule: str, text: str) -> None:
    (found,) = broken({**RANGE, "x-kubernetes-validations": rules(rule)}, {"least": 1})
    assert found.startswith('spec: Invalid value: "object": ')
    assert text in found


def test_rules_below_the_spec_have_their_paths() -> None:
    positive = {**INTEGER, "x-kubernetes-validations": rules("self > 0")}
    spec = {
        "properties": {
            "list": {"type": "array", "items": positive},
            "map": {"type": "object", "additionalProperties": positive},
        }
    }
    assert broken(spec, {"list": [1, -1], "map": {"a": 0, "b": 1}}) == [
        'spec.list[1]: Invalid value: "integer": failed rule: self > 0',
        'spec.map[a]: Invalid value: "integer": failed rule: self > 0',
    ]


def test_transition_rules_need_an_old_value() -> None:
    spec = {"properties": {"size": {**INTEGER, "x-kubernetes-validations": rules("self >= oldSelf")}}}
    assert broken(spec, {"size": 1}) == []
    assert broken(spec, {"size": 1}, {}) == []
    assert broken(spec, {"size": 2}, {"size": 1}) == []
    assert len(broken(spec, {"size": 1}, {"size": 2})) == 1
    optional = {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True}
    spec = {"properties": {"size": {**INTEGER, "x-kubernetes-validations": rules(optional)}}}
    assert broken(spec, {"size": 1}) == []
    assert len(broken(spec, {"size": 2})) == 1
    assert broken(spec, {"size": 2}, {"size": 3}) == []


def test_items_with_keys_are_compared_with_their_old_ones() -> None:
    items = {
        "type": "object",
        "properties": {"name": TEXT, "size": INTEGER},
        "x-kubernetes-validations": rules("self.size == oldSelf.size"),
    }
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    a, b, other = {"name": "a", "size": 1}, {"name": "b", "size": 2}, {"name": "b", "size": 3}
    spec = {"properties": {"list": {"type": "array", "items": items, **keyed}}}
    assert broken(spec, {"list": [b, a]}, {"list": [a, b]}) == []
    assert [each.partition(":")[0] for each in broken(spec, {"list": [other, a]}, {"list": [a, b]})] == [
        "spec.list[0]"
    ]
    spec = {"properties": {"list": {"type": "array", "items": items}}}
    assert broken(spec, {"list": [other]}, {"list": [b]}) == []


def test_values_have_the_types_of_their_schema() -> None:
    spec = {
        "properties": {
            "ratio": {"type": "number"},
            "since": {"type": "string", "format": "date-time"},
            "wait": {"type": "string", "format": "duration"},
            "port": {"x-kubernetes-int-or-string": True},
            "a-b": TEXT,
            "namespace": TEXT,
            "more": TEXT,
        },
        "x-kubernetes-validations": rules(
            "self.ratio / 2.0 == 0.5",
            "self.since < timestamp('2030-01-01T00:00:00Z')",
            "self.wait == duration('90s')",
            "type(self.port) == int && !has(self.more)",
            "self.a__dash__b == 'x' && self.__namespace__ == 'y'",
        ),
    }
    value = {
        "ratio": 1,
        "since": "2024-01-01T00:00:00Z",
        "wait": "1m30s",
        "port": 80,
        "a-b": "x",
        "namespace": "y",
        "other": 1,
    }
    assert broken(spec, value) == []


def custom(spec: dict[str, Any], root: list[dict[str, Any]] | None = None) -> Resource:
    schema: Manifest = {"type": "object", "properties": {"spec": spec}}
    if root:
        schema["x-kubernetes-validations"] = root
    return Resource("example.com", "v1", "Widget", "widgets", True, "widget", schema_text=json.dumps(schema))


def thing(named: str, /, **spec: Any) -> Manifest:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": named}, "spec": spec}


def test_rules_wait_for_a_valid_object_and_see_its_name() -> None:
    size = {"type": "integer"}
    of = custom({"type": "object", "properties": {"size": size}}, rules("self.metadata.name == 'w'"))
    assert custom_faults(of, thing("w", size=1)) == []
    assert [str(each) for each in custom_faults(of, thing("x", size=1))] == [
        "<nil>: Invalid value: \"object\": failed rule: self.metadata.name == 'w'"
    ]
    wrong_type, not_checked = map(str, custom_faults(of, thing("x", size="a")))
    assert wrong_type == (
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'
    )
    assert not_checked == (
        '<nil>: Invalid value: "null": some validation rules were not checked because the object was '
        "invalid; "
        "correct the existing errors to complete validation"
    )


def test_an_unchanged_invalid_value_is_accepted() -> None:
    size = {"type": "integer", "maximum": 3, "x-kubernetes-validations": rules("self < 3")}
    of = custom({"type": "object", "properties": {"size": size, "name": TEXT}})
    old = thing("w", size=9, name="a")
    assert custom_faults(of, thing("w", size=9, name="b"), old) == []
    assert len(custom_faults(of, thing("w", size=8, name="a"), old)) == 2
    assert len(custom_faults(of, old)) == 2


def test_items_of_sets_and_maps_are_there_once() -> None:
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"]}
    fields = {"name": TEXT, "port": {"type": "integer", "default": 80}, "more": TEXT}
    schema = spec_schema(
        {
            "type": "object",
            "properties": {
                "set": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
                "map": {"type": "array", "items": {"type": "object", "properties": fields}, **keyed},
                "list": {"type": "array", "items": TEXT},
            },
        }
    )
    value = {
        "set": ["a", "b", "a"],
        "map": [{"name": "a"}, {"name": "a", "port": 81}, {"name": "a", "port": 80, "more": "x"}],
        "list": ["a", "a"],
    }
    assert [str(each) for each in list_type_faults(schema, {"spec": value})] == [
        'spec.map[2]: Duplicate value: {"name":"a","port":80}',
        'spec.set[2]: Duplicate value: "a"',
    ]


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("date-time", "2024-01-01T10:00:00.5+02:00", "2024-01-01 10:00:00Z"),
        ("date", "2024-02-29", "2023-02-29"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("duration", "1h5m", "soon"),
        ("byte", "YWJj", "a"),
        ("email", "a@example.com", "a.example.com"),
        ("email", "<a@example.com>", ":" * 100_000),
        ("hostname", "web-1.example.com", "web_1"),
        ("uri", "https://example.com/x", "example"),
        ("mac", "00:11:22:aa:bb:cc", "00:11"),
        ("hexcolor", "#a0b1c2", "#a0b1c"),
    ],
)
def test_texts_have_the_format_of_their_schema(form: str, right: str, wrong: str) -> None:
    schema = spec_schema({"type": "object", "properties": {"x": {"type": "string", "format": form}}})
    assert [*schema_faults(schema, {"spec": {"x": right}})] == []
    assert [str(each) for each in schema_faults(schema, {"spec": {"x": wrong}})] == [
        f'spec.x: Invalid value: "{wrong}": spec.x in body must be of type {form}: "{wrong}"'
    ]
    unknown = spec_schema({"type": "object", "properties": {"x": {"type": "string", "format": "other"}}})
    assert [*schema_faults(unknown, {"spec": {"x": wrong}})] == []


def test_the_objects_of_a_request_share_its_work() -> None:
    spec = {
        "properties": {"texts": {"type": "array", "items": TEXT}},
        "x-kubernetes-validations": rules("self.texts.all(a, a != '')"),
    }
    value = {"texts": ["a"] * 1_000}
    with limit_work(10_000):
        found = [broken(spec, value) for _ in range(20)]
    assert found[0] == []
    (text,) = found[-1]
    assert text.endswith("running out of cost budget, no further validation rules will be run")
    assert [bool(faults) for faults in found] == sorted(bool(faults) for faults in found)


OUT_OF_BUDGET = "running out of cost budget, no further validation rules will be run"


def test_the_values_that_rules_see_are_counted_in_the_work() -> None:
    """Each level whose rules see the levels below converts them again. Before, only evaluations counted."""
    schema: dict[str, Any] = {"type": "array", "items": INTEGER}
    value: Any = [0] * 10_000
    for _ in range(10):
        schema = {
            "type": "object",
            "properties": {"x": schema},
            "x-kubernetes-validations": rules("has(self.x)"),
        }
        value = {"x": value}
    with limit_work(200_000) as work:
        assert broken(schema, value) == []
    assert 200_000 - work.left > 10 * 10_000 / 4
    with limit_work(20_000):
        (text,) = broken(schema, value)
    assert text.endswith(OUT_OF_BUDGET)


@pytest.mark.parametrize(
    "rule",
    [
        "self.lists == self.lists",
        "self.lists in [self.lists]",
        "int(self.text) > 0 || true",
        "duration(self.text) > duration('1s')",
        "self.texts.min() > 'b' || true",
    ],
)
def test_what_costs_next_to_nothing_by_upstream_spends_work(rule: str) -> None:
    """cel-go counts neither the elements of inner lists, nor the texts that these functions read."""
    spec = {
        "properties": {
            "lists": {"type": "array", "items": {"type": "array", "items": INTEGER}},
            "texts": {"type": "array", "items": TEXT},
            "text": TEXT,
        },
        "x-kubernetes-validations": rules(rule),
    }
    given = {"lists": [[0] * 20_000], "texts": ["a"] * 20_000, "text": "1s" * 10_000}
    with limit_work(1_000_000) as work:
        before = work.left
        broken(spec, {"lists": [], "texts": ["a"], "text": "1s"})
        little = before - work.left
        before = work.left
        broken(spec, given)
        much = before - work.left
    converted = 40_000 // 2
    assert much - little - converted > 2_000


def test_the_patterns_of_a_request_share_its_work() -> None:
    pattern = "^(a+)+$"
    schema = spec_schema({"type": "array", "items": {"type": "string", "pattern": pattern}})
    with limit_work(50_000):
        faults = [*schema_faults(schema, {"spec": ["a" * 200 + "!"] * 5_000})]
    assert f"should match '{pattern}'" in str(faults[0])
    assert "ran out of its budget of work" in str(faults[-1])
    assert len(faults) < 5_000


def test_a_long_text_is_matched_too() -> None:
    schema = spec_schema({"type": "string", "pattern": "^(a+)+$"})
    assert [*schema_faults(schema, {"spec": "a" * 100_000})] == []
    assert len([*schema_faults(schema, {"spec": "a" * 100_000 + "!"})]) == 1


def test_the_rules_of_an_object_have_a_budget() -> None:
    item = {**INTEGER, "x-kubernetes-validations": rules("self >= 0")}
    many = {"properties": {"list": {"type": "array", "items": item}}}
    with limit_work(10_000):
        (text,) = broken(many, {"list": [0] * 5_000})
    assert text.startswith("spec.list[")
    assert text.endswith(OUT_OF_BUDGET)
    deep = {
        "properties": {"list": {"type": "array", "items": INTEGER}},
        "x-kubernetes-validations": rules("self.list.all(a, self.list.all(b, a == b))"),
    }
    (text,) = broken(deep, {"list": [0] * 1_000})
    assert "operation cancelled: actual cost limit exceeded" in text


def test_choices_are_looked_up_and_alternatives_share_the_work_of_a_request() -> None:
    choices = [f"choice-{number}" for number in range(20_000)]
    of_choices = spec_schema({"type": "array", "items": {"type": "string", "enum": choices}})
    with limit_work():
        assert [*schema_faults(of_choices, {"spec": choices})] == []
    alternatives = [{"maximum": number} for number in range(1_000)]
    either = spec_schema({"type": "array", "items": {"type": "integer", "anyOf": alternatives}})
    with limit_work(50_000):
        assert [*schema_faults(either, {"spec": [0] * 5})] == []
        faults = [*schema_faults(either, {"spec": [0] * 100})]
    assert [str(fault) for fault in faults] == [
        "could not be compared with all of its schema: the request ran out of its budget of work"
    ]


def test_numbers_are_choices_in_both_forms_and_booleans_are_no_numbers() -> None:
    for choices, value, is_one in (
        ([1, 2], 1.0, True),
        ([1.0], 1, True),
        ([True], 1, False),
        ([{"a": 1}], {"a": 1}, True),
    ):
        schema = spec_schema({"x-kubernetes-preserve-unknown-fields": True, "enum": choices})
        assert (not [*schema_faults(schema, {"spec": value})]) is is_one


def test_the_defaults_of_an_object_are_bounded() -> None:
    schema = spec_schema(
        {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "string", "default": "x" * 100_000}}},
        }
    )
    few: Manifest = {"spec": [{} for _ in range(10)]}
    set_schema_defaults(schema, few)
    assert few["spec"][9] == {"a": "x" * 100_000}
    with pytest.raises(TooLarge, match="add more than"):
        set_schema_defaults(schema, {"spec": [{} for _ in range(100)]})
    with limit_work(50), pytest.raises(TooLarge, match="budget of work"):
        set_schema_defaults(schema, {"spec": [{"a": ""} for _ in range(100)]})
