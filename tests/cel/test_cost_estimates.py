"""Estimated costs of expressions about values of known sizes: those that upstream's own tests expect
(TestCostEstimation in apiextensions-apiserver/pkg/apiserver/schema/cel/compilation_test.go)."""

from typing import Final

import pytest

from simulator.cel.compilation import compile_tree
from simulator.cel.declared_sizes import DeclaredSize
from simulator.cel.functions import Environment
from simulator.cel.types import parse_type

NUMBER: Final = ("double", DeclaredSize())
ALL: Final = "self.all(x, true)"

Declared = tuple[str, DeclaredSize]
"""A type, and the largest size of its values."""


def text(most: int) -> Declared:
    """At most so many characters, of four bytes each."""
    return "string", DeclaredSize(4 * most)


def items(item: Declared, most: int) -> Declared:
    return f"list({item[0]})", DeclaredSize(most, element=item[1])


def entries(value: Declared, most: int) -> Declared:
    return f"map(string, {value[0]})", DeclaredSize(most, key=DeclaredSize(), element=value[1])


@pytest.mark.parametrize(
    ("declared", "rule", "cost"),
    [
        (items(NUMBER, 10), ALL, 32),
        (items(text(1), 20), ALL, 62),
        (entries(NUMBER, 10), ALL, 32),
        (text(10), "self.contains('test')", 5),
        (text(30), "self.endsWith('test')", 2),
        (text(4), 'size(self + "hello") > size("hello")', 7),
        (items(NUMBER, 0), "self[3] == 0.0", 2),
        (items(NUMBER, 10), "self.all(x, self.all(y, true))", 352),
        (items(NUMBER, 10), "self.all(x, self.all(y, self.all(z, true)))", 3552),
        (text(50), 'self.matches("x")', 22),
        (text(50), '"".matches("(((((((((())))))))))[0-9]")', 7),
        (text(50), 'self.matches("")', 1),
        (entries(text(10), 10), "self.all(x, x.contains(self[x]))", 72),
        (text(0), 'self == "x"', 1),
        (items(NUMBER, 3 * 1024 * 2048), "self.all(x, x == 0.0)", 25165826),
        (items(entries(NUMBER, 10), 12), "self.all(x, x.y == 25.2)", 74),
        (text(10), "self.find('[0-9]+') == ''", 11),
        (items(text(10), 10), "self.join(' ') == 'aa bb'", 43),
        (items(text(10), 10), "self.isSorted() == true", 52),
        (text(10), "self.lowerAscii() == 'lower!'", 6),
        (text(1000), "self.contains('A')", 401),
    ],
)
def test_an_expression_has_the_cost_that_upstream_estimates(declared: Declared, rule: str, cost: int) -> None:
    kind, size = declared
    compiled = compile_tree(rule, Environment.STORED_EXPRESSIONS, {"self": parse_type(kind)})
    assert compiled.estimate_cost(DeclaredSize(fields={"self": size})) == cost
