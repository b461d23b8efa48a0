"""The lines and columns of fields in a YAML text."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import yaml

from simulator.apiserver.yaml_reader import Loader


class Position(NamedTuple):
    """A place in a text; both numbers begin with 1."""

    line: int
    column: int


class FieldPositions:
    """The positions in a text, which is read once however many are asked for.

    :func:`simulator.apiserver.yaml_reader.parse_yaml_documents` must have accepted the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._children: dict[int, dict[str, tuple[yaml.Node, yaml.Node]]] = {}
        """The keys and values of mappings by the texts of the keys, by the id of the mapping."""

    @cached_property
    def _documents(self) -> list[yaml.Node]:
        """Documents that are not empty. None of JSON that is not valid YAML."""
        try:
            found = [*yaml.compose_all(self._text, Loader=Loader)]
        except yaml.YAMLError:
            return []
        return [node for node in found if node is not None and not node.tag.endswith(":null")]

    def find(self, field: str, document: int = 0) -> Position | None:
        """Return the position of a field, or of its nearest parent that exists. field: a path in the API
        server's notation. document: its number among those that are not empty."""
        node = next(iter(self._documents[document : document + 1]), None)
        found = None
        while isinstance(node, yaml.CollectionNode) and field:
            child = self._find_child(node, field)
            if child is None:
                break
            found, node, field = child
        return found

    def _find_child(self, node: yaml.CollectionNode, field: str) -> tuple[Position, yaml.Node, str] | None:
        """Find the child of a list or mapping that a path begins with. Return its position, its value and
        the rest of the path; None if there is no such child. Of several matching keys the longest is used, as
        keys may contain dots."""
        if isinstance(node, yaml.SequenceNode):
            number, _, rest = field.removeprefix("[").partition("]")
            if not number.isdecimal() or int(number) >= len(node.value):
                return None
            item = node.value[int(number)]
            return _position(item), item, rest
        children = self._children.get(id(node))
        if children is None:
            children = {key.value: (key, value) for key, value in node.value}
            self._children[id(node)] = children
        field = field.removeprefix(".")
        for name in path_beginnings(field):
            key = name[1:-1] if name.startswith("[") and name.endswith("]") else name
            if key in children:
                place, value = children[key]
                return _position(place), value, field[len(name) :]
        return None


def path_beginnings(field: str) -> Iterator[str]:
    """Yield what a path may name first, the longest first."""
    for end in range(len(field), 0, -1):
        if field[end : end + 1] in ("", ".", "["):
            yield field[:end]


def _position(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)
