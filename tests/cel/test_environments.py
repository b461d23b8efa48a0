"""Which functions and macros expressions may use, and what is worked out when a program is built."""

import pytest

from simulator.cel.compilation import compile_tree
from simulator.cel.declared_sizes import DeclaredSize
from simulator.cel.device_selector import NEW_SELECTORS, compile_selector
from simulator.cel.expression import compile_expression
from simulator.cel.functions import Environment
from simulator.cel.meter import Meter
from tests.cel.devices import evaluate

LISTS = """
[1, 2].reverse() == [2, 1] && [].reverse() == []
[3, 1, 2].sort() == [1, 2, 3] && ["b", "a"].sort() == ["a", "b"] && [].sort() == []
[duration("2s"), duration("1s")].sort() == [duration("1s"), duration("2s")]
[{"a": 2}, {"a": 1}].sortBy(e, e.a) == [{"a": 1}, {"a": 2}] && ["b", "a"].sortBy(e, -size(e)) == ["b", "a"]
[[1], [2, 3], []].flatten() == [1, 2, 3] && dyn([1, 2]).flatten() == [1, 2]
dyn([[[1]], [[2]]]).flatten(1) == [[1], [2]] && dyn([[[1]], [[2]]]).flatten(2) == [1, 2]
dyn([[1]]).flatten(0) == [[1]]
lists.range(3) == [0, 1, 2] && lists.range(0) == [] && lists.range(-1) == []
[1, 2, 2, 3, 1].distinct() == [1, 2, 3] && [[1], [1]].distinct() == [[1]]
[1, 2, 3, 4].slice(1, 3) == [2, 3] && [1].slice(1, 1) == []
[1, 2].existsOne(x, x == 1) && [1, 2].exists_one(i, v, i == 1 && v == 2)
{"a": 1}.transformMapEntry(k, v, {k + "b": v}) == {"ab": 1}
[1].all(int, int == 1) && [1].all(x, type(x) == int) && [int].exists(t, t == type(1))
optional.of([2, 1]).optMap(x, x.map(y, y + 1)) == optional.of([3, 2])
"""

RUNTIME_ERRORS = """
dyn(1).flatten() == [] => no such overload: int.flatten()
[[1]].flatten(-1) == [] => level must be non-negative
[1].slice(-1, 0) == [] => cannot slice(-1, 0), negative indexes not supported
[1].slice(1, 0) == [] => cannot slice(1, 0), start index must be less than or equal to end index
[1].slice(0, 2) == [] => cannot slice(0, 2), list is length 1
[1, 2].map(x, x > 1 ? dyn("a") : dyn(x)).sort() == [] => list elements must have the same type
lists.range(100000000) == [] => operation cancelled: actual cost limit exceeded
lists.range(10000).distinct() == [] => operation cancelled: actual cost limit exceeded
18446744073709551615u + 1u == 0u => unsigned integer overflow
uint(-device.attributes["gpu.example.com"].numa) == 1u => unsigned integer overflow
"""

PROGRAM_ERRORS = """
uint(-1) == 1u => unsigned integer overflow
false && uint(-1) == 1u => unsigned integer overflow
dyn(uint(dyn(-1))) == 1 => unsigned integer overflow
[1].all(x, uint(-1) == 1u) => unsigned integer overflow
cel.bind(a, uint(-1), a == 1u) => unsigned integer overflow
int(1e99) == 1 => integer overflow
int("x") == 1 => type conversion error from 'string' to 'int'
bool("x") => type conversion error from 'string' to 'bool'
"a".matches(string("[")) => error parsing regexp: missing closing ]: `[`
"a".find("[") == "" => error parsing regexp: missing closing ]: `[`
int("x") == 1 || uint(-1) == 1u => type conversion error from 'string' to 'int'
"""


@pytest.mark.parametrize("line", LISTS.strip().splitlines())
def test_the_functions_of_lists(line: str) -> None:
    assert evaluate(line) is True


@pytest.mark.parametrize("line", RUNTIME_ERRORS.strip().splitlines())
def test_what_fails_when_it_is_evaluated(line: str) -> None:
    expression, _, text = line.partition(" => ")
    assert evaluate(expression) == text


@pytest.mark.parametrize("line", PROGRAM_ERRORS.strip().splitlines())
def test_constants_that_cannot_be_converted_fail_when_the_program_is_built(line: str) -> None:
    expression, _, text = line.partition(" => ")
    assert compile_selector(expression).error == f"program instantiation failed: {text}"


def test_nothing_of_a_membership_in_an_empty_list_is_evaluated() -> None:
    assert evaluate("device.attributes['gpu.example.com'].nosuch in []") is False
    assert evaluate("device.attributes['gpu.example.com'].nosuch in [1]") == "no such key: nosuch"


STORED, NEW, PLAIN = Environment.STORED_EXPRESSIONS, Environment.NEW_EXPRESSIONS, Environment.CONDITIONS


def error_of(text: str, environment: Environment) -> str:
    return compile_expression(text, (), "bool", environment=environment).error


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("[1].reverse() == [1]", [STORED]),
        ("[1].sortBy(e, e) == [1]", [STORED]),
        ("[1].all(i, v, i < v)", [STORED, NEW]),
        ("isQuantity('1')", [STORED, NEW]),
        ("optional.of(1).hasValue()", [STORED, NEW]),
        ("[1].all(e, e > 0)", [STORED, NEW, PLAIN]),
        ("string(1) == '1'", [STORED, NEW, PLAIN]),
        ("cel.bind(x, 1, x > 0)", []),
        ("math.greatest(1, 2) == 2", []),
    ],
)
def test_an_environment_knows_the_functions_of_its_version(text: str, known: list[Environment]) -> None:
    for environment in (STORED, NEW, PLAIN):
        error = error_of(text, environment)
        assert (error == "") == (environment in known), error
        assert not error or "undeclared reference to '" in error


def test_new_selectors_may_use_only_what_the_version_before_knows() -> None:
    assert not compile_selector("cel.bind(x, 1, x > 0)", NEW_SELECTORS).error
    assert compile_selector("[1].reverse() == [1]", NEW_SELECTORS).error.startswith(
        "compilation failed: ERROR: <input>:1:12: undeclared reference to 'reverse' (in container '')"
    )


def test_optionals_are_no_syntax_where_they_are_not_known() -> None:
    assert "unsupported syntax" in error_of("{'a': 1}.?a == 1", PLAIN)


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("[1, 2].reverse() == [2, 1]", 14),
        ("[3, 1].sort() == [1, 3]", 20),
        ("['b', 'a', 'c'].sort() == ['a', 'b', 'c']", 30),
        ("[1, 1].distinct() == [1]", 20),
        ("lists.range(5) == [1]", 17),
        ("[[1], [2]].flatten() == [1, 2]", 14),
        ("[1, 2, 3].slice(0, 1) == [1]", 13),
    ],
)
def test_the_cost_of_the_functions_of_lists(text: str, cost: int) -> None:
    """The call, the list that it makes, what it reads or compares, and the comparison."""
    meter = Meter()
    compile_expression(text, (), "bool").evaluate({}, meter)
    assert meter.cost == cost


@pytest.mark.parametrize("line", LISTS.strip().splitlines())
def test_an_evaluation_costs_no_more_than_estimated(line: str) -> None:
    compiled, meter = compile_tree(line, STORED, {}), Meter()
    assert compiled.plan_with_cost()({}, meter) is True
    assert meter.cost <= compiled.estimate_cost(DeclaredSize())
