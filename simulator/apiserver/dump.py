"""A dump of a cluster, taken apart into manifests: what kubectl get prints, JSON or YAML, one List or many
documents, gzipped or not; or a recording of a sandbox, of which the objects at its end are taken.

Its objects are read one by one, as the whole as Python's values would take ten times the room of its text.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec

from simulator.api import Manifest, bare
from simulator.apiserver.bounds import MAX_BYTES, ManifestError
from simulator.apiserver.yaml_reader import yaml_documents
from simulator.recording import Entry, Snapshot, Write
from simulator.recording import decoder as record_decoder

MAX_DUMP_BYTES: Final = 512 << 20
"""Unpacked: 50,000 pods as a real server prints them are some 400 MB of JSON."""
MAX_YAML_BYTES: Final = 32 << 20
"""YAML takes a hundred times as long to read as JSON: this takes a minute, and holds some 4,000 pods."""
MAX_WHOLE: Final = MAX_BYTES // 4
"""Characters of a YAML document that is read as a whole: only so may one of its items refer to another."""
_GZIP: Final = b"\x1f\x8b"
_RECORDING: Final = re.compile(rb'\s*\{"kind":\s*"Recording"')
_BETWEEN: Final = re.compile(rb"(?m)^\}\s*^\{")
"""kubectl indents all but a document's first brace and its last."""


class DumpError(ManifestError):
    """The text is no dump that can be read. One line for people."""


class _Document(msgspec.Struct, rename={"api_version": "apiVersion"}):
    """The outer fields of a document in JSON."""

    api_version: Any = None
    kind: Any = None
    items: list[msgspec.Raw] | None = None


class Dump:
    """The text of one file."""

    def __init__(self, data: bytes) -> None:
        """Raises DumpError."""
        self._data = unpacked(data)
        if len(self._data) > MAX_DUMP_BYTES:
            raise DumpError(_too_large())
        self.is_recording = bool(_RECORDING.match(self._data))
        self.began: Entry | None = None
        """The first entry of the last leader, which says with which seed, queue and configuration it ran."""
        """Known when all manifests have been read; None where it is no recording."""
        self.ended: Entry | None = None
        """The last entry, which says when it was."""

    def manifests(self) -> Iterator[Manifest]:
        """Raises ManifestError."""
        if not self._data.strip():
            raise DumpError("there is nothing in it")
        if self.is_recording:
            yield from self._recorded()
        elif self._data.lstrip()[:1] == b"{" and (documents := _json_documents(self._data)) is not None:
            for document in documents:
                yield from _json_items(document)
        else:
            yield from _yaml(self._data)

    def _recorded(self) -> Iterator[Manifest]:
        objects: dict[tuple[str, str], bytes] = {}
        for number, line in enumerate(self._data.splitlines(), 1):
            try:
                record = record_decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError) as failure:
                raise DumpError(f"no record of a recording: {failure}", number) from None
            match record:
                case Write(type="DELETED"):
                    objects.pop((record.resource, record.key), None)
                case Write():
                    objects[record.resource, record.key] = msgspec.json.encode(bare(record.object))
                case Entry():
                    self.began = record if record.began else self.began
                    self.ended = record
                case Snapshot():
                    objects.clear()
        yield from (msgspec.json.decode(data) for data in objects.values())


def unpacked(data: bytes) -> bytes:
    """Raises DumpError."""
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            found = file.read(MAX_DUMP_BYTES + 1)
    except (OSError, EOFError, zlib.error) as failure:
        raise DumpError(f"not gzip: {failure}") from None
    return found


def _json_documents(data: bytes) -> list[bytes | memoryview] | None:
    """One a document; None where it is no JSON at all, as ``{a: 1}``."""
    cuts = [0, *(match.end() - 1 for match in _BETWEEN.finditer(data)), len(data)]
    documents: list[bytes | memoryview] = [memoryview(data)[a:b] for a, b in pairwise(cuts)]
    return documents if re.match(rb'\s*\{\s*(?:"|\})', data) and b"\n---" not in data else None


def _json_items(document: bytes | memoryview) -> Iterator[Manifest]:
    try:
        outer = msgspec.json.decode(document, type=_Document)
        if outer.items is None or not _is_list(outer.kind):
            yield msgspec.json.decode(document, type=Manifest)
            return
        for item in outer.items:
            yield _typed(outer, msgspec.json.decode(item, type=Manifest))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as failure:
        raise DumpError(f"not JSON that kubectl prints: {failure}") from None


def _is_list(kind: Any) -> bool:
    """Items without a kind around them are a List, too."""
    return kind is None or (isinstance(kind, str) and kind.endswith("List"))


def _typed(outer: _Document, item: Manifest) -> Manifest:
    """The items of a typed list (PodList) carry no type of their own."""
    if outer.kind in (None, "List"):
        return item
    return {"apiVersion": outer.api_version, "kind": str(outer.kind)[: -len("List")]} | item


def _yaml(data: bytes) -> Iterator[Manifest]:
    if len(data) > MAX_YAML_BYTES:
        limit = f"{MAX_YAML_BYTES >> 20} MiB"
        raise DumpError(f"more than {limit} of YAML; print it with -o json, which is read much faster")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DumpError("not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    line = 1
    for document in re.split(r"(?m)^---(?=\s)", text):
        yield from _yaml_items(document, line)
        line += document.count("\n")


def _yaml_items(text: str, line: int) -> Iterator[Manifest]:
    """The items of a List are read one by one: each alone is within the bounds of a request. They are told
    apart by their lines, as everything in them is indented further than the hyphen before them."""
    found = re.search(r"(?m)^items:[ \t]*\n(?=( *)- )", text)
    if found is None or len(text) <= MAX_WHOLE:
        for document in _parsed(text, line):
            yield from _inside(_object(document, line))
        return
    starts = [match.start() for match in re.compile(rf"(?m)^{found[1]}- ").finditer(text, found.end())]
    after = re.compile(r"(?m)^[A-Za-z]").search(text, starts[-1])
    end = after.start() if after else len(text)
    outer = next((_object(o, line) for o in _parsed(text[: found.start()] + text[end:], line)), {})
    line += text.count("\n", 0, starts[0])
    for start, stop in pairwise([*starts, end]):
        (items,) = _parsed(text[start:stop], line)
        yield from _inside({"kind": "List", **outer, "items": items})
        line += text.count("\n", start, stop)


def _inside(document: Manifest) -> Iterator[Manifest]:
    """A document's items, or itself."""
    kind, items = document.get("kind"), document.get("items")
    if not isinstance(items, list) or not _is_list(kind):
        yield document
        return
    outer = _Document(document.get("apiVersion"), kind)
    yield from (_typed(outer, item) for item in items if isinstance(item, dict))


def _object(document: Any, line: int) -> Manifest:
    if not isinstance(document, dict):
        raise DumpError("expected an object", line)
    return document


def _parsed(text: str, line: int) -> list[Any]:
    try:
        return yaml_documents(text)
    except ManifestError as error:
        problem = str(error).partition(": ")[2] if error.line else str(error)
        raise DumpError(problem, line - 1 + error.line if error.line else None) from None


def _too_large() -> str:
    return f"more than {MAX_DUMP_BYTES >> 20} MiB; leave out kinds, or namespaces"
