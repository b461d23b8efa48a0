"""Each pattern of Python's ``re`` takes linear time, or a reason says why it may not. Patterns from outside
are matched by :mod:`simulator.kernel.go_regexp`."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import pytest

from tests.ambiguous_patterns import Mode, is_ambiguous
from tests.processes import ROOT

FUNCTIONS: Final = {"compile", "match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn"}
SEARCHES: Final = {"search", "findall", "finditer", "split", "sub", "subn"}
ALLOWED: Final = {
    "schedviz/lessons/convert.py _PLACE": "messages of msgspec, which are short",
    "schedviz/operate/backup/write_backup.py TAG": "keys that the store makes",
    "schedviz/web/forms/device_fields.py REQUEST": "the last part takes all that is left of a line",
    "schedviz/web/reasons/deciding.py COUNTED": "a match ends at the end of the text at the latest",
    "schedviz/web/templatetags/schedviz.py WORD": "a match ends at the end of the text at the latest",
    "simulator/apiserver/field_checks.py _LEADING_ZEROS": "a match begins only at the first digit",
    "simulator/apiserver/selection.py _TERM": "a match ends at the end of the text at the latest",
    "simulator/cel/functions.py _SIGNATURE": "signatures in the code",
    "simulator/dumps/documents.py ": "the indentation of a list, and then a hyphen",
    "simulator/dumps/documents.py _LOG": "a match ends at the end of the text at the latest",
    "simulator/dumps/documents.py _ITEMS": "spaces count only at the beginning of a line",
    "simulator/dumps/documents.py _TEXT_OR_BOUNDARY": "a match ends at the end of the text at the latest",
    "simulator/objects/durations.py _PART": "texts of at most 32 characters",
    "simulator/objects/quantity.py _GRAMMAR": "an exponent follows a letter or a sign",
}


class Use(NamedTuple):
    place: str
    pattern: str
    flags: int
    mode: Mode


def modules() -> Iterator[tuple[str, str, ast.Module]]:
    for package in ("simulator", "schedviz"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text()
            if "import re\n" in text:
                yield str(path.relative_to(ROOT)), text, ast.parse(text)


def uses() -> Iterator[Use]:
    """Yield each use of ``re``."""
    found = [*modules()]
    methods: dict[str, set[str]] = {}
    for package in ("simulator", "schedviz"):
        for path in (ROOT / package).rglob("*.py"):
            for name, method in re.findall(r"\b([A-Za-z_]{1,40})\.([a-z]{1,10})\(", path.read_text()):
                methods.setdefault(name, set()).add(method)
    for place, text, tree in found:
        # Of a pattern without a name, or one that is given to a function: what is called in the module.
        called = {method for name, method in re.findall(r"\b(\w+)\.([a-z]{1,10})\(", text) if name != "re"}
        module = importlib.import_module(
            ".".join(Path(place).with_suffix("").parts).removesuffix(".__init__")
        )
        assigned = {
            id(node.value): target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(tree):
            if is_of_re(call):
                name = assigned.get(id(call), "")
                yield from uses_of_call(
                    f"{place} {name}",
                    call,
                    module,
                    tree,
                    methods.get(name, called) & FUNCTIONS or called & FUNCTIONS,
                )


def is_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in FUNCTIONS
    )


def uses_of_call(
    place: str, call: ast.AST, module: ModuleType, tree: ast.Module, methods: set[str]
) -> Iterator[Use]:
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    function = call.func.attr
    methods = (methods or SEARCHES) if function == "compile" else {function}
    mode: Mode = "search" if methods & SEARCHES else "match" if "match" in methods else "fullmatch"
    given = call.args[1 if function == "compile" else 3 if function in ("sub", "subn") else 2 :]
    given = [*given, *(each.value for each in call.keywords if each.arg == "flags")]
    flags = 0
    for each in given:
        flags |= int(evaluate(each, module))
    try:
        patterns = [evaluate(call.args[0], module)]
    except NameError:  # a parameter or a variable: all texts of the module may be its value
        texts = {each for each in vars(module).values() if isinstance(each, str)}
        texts |= {
            each.value for each in ast.walk(tree) if isinstance(each, ast.Constant) if is_text(each.value)
        }
        patterns = [each for each in texts if is_pattern(each)]
    for pattern in patterns:
        yield Use(place, as_text(pattern), flags, mode)


def is_text(value: object) -> bool:
    return isinstance(value, str | bytes)


def is_pattern(text: str | bytes) -> bool:
    """Whether a text may be a pattern with a repetition."""
    try:
        re.compile(text)
    except re.error:
        return False
    return len(text) < 300 and re.search("[*+]", as_text(text)) is not None


def as_text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def evaluate(node: ast.expr, module: ModuleType) -> "str | bytes | int":
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), {**vars(module)})  # type: ignore[no-any-return]


def test_the_patterns_of_the_code_take_linear_time() -> None:
    ambiguous = set()
    for use in {*uses()}:
        if is_ambiguous(use.pattern, use.flags, use.mode):
            ambiguous.add(use.place)
    assert ambiguous - {*ALLOWED} == set(), "change the pattern, or allow it with a reason"
    assert {*ALLOWED} - ambiguous == set(), "these need no reason any more"


@pytest.mark.parametrize(
    ("pattern", "mode", "expected"),
    [
        ("(a+)+", "fullmatch", True),
        ("a*a*", "fullmatch", True),
        (r"\s*(.+?)\s*", "fullmatch", True),
        ("(a*)*", "fullmatch", True),
        ("(a|ab|b)*", "fullmatch", True),
        ("(?i)a+A+", "fullmatch", True),
        ("a+b", "search", True),
        (r"\s+$", "search", True),
        ("a+b", "fullmatch", False),
        ("x*", "search", False),
        ("[a-z]+[0-9]+", "fullmatch", False),
        ("(a|ab)*", "fullmatch", False),
        ("(?s)(.*?)=(.*)", "fullmatch", False),
        (r"[a-z]([-a-z]*[a-z])?(\.[a-z]([-a-z]*[a-z])?)*", "fullmatch", False),
    ],
)
def test_a_pattern_that_matches_a_text_in_many_ways_is_found(
    pattern: str, mode: Mode, *, expected: bool
) -> None:
    assert is_ambiguous(pattern, mode=mode) == expected
