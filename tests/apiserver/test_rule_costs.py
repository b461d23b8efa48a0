"""Estimated costs of the rules of custom resources: those that upstream's own tests expect
(TestCostEstimation in apiextensions-apiserver/pkg/apiserver/schema/cel/compilation_test.go, v1.34)."""

import json
from typing import Any, Final

import pytest

from simulator.apiserver.custom_resources.rule_sizes import declare_sizes
from simulator.apiserver.custom_resources.rules import compile_rule
from simulator.apiserver.structural_schema import structural_schema

Schema = dict[str, Any]
TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "number"}
FLAG: Final = {"type": "boolean"}
EITHER: Final = {"x-kubernetes-int-or-string": True}
DURATION: Final = {"type": "string", "format": "duration"}
DATE: Final = {"type": "string", "format": "date"}
TIME: Final = {"type": "string", "format": "date-time"}
PAIR: Final = {"type": "object", "required": ["required"], "properties": {"required": TEXT, "optional": TEXT}}


def items(item: Schema, most: int | None = None) -> Schema:
    return {"type": "array", "items": item, **({} if most is None else {"maxItems": most})}


def entries(value: Schema, most: int | None = None) -> Schema:
    limit = {} if most is None else {"maxProperties": most}
    return {"type": "object", "additionalProperties": value, **limit}


def text(most: int | None = None, **more: Any) -> Schema:
    return {**TEXT, **({} if most is None else {"maxLength": most}), **more}


