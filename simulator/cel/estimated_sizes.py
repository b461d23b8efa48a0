"""The sizes of values that the estimate of costs uses (cel-go checker/cost.go, v0.26)."""

from dataclasses import dataclass
from typing import Final

from simulator.cel.cost_ranges import ONE, Range, fixed
from simulator.cel.declared_sizes import ITEMS, DeclaredSize
from simulator.cel.syntax import Constant, ListLiteral, MapLiteral, Node
from simulator.cel.types import Type


class Path:
    """The steps to a declared value, as a slice of Go has them: a path shares its memory with those that
    extend it. So a second extension overwrites the last step of the first one, if there was room for it
    (``x.list`` in ``x.list.all(y, y != x.name)`` gets the size of ``x.name``). The estimates of API servers
    depend on it."""

    __slots__ = ("_length", "_steps")

    def __init__(self, steps: list[str], length: int) -> None:
        self._steps = steps
        """The memory of the steps: as many entries as there is room for."""
        self._length = length

    def extend(self, step: str) -> "Path":
        """Return the path with one more step."""
        steps, length = self._steps, self._length
        if length == len(steps):
            steps = [*steps, *[""] * max(length, 1)]
        steps[length] = step
        return Path(steps, length + 1)

    def read(self) -> list[str]:
        return self._steps[: self._length]


NO_PATH: Final = Path([], 0)


@dataclass(frozen=True, slots=True)
class EntrySize:
    """The sizes of the keys and values of a list or map."""

    is_list: bool
    key: Range
    value: Range

    def join(self, other: "EntrySize | None") -> "EntrySize | None":
        if other is None:
            return None
        return EntrySize(self.is_list, self.key.join(other.key), self.value.join(other.value))


@dataclass(frozen=True, slots=True)
class Local:
    """A variable of a macro."""

    path: Path
    size: Range | None
    entry: EntrySize | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """A target or an argument."""

    node: Node
    type: Type
    size: Range | None
    path: Path
    root: DeclaredSize
    unknown: Range
    """The size of what no size is declared of."""

    def size_of_items(self) -> Range:
        path = self.path.read()
        return (find_size(self.root, [*path, ITEMS]) if path else None) or self.unknown


def find_size(root: DeclaredSize, path: list[str]) -> Range | None:
    """Return the size that is declared at a path, whose first step is a variable."""
    found = root.find(path) if path else None
    return Range(0, found.most) if found else None


def literal_size(node: Node) -> Range | None:
    if isinstance(node, Constant):
        return fixed(len(node.value)) if isinstance(node.value, str | bytes) else ONE
    if isinstance(node, ListLiteral):
        return fixed(len(node.elements))
    return fixed(len(node.entries)) if isinstance(node, MapLiteral) else None


def is_scalar(kind: Type) -> bool:
    if kind.name == "optional_type":
        return is_scalar(kind.parameters[0])
    return kind.name in ("bool", "double", "duration", "int", "timestamp", "uint")
