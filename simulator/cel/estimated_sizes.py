"""What an estimate of costs knows of the sizes of values (cel-go checker/cost.go, v0.26)."""

from dataclasses import dataclass

from simulator.cel.cost_ranges import ONE, UNKNOWN, Range, fixed
from simulator.cel.declared_sizes import ITEMS, DeclaredSize
from simulator.cel.syntax import Constant, ListLiteral, MapLiteral, Node
from simulator.cel.types import Type

Path = tuple[str, ...]


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

    def size_of_items(self) -> Range:
        return declared(self.root, (*self.path, ITEMS) if self.path else ()) or UNKNOWN


def declared(root: DeclaredSize, path: Path) -> Range | None:
    found = root.find(path[1:]) if path else None
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