def fields(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def estimate(schema: Schema, rule: str) -> int:
    root = structural_schema(json.dumps(fields(value=schema)))
    closed = root["properties"]["value"]
    compiled = compile_rule(closed, {"rule": rule})
    sizes = declare_sizes(closed)
    assert not compiled.error
    assert sizes
    return compiled.estimate_cost(sizes)


REPLACED: Final = "self.str.replace(self.before, self.after) == 'does not matter'"
ALL: Final = "self.all(x, true)"
CASES: Final = [
    (items(NUMBER), ALL, 4718591),
    (items(NUMBER, 10), ALL, 32),
    (items(TEXT), ALL, 3145727),
    (items(TEXT, 20), ALL, 62),
    (items(FLAG), ALL, 1887437),
    (items(items(NUMBER)), ALL, 3145727),
    (items(PAIR, 50), ALL, 152),
    (entries(NUMBER), ALL, 1348169),
    (entries(NUMBER, 10), ALL, 32),
    (entries(TEXT), ALL, 1179647),
    (entries(FLAG), ALL, 943718),
    (text(), "self.contains('test')", 314574),
    (text(10), "self.contains('test')", 5),
    (text(), "self.startsWith('test')", 2),
    (text(30), "self.endsWith('test')", 2),
    (text(), 'size(self + "hello") > size("hello")', 314578),
    (text(4), 'size(self + "hello") > size("hello")', 7),
    (items(NUMBER), "self[1] == 0.0", 2),
    (items(NUMBER, 0), "self[3] == 0.0", 2),
    (items(TEXT), "self[1] == self[1]", 314577),
    (items(TEXT, 8), "self[1] == self[1]", 314577),
    (items(NUMBER, 10), "self.all(x, self.all(y, true))", 352),
    (items(NUMBER, 10), "self.all(x, self.all(y, self.all(z, true)))", 3552),
    (text(), 'self.matches("x")', 314574),
    (text(50), 'self.matches("x")', 22),
    (text(), '"".matches("(((((((((())))))))))[0-9]")', 7),
    (text(), 'self.matches("")', 1),
    (entries(TEXT), "self.all(x, x.contains(self[x]))", 2752507),
    (entries(text(10), 10), "self.all(x, x.contains(self[x]))", 72),
    (entries(NUMBER), 'self["x"] == 0.0', 2),
    (text(), 'self == "x"', 2),
    (text(0), 'self == "x"', 1),
    (text(format="byte"), 'self == b"x"', 2),
    (text(0, format="byte"), 'self == b"x"', 1),
    (items(NUMBER), "self.all(x, x == 0.0)", 6291454),
    (items(NUMBER, 3 * 1024 * 2048), "self.all(x, x == 0.0)", 25165826),
    (items(entries(PAIR)), 'self.all(x, x["y"].required == "z")', 7340027),
    (items(entries(PAIR, 10), 10), 'self.all(x, x["y"].required == "z")', 72),
    (items(EITHER), ALL, 4718591),
    (items(EITHER), "self[0] == 5", 3),
    (items(FLAG), "self[0] == false", 2),
    (items(PAIR), "self[0] == null", 2),
    (items(items(NUMBER)), "self[0][0] == -1.0", 3),
    (items(entries(NUMBER)), "self.all(x, x.y == 25.2)", 6291452),
    (items(entries(NUMBER), 12), "self.all(x, x.y == 25.2)", 74),
    (items(entries(NUMBER)), "self[0].x > 2.0", 4),
    (items(DURATION), ALL, 2359295),
    (items(DURATION), "self[0].getHours() == 2", 4),
    (items(DATE), ALL, 725936),
    (items(DATE), "self[2].getDayOfMonth() == 13", 4),
    (items(TIME), ALL, 428963),
    (items(TIME), "self[2].getMinutes() == 45", 4),
    (entries(EITHER), ALL, 1348169),
    (entries(PAIR), ALL, 428963),
    (entries(entries(NUMBER)), ALL, 1179647),
    (entries(items(NUMBER), 25), ALL, 77),
    (entries(DURATION), ALL, 1048577),
    (entries(DATE), ALL, 524288),
    (entries(TIME), ALL, 349526),
    (text(), "self.find('[0-9]+') == ''", 629147),
    (text(10), "self.find('[0-9]+') == ''", 11),
    (items(TEXT), "self.join(' ') == 'aa bb'", 329853068905),
    (items(text(10), 10), "self.join(' ') == 'aa bb'", 43),
    (items(TEXT), "self.isSorted() == true", 329854432052),
    (items(text(10), 10), "self.isSorted() == true", 52),
    (fields(str=text(), before=text(2), after=text(4)), REPLACED, 629154),
    (fields(str=text(4), before=text(2), after=text(4)), REPLACED, 12),
    (fields(str=text(), separator=text()), "self.str.split(self.separator) == []", 629160),
    (fields(str=text(10), separator=text(10)), "self.str.split(self.separator) == []", 22),
    (text(), "self.lowerAscii() == 'lower!'", 314575),
    (text(10), "self.lowerAscii() == 'lower!'", 6),
    (entries({"type": "integer"}), "oldSelf.size() == self.size()", 5),
    (entries(TIME), 'self["a"] == self["b"]', 8),
    (entries(DURATION), 'self["c"] == self["d"]', 8),
    (text(enum=["A", "B", "C", "LongValue"]), "self.contains('A')", 2),
    (text(1000, enum=["A", "B", "C", "LongValue"]), "self.contains('A')", 401),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "rule", "cost"), CASES)
def test_a_rule_has_the_cost_that_upstream_estimates(schema: Schema, rule: str, cost: int) -> None:
    assert estimate(schema, rule) == cost


RULE: Final = fields(name=text(1), names=items(text(5), 10), long=text(1_000))


@pytest.mark.parametrize(
    ("rule", "cost"),
    [
        ("self.list.all(x, x.names.all(n, n != x.name))", 9 * (3 + 3 + 4 * 7) + 3),
        ("self.list.all(x, x.names.all(n, n != x.long))", 9 * (3 + 3 + 4_000 * 8) + 3),
        ("self.list.all(x, x.names.all(n, n != 'a'))", 9 * (3 + 3 + 10 * 5) + 3),
    ],
)
def test_a_list_has_the_size_of_the_field_that_is_named_after_it(rule: str, cost: int) -> None:
    """A path of cel-go overwrites another one that has the same beginning, so that this size is estimated."""
    assert estimate(fields(list=items(RULE, 9)), rule) == cost
