"""Tables of rules: which faults they find, at which paths, in which order."""

from typing import Any

import pytest

from simulator.apiserver.shapes import (
    Rule,
    all_of,
    choice,
    each,
    field,
    filled,
    has,
    in_range,
    items,
    may_not_have,
    must_have,
    needed,
    not_negative,
    one_of,
    union,
    when,
    wrong,
)
from simulator.apiserver.status import MAX_CAUSES

SIZE = in_range(1, 9)
TABLE = all_of(
    needed("name"),
    field("spec.size", SIZE),
    each("spec.ports", needed("name"), not_negative("port"), unique="name"),
    field("mode", choice(("A", "B")), default="A"),
)
ONE = union(
    {"a": field("a", SIZE), "b": field("b", SIZE)}, none="none", several="one only", second_names={"b": "bB"}
)


@pytest.mark.parametrize(
    ("rule", "value", "faults"),
    [
        (TABLE, {"name": "x"}, []),
        (TABLE, {}, ["name: Required value"]),
        (
            TABLE,
            {
                "name": "",
                "spec": {"size": 0, "ports": [{"name": "a", "port": -1}, {"name": "a"}]},
                "mode": "",
            },
            [
                "name: Required value",
                "spec.size: Invalid value: 0: must be between 1 and 9, inclusive",
                "spec.ports[0].port: Invalid value: -1: must be greater than or equal to 0",
                'spec.ports[1].name: Duplicate value: "a"',
                "mode: Required value",
            ],
        ),
        (filled("a", SIZE), {"a": 0}, []),
        (field("a", SIZE, shown="A"), {"a": 0}, ["A: Invalid value: 0: must be between 1 and 9, inclusive"]),
        (
            each("a", field("b", one_of(("x",)), shown=""), indexed=False),
            {"a": [{"b": "y"}]},
            ['a: Unsupported value: "y": supported values: "x"'],
        ),
        (
            field("a", items(needed("b"), most=2, unique="b")),
            {"a": [{"b": "x"}, {}, {"b": "x"}]},
            [
                "a[1].b: Required value",
                "a: Too many: 3: must have at most 2 items",
                'a[2].b: Duplicate value: "x"',
            ],
        ),
        (field("a", items(unique="")), {"a": ["x", "x"]}, ['a[1]: Duplicate value: "x"']),
        (when(has("a", 1, 2), field("b", wrong("no"))), {"a": 2, "b": 3}, ["b: Invalid value: 3: no"]),
        (when(has("a", 1, 2), field("b", wrong("no"))), {"a": 3, "b": 3}, []),
        (may_not_have("a", "b", detail="no"), {"a": {}, "b": 1}, ["b: Forbidden: no"]),
        (may_not_have("a", detail="no", even_empty=True), {"a": {}}, ["a: Forbidden: no"]),
        (ONE, {"c": 1}, ["Required value: none"]),
        (ONE, {"b": 0, "a": 1}, ["bB: Forbidden: one only"]),
    ],
)
def test_a_table_finds_the_faults_in_its_order(rule: Rule, value: dict[str, Any], faults: list[str]) -> None:
    assert [str(cause) for cause in rule(value)] == faults


def test_a_part_of_an_object_has_its_path() -> None:
    assert [cause.field for cause in TABLE({"spec": {"size": 0}}, "items[3]")] == [
        "items[3].name",
        "items[3].spec.size",
    ]


def test_a_list_of_faults_has_a_bound() -> None:
    faults = [*each("a", must_have("b"))({"a": [{}] * 5 * MAX_CAUSES})]
    assert len(faults) == MAX_CAUSES + 1
