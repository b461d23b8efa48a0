"""Parsing of cluster dumps into manifests.

A dump is the output of kubectl get in JSON or YAML (one List or several documents), or a recording of a
sandbox, of which the objects at its end are used. It may be gzipped. Objects are parsed one by one, because
all of them as Python values would need ten times the memory of the text.
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
from simulator.apiserver.yaml_reader import parse_yaml_documents
from simulator.recording import Entry, Snapshot, Write, record_decoder

MAX_DUMP_BYTES: Final = 512 << 20
"""Maximum size of a dump, after decompression. 50,000 pods of a real cluster are about 400 MB of JSON."""
MAX_YAML_BYTES: Final = 32 << 20
"""Maximum size of a dump in YAML: about 4,000 pods, which take a minute. YAML is parsed a hundred times
slower than JSON."""
MAX_WHOLE_DOCUMENT: Final = MAX_BYTES // 4
"""Maximum number of characters of a YAML document that is parsed as a whole. The items of a longer one are
parsed separately, and may then not refer to each other by aliases."""
_GZIP: Final = b"\x1f\x8b"
_RECORDING: Final = re.compile(rb'\s*\{"kind":\s*"Recording"')
_DOCUMENT_BOUNDARY: Final = re.compile(rb"(?m)^\}\s*^\{")
"""The end of a JSON document and the beginning of the next. kubectl indents all lines between."""


class DumpError(ManifestError):
    """The dump cannot be parsed. The message is one line for users."""


class _Document(msgspec.Struct, rename={"api_version": "apiVersion"}):
    """The outer fields of a document in JSON."""

    api_version: Any = None
    kind: Any = None
    items: list[msgspec.Raw] | None = None


class Dump:
    """One dump file."""

    def __init__(self, data: bytes) -> None:
        """Raises DumpError."""
        self._data = unpack(data)
        if len(self._data) > MAX_DUMP_BYTES:
            raise DumpError(_too_large_message())
        self.is_recording = bool(_RECORDING.match(self._data))
        self.began: Entry | None = None
        """The first entry of the last term of a recording, with its seed, queue and configuration. It is set
        when all manifests have been read."""
        self.ended: Entry | None = None
        """The last entry of a recording, with its time. It is set when all manifests have been read."""

    def manifests(self) -> Iterator[Manifest]:
        """Parse the manifests one by one. Raises ManifestError."""
        if not self._data.strip():
            raise DumpError("the dump is empty")
        if self.is_recording:
            yield from self._recorded()
        elif self._data.lstrip()[:1] == b"{" and (documents := _split_json_documents(self._data)) is not None:
            for document in documents:
                yield from _parse_json_items(document)
        else:
            yield from _parse_yaml(self._data)

    def _recorded(self) -> Iterator[Manifest]:
        objects: dict[tuple[str, str], bytes] = {}
        for number, line in enumerate(self._data.splitlines(), 1):
            try:
                record = record_decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError) as failure:
                raise DumpError(f"not a record of a recording: {failure}", number) from None
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


def unpack(data: bytes) -> bytes:
    """Decompress gzipped data; other data is returned unchanged. Raises DumpError."""
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            found = file.read(MAX_DUMP_BYTES + 1)
    except (OSError, EOFError, zlib.error) as failure:
        raise DumpError(f"not gzip: {failure}") from None
    return found


def _split_json_documents(data: bytes) -> list[bytes | memoryview] | None:
    """Split the data into its JSON documents; None if it is not JSON, such as ``{a: 1}``."""
    cuts = [0, *(match.end() - 1 for match in _DOCUMENT_BOUNDARY.finditer(data)), len(data)]
    documents: list[bytes | memoryview] = [memoryview(data)[a:b] for a, b in pairwise(cuts)]
    return documents if re.match(rb'\s*\{\s*(?:"|\})', data) and b"\n---" not in data else None


def _parse_json_items(document: bytes | memoryview) -> Iterator[Manifest]:
    try:
        outer = msgspec.json.decode(document, type=_Document)
        if outer.items is None or not _is_list(outer.kind):
            yield msgspec.json.decode(document, type=Manifest)
            return
        for item in outer.items:
            yield _with_list_type(outer, msgspec.json.decode(item, type=Manifest))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as failure:
        raise DumpError(f"not JSON that kubectl prints: {failure}") from None


def _is_list(kind: Any) -> bool:
    """Whether an object with ``items`` is a list: its kind is missing or ends with List."""
    return kind is None or (isinstance(kind, str) and kind.endswith("List"))


def _with_list_type(outer: _Document, item: Manifest) -> Manifest:
    """Return an item with its apiVersion and kind, which the items of a typed list (PodList) do not have."""
    if outer.kind in (None, "List"):
        return item
    return {"apiVersion": outer.api_version, "kind": str(outer.kind)[: -len("List")]} | item


def _parse_yaml(data: bytes) -> Iterator[Manifest]:
    if len(data) > MAX_YAML_BYTES:
        limit = f"{MAX_YAML_BYTES >> 20} MiB"
        raise DumpError(f"more than {limit} of YAML; use -o json, which is parsed much faster")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DumpError("not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    line = 1
    for document in re.split(r"(?m)^---(?=\s)", text):
        yield from _parse_yaml_items(document, line)
        line += document.count("\n")


def _parse_yaml_items(text: str, line: int) -> Iterator[Manifest]:
    """Parse a YAML document. The items of a large List are parsed one by one, so that each is within the
    bounds of a request. An item ends at the next hyphen with the same indentation."""
    found = re.search(r"(?m)^items:[ \t]*\n(?=( *)- )", text)
    if found is None or len(text) <= MAX_WHOLE_DOCUMENT:
        for document in _parse_yaml_documents(text, line):
            yield from _expand_list(_check_object(document, line))
        return
    starts = [match.start() for match in re.compile(rf"(?m)^{found[1]}- ").finditer(text, found.end())]
    after = re.compile(r"(?m)^[A-Za-z]").search(text, starts[-1])
    end = after.start() if after else len(text)
    outer = next(
        (_check_object(o, line) for o in _parse_yaml_documents(text[: found.start()] + text[end:], line)), {}
    )
    line += text.count("\n", 0, starts[0])
    for start, stop in pairwise([*starts, end]):
        (items,) = _parse_yaml_documents(text[start:stop], line)
        yield from _expand_list({"kind": "List", **outer, "items": items})
        line += text.count("\n", start, stop)


def _expand_list(document: Manifest) -> Iterator[Manifest]:
    """Yield the items of a list, or the document itself if it is not a list."""
    kind, items = document.get("kind"), document.get("items")
    if not isinstance(items, list) or not _is_list(kind):
        yield document
        return
    outer = _Document(document.get("apiVersion"), kind)
    yield from (_with_list_type(outer, item) for item in items if isinstance(item, dict))


def _check_object(document: Any, line: int) -> Manifest:
    if not isinstance(document, dict):
        raise DumpError("expected an object", line)
    return document


def _parse_yaml_documents(text: str, line: int) -> list[Any]:
    try:
        return parse_yaml_documents(text)
    except ManifestError as error:
        problem = str(error).partition(": ")[2] if error.line else str(error)
        raise DumpError(problem, line - 1 + error.line if error.line else None, error.column) from None


def _too_large_message() -> str:
    return f"more than {MAX_DUMP_BYTES >> 20} MiB; dump fewer kinds or namespaces"
