"""Costs of rules as they are evaluated: those that upstream's own tests expect (TestCelCostStability in
apiextensions-apiserver/pkg/apiserver/schema/cel/celcoststability_test.go)."""

import json
from typing import Any, Final

import pytest

from simulator.apiserver.custom_resources.rule_values import to_cel
from simulator.apiserver.custom_resources.rules import compile_rule, rule_faults
from simulator.apiserver.structural_schema import structural_schema
from simulator.cel import meter as limits
from simulator.cel.meter import Meter

TEXT: Final = {"type": "string"}
INTEGER: Final = {"type": "integer"}
_KINDS: Final = {
    "text": TEXT,
    "other": TEXT,
    "bytes": {"type": "string", "format": "byte"},
    "time": {"type": "string", "format": "date-time"},
    "duration": {"type": "string", "format": "duration"},
    "one": INTEGER,
    "number": {"type": "number"},
    "any": {"x-kubernetes-int-or-string": True},
    "list": {"type": "array", "items": INTEGER},
    "more": {"type": "array", "items": INTEGER},
    "texts": {"type": "array", "items": TEXT},
    "map": {"type": "object", "additionalProperties": INTEGER},
    "maps": {"type": "array", "items": {"type": "object", "properties": {"k": TEXT, "v": TEXT, "v2": TEXT}}},
    "a": {
        "type": "object",
        "properties": {"b": INTEGER, "c": {"type": "object", "properties": {"d": INTEGER}}},
    },
}
_VALUE: Final = {
    "text": "Rook takes 👑",
    "other": "Rook takes 👑",
    "bytes": "QUI=",
    "time": "2011-08-18T19:03:37.010000000+01:00",
    "duration": "1h2m3s4ms",
    "one": 1,
    "number": 10.5,
    "any": "25%",
    "list": [1, 1, 2, 2, 3, 3, 4, 5],
    "more": [1, 2, 3],
    "texts": ["a", "b", "c"],
    "map": {"b": 1, "d": 2},
    "maps": [{"k": "a1", "v": "b1"}, {"k": "a2", "v": "b2"}, {"k": "a3", "v": "b3", "v2": "z"}],
    "a": {"b": 1, "c": {"d": 1}},
}


def cost(rule: str, value: dict[str, Any] = _VALUE) -> int:
    of = {"type": "object", "properties": _KINDS}
    root = structural_schema(json.dumps({"type": "object", "properties": {"x": of}}))
    schema = root["properties"]["x"]
    compiled, meter = compile_rule(schema, {"rule": rule}), Meter()
    assert not compiled.error
    assert compiled.evaluate({"self": to_cel(schema, value)}, meter) is True
    return meter.cost


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("type(self.one) == int", 4),
        ("self.one + 1 == 1 + 1", 5),
        ("double(self.one) < self.number", 6),
        ("double(5) < 10.0", 1),
        ("double(self.one) < 10.0", 4),
        ("self.text == self.other", 6),
        ("self.text.startsWith('Rook')", 4),
        ("!self.text.startsWith('knight')", 5),
        ("self.text.matches('^[^0-9]*$')", 8),
        ("!self.text.matches('^[0-9]*$')", 7),
        ("size(self.text) == 12", 4),
        ("self.text.charAt(3) == 'k'", 4),
        ("self.text.indexOf('o') == 1", 4),
        ("self.text.replace(' ', 'x') == 'Rookxtakesx👑'", 7),
        ("self.text.split(' ') == ['Rook', 'takes', '👑']", 6),
        ("self.text.substring(5) == 'takes 👑'", 5),
        ("self.text.substring(4, 10).trim() == 'takes'", 6),
        ("self.text.lowerAscii() == 'rook takes 👑'", 6),
        ("self.bytes == b'AB'", 3),
        ("size(self.bytes) == 2", 4),
        ("self.duration == duration('1h2m') + duration('3s4ms')", 4),
        ("self.duration.getHours() == 1", 4),
        ("type(self.duration) == google.protobuf.Duration", 4),
        ("self.time.getDate('01:00') == 18", 4),
        ("self.text in ['Pending', 'Rook takes 👑']", 2),
        ("string(self.number) == '10.5'", 4),
        ("1 in self.more", 5),
        ("self.list[0] in self.more", 8),
        ("!(0 in self.more)", 6),
        ("self.more + self.more == [1, 2, 3, 1, 2, 3]", 6),
        ("self.more + [4, 5] == [1, 2, 3, 4, 5]", 4),
        ("self.texts == ['a', 'b', 'c']", 3),
        ("'a' in self.texts", 5),
        ("'b' in self.map", 3),
        ("!('c' in self.map)", 4),
        ("self.map == {'b': 1, 'd': 2}", 3),
        ("has(self.a.b)", 2),
        ("has(self.a.c.d)", 3),
        ("!has(self.map.a)", 3),
        ("self.map.all(k, self.map[k] > 0)", 17),
        ("self.map.exists_one(k, self.map[k] == 2)", 14),
        ("!self.map.exists_one(k, self.map[k] > 0)", 17),
        ("size(self.map.filter(k, self.map[k] > 1)) == 1", 26),
        ("has(self.maps[0].v)", 3),
        ("self.maps.all(m, m.k.startsWith('a'))", 21),
        ("self.maps.all(m, !has(m.v2) || m.v2 == 'z')", 21),
        ("self.maps.exists(m, m.k.endsWith('1'))", 13),
        ("self.maps.exists_one(m, m.k == 'a3')", 15),
        ("!self.maps.all(m, m.k.endsWith('1'))", 18),
        ("!self.maps.exists(m, m.v == 'x')", 25),
        ("size(self.maps.filter(m, m.k == 'a1')) == 1", 27),
        ("self.maps.exists(m, m.k == 'a1' && m.v == 'b1')", 16),
        ("self.maps.map(m, m.v).exists(v, v == 'b1')", 55),
        ("self.maps.exists(m, has(m.v2) && m.v2 == 'z')", 21),
        ("!self.maps.all(m, has(m.v2) && m.v2 != 'z')", 10),
        ("self.maps.exists_one(m, has(m.v2) && m.v2 == 'z')", 12),
        ("self.maps.filter(m, has(m.v2) && m.v2 == 'z').size() == 1", 24),
        ("self.maps.exists(m, m.v2 == 'z')", 24),
        ("!self.maps.all(m, m.v2 != 'z')", 22),
        ("self.maps[0] != self.maps[1]", 7),
        ("self.maps == [self.maps[0], self.maps[1], self.maps[2]]", 22),
        ("2 in self.list", 10),
        ("self.list.all(e, e > 0)", 43),
        ("self.list.exists(e, e > 2)", 36),
        ("self.list.exists_one(e, e > 4)", 22),
        ("!self.list.all(e, e < 2)", 21),
        ("!self.list.exists(e, e < 0)", 52),
        ("size(self.list.filter(e, e%2 == 0)) == 3", 68),
        ("self.list.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)", 194),
        ("type(self.any) == int ? self.any == 1 : self.any == '25%'", 7),
        ("type(self.any) == string && self.any == '25%'", 7),
        ("self.any == 1 || self.any == '25%'", 6),
        ("self.any == '25%' || self.any == 1", 3),
        ("self.any != ['anything']", 3),
        (r"type(self.any) == string && self.any.matches(r'(\d+(\.\d+)?%)')", 10),
    ],
)
def test_a_rule_costs_what_it_costs_upstream(rule: str, expected: int) -> None:
    assert cost(rule) == expected


