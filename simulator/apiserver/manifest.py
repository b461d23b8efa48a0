"""Text to manifests: YAML or JSON, one or many documents, a ``List`` taken apart.

YAML is built straight from the parser's events, with a stack of our own: PyYAML's C composer recurses and
brings the interpreter down on 30,000 nested brackets, and its resolvers follow YAML 1.1 (``22:22`` is 1342,
``yes`` is true, ``2020-01-01`` a date, a repeated key silently wins). Here a plain scalar is null, boolean
or number only where JSON has it so; one with a leading 0 is octal, as for kubectl (``defaultMode: 0644``).
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from simulator.api import Manifest

MAX_BYTES = 512 * 1024
"""Of one request. Some 500 pods as YAML; etcd itself takes at most 1.5 MB for an object."""
MAX_DEPTH = 64
"""Nesting of a document. A Pod's deepest field lies 12 deep, a CustomResourceDefinition's schema some 40."""
MAX_NODES = 100_000
"""Scalars, lists and mappings of one request, aliases written out: what an alias bomb multiplies. 512 KiB of
usual manifests hold some 30,000."""
MAX_DOCUMENTS = 1_000
"""Of one request: they are stored in one commit, which holds everybody else up."""
MAX_DIGITS = 25
"""Of a number: int64 has 19 digits, and converting very long ones takes quadratic time."""

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*|0o?[0-7]+|0x[0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_STRING_TAG = "tag:yaml.org,2002:str"
_COLLECTION_TAGS = {None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class ManifestError(ValueError):
    """The text is not a manifest. One line for people, with the line number where there is one."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.line = line


def documents(text: str | bytes) -> list[Manifest]:
    """The documents of a text, empty ones left out. Raises :class:`ManifestError`."""
    text = _decoded(text)
    found = json_documents(text) if text.lstrip().startswith("{") and _is_json(text) else yaml_documents(text)
    for document in found:
        if not isinstance(document, dict):
            raise ManifestError(f"expected an object, got {_kind_of(document)}")
    return found


def manifests(text: str | bytes) -> list[Manifest]:
    """The manifests of a text: as :func:`documents`, with every ``List`` replaced by its items.

    Each has an ``apiVersion`` and a ``kind``, or the text is refused."""
    found = [manifest for document in documents(text) for manifest in _items(document)]
    for number, manifest in enumerate(found, 1):
        for field in ("apiVersion", "kind"):
            if not isinstance(manifest.get(field), str) or not manifest[field]:
                raise ManifestError(f"document {number}: {field} not set")
    if len(found) > MAX_DOCUMENTS:
        raise ManifestError(f"more than {MAX_DOCUMENTS} objects in one request")
    return found


def json_document(text: str | bytes) -> Any:
    """One JSON value, with the bounds that YAML has. Raises :class:`ManifestError`."""
    text = _decoded(text)
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_finite, parse_constant=_finite
        )
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from None
    _bounded(value)
    return value


def json_documents(text: str) -> list[Any]:
    return [json_document(text)]


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


def _decoded(text: str | bytes) -> str:
    if isinstance(text, bytes):
        if len(text) > MAX_BYTES:
            raise TooLong()
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            raise ManifestError("not UTF-8", text.count(b"\n", 0, error.start) + 1) from None
    # A character takes at least one byte: a long text is turned away before it is encoded.
    if len(text) > MAX_BYTES or len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise TooLong()
    return text


class TooLong(ManifestError):
    """More bytes than one request may have."""

    def __init__(self) -> None:
        super().__init__(f"larger than {MAX_BYTES // 1024} KiB; split it into several requests")


def _is_json(text: str) -> bool:
    """Whether a text that begins with a brace is JSON: ``{a: 1}`` or a second document make it YAML."""
    return re.match(r'\s*\{\s*(?:"|\})', text) is not None and "\n---" not in text


def _items(document: Manifest) -> Iterator[Manifest]:
    kind = document.get("kind")
    items = document.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise ManifestError(f"items[{number}]: expected an object, got {_kind_of(item)}")
        # The items of a typed list (PodList) carry no type of their own.
        implied = {} if kind == "List" else {"apiVersion": document.get("apiVersion"), "kind": kind[:-4]}
        yield implied | item


def _kind_of(value: object) -> str:
    names = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "nothing")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ManifestError(f'duplicate key "{key[:100]}"')
            seen.add(key)
    return result


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ManifestError(f"number of more than {MAX_DIGITS} digits")
    if text.lstrip("+-").startswith("0x"):
        return int(text, 16)
    # int() with base 0 wants "0o"; a bare leading 0 is octal in YAML 1.1 and for kubectl.
    digits = text.lstrip("+-")
    return int(text.replace("0o", ""), 8 if len(digits) > 1 and digits.startswith("0") else 10)


def _finite(text: str) -> float:
    value = float(text) if len(text) <= 400 else math.inf
    if not math.isfinite(value):
        raise ManifestError(f"number out of range: {text[:30]}")
    return value


def _bounded(root: Any) -> None:
    """Holds JSON to the bounds on depth and size, without recursion."""
    level, depth, nodes = [root], 0, 0
    while level:
        nodes += len(level)
        if depth > MAX_DEPTH:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise ManifestError(f"more than {MAX_NODES} values in one request")
        level = [
            child
            for value in level
            if isinstance(value, (dict, list))
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        depth += 1


class _Open:
    """A list or mapping under construction."""

    __slots__ = ("anchor", "key", "keyed", "line", "nodes", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, line: int, nodes: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.nodes = nodes
        """How many nodes had been built before this one."""
        self.key = ""
        self.keyed = False


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
        if isinstance(top.value, dict) and "<<" in top.value:
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
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _finite(text)
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
