"""Parsing of YAML with PyYAML, within the bounds of a request and with the scalar types of Kubernetes.

PyYAML follows YAML 1.1: ``22:22`` is 1342, ``yes`` is true, ``2020-01-01`` is a date, and of a repeated key
the last value is used without an error. Here a plain scalar is null, a boolean or a number only if it is one
in JSON, except that a number with a leading 0 is octal, as for kubectl (``defaultMode: 0644``).
"""

import re
from collections.abc import Callable
from typing import Any

import yaml

from simulator.apiserver.bounds import (
    MAX_DEPTH,
    MAX_DOCUMENTS,
    MAX_NODES,
    ManifestError,
    parse_finite_float,
    parse_integer,
)

_YAML = "tag:yaml.org,2002:"
_TAGS: dict[type[yaml.Event], str] = {
    yaml.ScalarEvent: f"{_YAML}str",
    yaml.MappingStartEvent: f"{_YAML}map",
    yaml.SequenceStartEvent: f"{_YAML}seq",
}
"""The tag that each kind of node may have in the text. Other tags would create Python objects, or are implied
by the value."""


def parse_yaml_documents(text: str) -> list[Any]:
    """Parse the documents of a YAML text, without empty ones. Raises :class:`ManifestError`."""
    try:
        check_bounds(text)
        return [value for value in yaml.load_all(text, Loader=Loader) if value is not None]
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ManifestError("control characters are not allowed", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else ()
        raise ManifestError(f"not YAML: {error.problem}", *place) from None


_Anchors = dict[str | None, tuple[int, int]]
"""The number of nodes and of levels of each anchored value. The key None holds the last value without
anchor."""


class _OpenCollection:
    """A list or mapping whose end has not been read yet."""

    __slots__ = ("anchor", "levels", "nodes")

    def __init__(self, anchor: str | None, nodes: int) -> None:
        self.anchor = anchor
        self.nodes = nodes
        """The number of nodes before it."""
        self.levels = 1


def check_bounds(text: str) -> None:
    """Raise ManifestError for a text beyond the bounds. Sizes and depths are counted with aliases expanded.

    This reads the parser's events only, because PyYAML's composer is recursive and 30,000 nested brackets
    would crash the interpreter."""
    documents = nodes = 0
    inside: list[_OpenCollection] = []
    anchors: _Anchors = {}
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        levels = 0
        match event:
            case yaml.ScalarEvent():
                _check_node(event, anchors)
                nodes += 1
                anchors[event.anchor] = 1, 0
            case yaml.CollectionStartEvent():
                _check_node(event, anchors)
                inside.append(_OpenCollection(event.anchor, nodes))
                nodes += 1
            case yaml.CollectionEndEvent():
                done = inside.pop()
                levels = done.levels
                anchors[done.anchor] = nodes - done.nodes, levels
            case yaml.AliasEvent():
                if event.anchor not in anchors:
                    raise ManifestError(f'unknown alias "{str(event.anchor)[:100]}"', _line(event))
                size, levels = anchors[event.anchor]
                nodes += size
            case yaml.DocumentStartEvent():
                documents += 1
                anchors.clear()
        if inside:
            inside[-1].levels = max(inside[-1].levels, levels + 1)
        if len(inside) + levels > MAX_DEPTH:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels", _line(event))
        if nodes > MAX_NODES:
            problem = f"more than {MAX_NODES} values in one request (aliases written out)"
            raise ManifestError(problem, _line(event))
        if documents > MAX_DOCUMENTS:
            raise ManifestError(f"more than {MAX_DOCUMENTS} documents in one request", _line(event))


def _check_node(event: yaml.ScalarEvent | yaml.CollectionStartEvent, anchors: _Anchors) -> None:
    if event.tag not in (None, "!", _TAGS[type(event)]):
        raise ManifestError(f"tag {str(event.tag)[:100]} is not allowed", _line(event))
    if event.anchor is not None and event.anchor in anchors:
        raise ManifestError(f'anchor "{event.anchor[:100]}" given twice', _line(event))


def _line(place: yaml.Event | yaml.Node) -> int:
    assert place.start_mark is not None  # the C parser sets it on every event and node
    return place.start_mark.line + 1


class Loader(yaml.CSafeLoader):
    """Constructs values from a text that :func:`check_bounds` has accepted."""

    yaml_implicit_resolvers: dict[str, Any] = {}
    yaml_constructors = {
        f"{_YAML}{kind}": yaml.CSafeLoader.yaml_constructors[f"{_YAML}{kind}"] for kind in ("null", "bool")
    }

    def construct_document(self, node: yaml.Node) -> Any:
        return self.construct_object(node)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node, with all that is in it. PyYAML's own method makes a generator for each
        list and mapping. The value of an alias is constructed again: no two objects share a part."""
        if isinstance(node, yaml.MappingNode):
            return self.construct_mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.construct_object(item) for item in node.value]
        construct = self.yaml_constructors.get(node.tag)
        return construct(self, node) if construct else node.value

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Expand merge keys (``<<``). Raises ManifestError if the mapping itself repeats a key."""
        keys = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ManifestError("a key must be a string", _line(key))
            if key.value in keys:
                raise ManifestError(f'duplicate key "{key.value[:100]}"', _line(key))
            keys.add(key.value)
        super().flatten_mapping(node)
        node.value = [*{key.value: (key, value) for key, value in node.value}.values()]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        self.flatten_mapping(node)
        # Keys are always strings: 80 is "80".
        return {key.value: self.construct_object(value) for key, value in node.value}


def _number(convert: Callable[[str], Any]) -> Callable[[Loader, yaml.ScalarNode], Any]:
    def construct(_: Loader, node: yaml.ScalarNode) -> Any:
        try:
            return convert(node.value)
        except ManifestError as error:
            raise ManifestError(str(error), _line(node)) from None

    return construct


Loader.add_constructor(f"{_YAML}int", _number(parse_integer))
Loader.add_constructor(f"{_YAML}float", _number(parse_finite_float))
for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*|0o?[0-7]+|0x[0-9a-fA-F]+)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", "<<", "<"),
):
    Loader.add_implicit_resolver(f"{_YAML}{_kind}", re.compile(rf"(?:{_pattern})\Z"), [*_first])