LOOP: Final = f"self.list.all(a, self.list.all(b, '{'a' * 500}'.matches('[a-j]*[a-j]*[a-j]*')))"
CANCELLED: Final = "'operation cancelled: actual cost limit exceeded'"
CALL: Final = "no further validation rules will be run due to call cost exceeds limit for"


def faults(size: int, *rules: dict[str, Any]) -> list[str]:
    spec = {"type": "object", "properties": {"list": _KINDS["list"]}, "x-kubernetes-validations": [*rules]}
    schema = structural_schema(json.dumps({"type": "object", "properties": {"spec": spec}}))
    return [str(each) for each in rule_faults(schema, {"spec": {"list": [0] * size}})]


def test_a_rule_that_costs_too_much_ends_the_rules() -> None:
    wrong = {"rule": "false"}
    (fault,) = faults(100, {"rule": LOOP}, wrong)
    assert fault == f'spec: Invalid value: "object": {CANCELLED}: {CALL} rule: {LOOP}'
    (fault,) = faults(100, {"rule": "self.list.size() == 0 || " + LOOP, "message": "costly"}, wrong)
    assert fault == f'spec: Invalid value: "object": {CANCELLED}: {CALL} rule: costly'
    assert faults(9, {"rule": LOOP}) == []


def test_a_message_that_costs_too_much_ends_the_rules() -> None:
    message = f"{LOOP} ? 'a' : 'b'"
    (fault,) = faults(100, {"rule": "false", "messageExpression": message}, {"rule": "false"})
    assert fault == f'spec: Invalid value: "object": {CALL} messageExpression: {json.dumps(message)}'


def test_rules_that_cost_too_much_together_end(monkeypatch: pytest.MonkeyPatch) -> None:
    of_one = cost("self.list.all(e, e >= 0)")
    rule = {"rule": "self.list.all(e, e >= 0)"}
    wrong = {"rule": "self.list.exists(e, e > 0)", "messageExpression": "'costs ' + string(self.list.size())"}
    whole = "validation failed due to running out of cost budget, no further validation rules will be run"
    monkeypatch.setattr("simulator.apiserver.custom_resources.rules.REQUEST_LIMIT", 2 * of_one)
    assert faults(8, rule, rule) == []
    assert faults(8, rule, rule, rule, wrong) == [f'spec: Invalid value: "object": {whole}']
    of_message = whole.replace("validation failed", "messageExpression evaluation failed")
    monkeypatch.setattr("simulator.apiserver.custom_resources.rules.REQUEST_LIMIT", 53)
    assert faults(8, wrong, rule) == [f'spec: Invalid value: "object": {of_message}']
    assert limits.REQUEST_LIMIT == 10_000_000
