"""YAML to values, straight from the parser's events, with a stack of our own.

PyYAML's C composer recurses and brings the interpreter down on 30,000 nested brackets, and its resolvers
follow YAML 1.1 (``22:22`` is 1342, ``yes`` is true, ``2020-01-01`` a date, a repeated key silently wins).
Here a plain scalar is null, boolean or number only where JSON has it so; one with a leading 0 is octal, as
for kubectl (``defaultMode: 0644``).
"""

import re
from collections.abc import Callable
from typing import Any

import yaml

from simulator.apiserver.bounds import MAX_DEPTH, MAX_DOCUMENTS, MAX_NODES, ManifestError, finite, integer

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*|0o?[0-7]+|0x[0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_STRING_TAG = "tag:yaml.org,2002:str"
_COLLECTION_TAGS = {None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


def yaml_documents(text: str) -> list[Any]:
    """Every document of a YAML text but the empty ones. Raises :class:`ManifestError`."""
    try:
        return [value for value in _Builder().build(text) if value is not None]
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ManifestError("control characters are not allowed", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ManifestError(f"not YAML: {error.problem}", mark.line + 1 if mark else None) from None


class _Open:
    """A list or mapping under construction."""

    __slots__ = ("anchor", "key", "keyed", "line", "merges", "nodes", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, line: int, nodes: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.nodes = nodes
        """How many nodes had been built before this one."""
        self.key = ""
        self.keyed = False
        self.merges = False
        """Whether a mapping has a merge key, ``<<``."""


class _Builder:
    """Values from parser events. Bounded in depth, nodes and documents before anything grows."""

    def __init__(self) -> None:
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0
        self.done: list[Any] = []

    def build(self, text: str) -> list[Any]:
        handlers: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.ScalarEvent: self.scalar,
            yaml.AliasEvent: self.alias,
            yaml.MappingStartEvent: self.start,
            yaml.SequenceStartEvent: self.start,
            yaml.MappingEndEvent: self.end,
            yaml.SequenceEndEvent: self.end,
            yaml.DocumentStartEvent: self.document,
        }
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            handler = handlers.get(type(event))
            if handler:
                handler(event)
        return self.done

    def document(self, event: yaml.DocumentStartEvent) -> None:
        self.anchors = {}
        if len(self.done) >= MAX_DOCUMENTS:
            raise ManifestError(f"more than {MAX_DOCUMENTS} documents in one request", _line(event))

    def count(self, nodes: int, event: yaml.Event) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise ManifestError(
                f"more than {MAX_NODES} values in one request (aliases written out)", _line(event)
            )

    def start(self, event: yaml.CollectionStartEvent) -> None:
        if event.tag not in _COLLECTION_TAGS:
            raise ManifestError(f"tag {event.tag} is not allowed", _line(event))
        if len(self.stack) >= MAX_DEPTH:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels", _line(event))
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.stack.append(_Open(value, event.anchor, _line(event), self.nodes))
        self.count(1, event)

    def end(self, event: yaml.Event) -> None:
        top = self.stack.pop()
        if isinstance(top.value, dict) and top.merges:
            top.value = _merged(top.value, top.line)
        if top.anchor:
            self.anchors[top.anchor] = (top.value, self.nodes - top.nodes)
        self.put(top.value, top.line)

    def scalar(self, event: yaml.ScalarEvent) -> None:
        self.count(1, event)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and not top.keyed:
            self.key(top, event)
            return
        try:
            value = _resolved(event)
        except ManifestError as error:
            raise ManifestError(str(error), _line(event)) from None
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self.put(value, _line(event))

    def key(self, top: _Open, event: yaml.ScalarEvent) -> None:
        if event.value in top.value:
            raise ManifestError(f'duplicate key "{event.value[:100]}"', _line(event))
        if event.anchor:
            self.anchors[event.anchor] = (event.value, 1)
        top.key, top.keyed = event.value, True
        # In quotes it is a key like any other.
        top.merges = top.merges or (event.value == "<<" and event.implicit[0])

    def alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self.anchors:
            raise ManifestError(f'unknown alias "{event.anchor}"', _line(event))
        value, nodes = self.anchors[event.anchor]
        self.count(nodes, event)
        self.put(_copied(value), _line(event))

    def put(self, value: Any, line: int) -> None:
        if not self.stack:
            self.done.append(value)
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.keyed:
            top.value[top.key] = value
            top.keyed = False
        else:
            raise ManifestError("a key must be a string", line)


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None  # the C parser marks every event
    return event.start_mark.line + 1


def _resolved(event: yaml.ScalarEvent) -> Any:
    text = event.value
    if not event.implicit[0]:
        if event.tag in (None, "!", _STRING_TAG) or event.implicit[1]:
            return text
        raise ManifestError(f"tag {event.tag} is not allowed")
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return integer(text)
    if _FLOAT.fullmatch(text):
        return finite(text)
    return text


def _copied(value: Any) -> Any:
    """A copy, so that no two objects share a part (its size was counted before; its depth is bounded)."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def _merged(mapping: dict[str, Any], line: int) -> dict[str, Any]:
    """YAML's merge key: ``<<: *base`` brings in what the mapping does not say itself."""
    given = mapping.pop("<<")
    merged: dict[str, Any] = {}
    for base in given if isinstance(given, list) else [given]:
        if not isinstance(base, dict):
            raise ManifestError('"<<" must name a mapping', line)
        merged = base | merged
    return merged | mapping
