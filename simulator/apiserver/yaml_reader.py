"""YAML to values: PyYAML's reader, within our bounds and with the scalars that Kubernetes sees.

By itself PyYAML follows YAML 1.1: ``22:22`` is 1342, ``yes`` is true, ``2020-01-01`` a date, and a repeated
key silently wins. Here a plain scalar is null, boolean or number only where JSON has it so; a number with a
leading 0 is octal, as for kubectl (``defaultMode: 0644``).
"""

import re
from collections.abc import Callable
from typing import Any

import yaml

from simulator.apiserver.bounds import MAX_DEPTH, MAX_DOCUMENTS, MAX_NODES, ManifestError, finite, integer

_YAML = "tag:yaml.org,2002:"
_TAGS: dict[type[yaml.Event], str] = {
    yaml.ScalarEvent: f"{_YAML}str",
    yaml.MappingStartEvent: f"{_YAML}map",
    yaml.SequenceStartEvent: f"{_YAML}seq",
}
"""What a text may say of its values; other tags make objects of Python, or follow from the value."""


def yaml_documents(text: str) -> list[Any]:
    """Every document of a YAML text but the empty ones. Raises :class:`ManifestError`."""
    try:
        _guard(text)
        return [value for value in yaml.load_all(text, Loader=_Loader) if value is not None]
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ManifestError("control characters are not allowed", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ManifestError(f"not YAML: {error.problem}", mark.line + 1 if mark else None) from None


_Anchors = dict[str | None, tuple[int, int]]
"""Nodes and levels of what an anchor names; of what was last without one under None."""


class _Open:
    """A list or mapping that the text is inside of."""

    __slots__ = ("anchor", "levels", "nodes")

    def __init__(self, anchor: str | None, nodes: int) -> None:
        self.anchor = anchor
        self.nodes = nodes
        """In the text before it."""
        self.levels = 1


def _guard(text: str) -> None:
    """Turns away what is too much, by the parser's events alone: PyYAML's composer recurses, and brings the
    interpreter down on 30,000 nested brackets. Sizes and depths are those with aliases written out."""
    documents = nodes = 0
    inside: list[_Open] = []
    anchors: _Anchors = {}
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        levels = 0
        match event:
            case yaml.ScalarEvent():
                _check(event, anchors)
                nodes += 1
                anchors[event.anchor] = 1, 0
            case yaml.CollectionStartEvent():
                _check(event, anchors)
                inside.append(_Open(event.anchor, nodes))
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


def _check(event: yaml.ScalarEvent | yaml.CollectionStartEvent, anchors: _Anchors) -> None:
    if event.tag not in (None, "!", _TAGS[type(event)]):
        raise ManifestError(f"tag {str(event.tag)[:100]} is not allowed", _line(event))
    if event.anchor is not None and event.anchor in anchors:
        raise ManifestError(f'anchor "{event.anchor[:100]}" given twice', _line(event))


def _line(place: yaml.Event | yaml.Node) -> int:
    assert place.start_mark is not None  # the C parser marks everything
    return place.start_mark.line + 1


class _Loader(yaml.CSafeLoader):
    """Values of what :func:`_guard` let through."""

    yaml_implicit_resolvers: dict[str, Any] = {}
    yaml_constructors = {
        f"{_YAML}{kind}": yaml.CSafeLoader.yaml_constructors[f"{_YAML}{kind}"]
        for kind in ("null", "bool", "str", "seq", "map")
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        value = super().construct_object(node, deep=True)
        # An alias is constructed anew: no two objects share a part.
        del self.constructed_objects[node]
        return value

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Writes merge keys out, when a mapping has no key twice by itself."""
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
        # A key is its text, whatever it looks like: 80 is "80".
        return {key.value: self.construct_object(value) for key, value in node.value}


def _number(convert: Callable[[str], Any]) -> Callable[[_Loader, yaml.ScalarNode], Any]:
    def construct(_: _Loader, node: yaml.ScalarNode) -> Any:
        try:
            return convert(node.value)
        except ManifestError as error:
            raise ManifestError(str(error), _line(node)) from None

    return construct


_Loader.add_constructor(f"{_YAML}int", _number(integer))
_Loader.add_constructor(f"{_YAML}float", _number(finite))
for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*|0o?[0-7]+|0x[0-9a-fA-F]+)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", "<<", "<"),
):
    _Loader.add_implicit_resolver(f"{_YAML}{_kind}", re.compile(rf"(?:{_pattern})\Z"), [*_first])


def line_of(text: str, field: str) -> int | None:
    """The line of a field in the first document of a text that :func:`yaml_documents` has read: of the field
    itself, or of the nearest above it that is there. ``field`` is a path as the API server writes it."""
    try:
        node = next(yaml.compose_all(text, Loader=_Loader), None)
    except yaml.YAMLError:
        return None  # JSON that is no YAML
    line = None
    while isinstance(node, yaml.CollectionNode) and field:
        found = _inside(node, field)
        if found is None:
            break
        line, node, field = found
    return line


def _inside(node: yaml.CollectionNode, field: str) -> tuple[int, yaml.Node, str] | None:
    """The line and the value of the part of a path that lies in a list or mapping, and the rest of the path.
    A key may have dots in it: the longest that fits is meant."""
    if isinstance(node, yaml.SequenceNode):
        number, _, rest = field.removeprefix("[").partition("]")
        if not number.isdecimal() or int(number) >= len(node.value):
            return None
        item = node.value[int(number)]
        return _line(item), item, rest
    field = field.removeprefix(".")
    best: tuple[int, yaml.Node, str] | None = None
    longest = -1
    for key, value in node.value:
        for name in (key.value, f"[{key.value}]"):
            rest = field[len(name) :]
            if field.startswith(name) and rest[:1] in ("", ".", "[") and len(name) > longest:
                best, longest = (_line(key), value, rest), len(name)
    return best
