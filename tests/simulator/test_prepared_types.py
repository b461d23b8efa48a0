"""Types are prepared before several threads decode into them."""

import ast
import subprocess
import sys
from collections.abc import Iterator

from tests.processes import ROOT

PLAIN = {"bytes", "dict", "float", "int", "list", "str", "tuple", "msgspec.Raw", "Manifest"}
"""Types without fields, and containers."""
FIRST_USE = """
import sys
from threading import Barrier, Thread
import msgspec
from simulator.kernel.prepared_types import prepared

sys.setswitchinterval(1e-6)
FIELDS = [(f"field{n}", "dict[str, list[tuple[str, int]]] | None", None) for n in range(10)]
for _ in range(40):
    kind = msgspec.defstruct("Inner", FIELDS)
    for level in range(4):
        kind = msgspec.defstruct(f"Level{level}", [*FIELDS, ("inner", kind | None, None)])
    barrier = Barrier(8)

    def decode():
        barrier.wait()
        msgspec.convert({"field1": {"a": [["b", 1]]}, "inner": {"field9": {}}}, prepared(kind))

    threads = [Thread(target=decode) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_may_decode_into_a_type_at_its_first_use() -> None:
    """Without ``prepared`` the process ends with signal 11."""
    ended = subprocess.run(
        [sys.executable, "-c", FIRST_USE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_each_decoder_is_given_a_prepared_type() -> None:
    found = [place for place, kind in decoded_types() if not is_plain(kind) and not is_prepared(kind)]
    assert found == []


def decoded_types() -> Iterator[tuple[str, ast.expr]]:
    """Yield each call of msgspec that takes a type, and the type."""
    for package in ("simulator", "schedviz"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text()
            if "msgspec" not in text or path.name == "prepared_types.py":
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("msgspec."):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield from ((place, word.value) for word in node.keywords if word.arg == "type")
                    function = ast.unparse(node.func).split("[")[0].split(".")[-1]
                    position = {"convert": 1, "Decoder": 0}.get(function)
                    if position is not None and len(node.args) > position:
                        yield place, node.args[position]


def is_plain(kind: ast.expr) -> bool:
    names = {ast.unparse(node) for node in ast.walk(kind) if isinstance(node, ast.Name | ast.Attribute)}
    return names - {"msgspec"} <= PLAIN


def is_prepared(kind: ast.expr) -> bool:
    return isinstance(kind, ast.Call) and ast.unparse(kind.func) == "prepared"
