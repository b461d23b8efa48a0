"""Parsing of the text of a dump into manifests, one by one: all of them as Python values would need ten times
the memory of the text.

JSON may be one document, several one after the other, Lists, and arrays. YAML may be several documents,
Lists, and lists. Lists and arrays may be nested. The logs of containers in the output of ``kubectl
cluster-info dump`` are skipped.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_BYTES, ManifestError
from simulator.apiserver.yaml_reader import parse_yaml_documents
from simulator.dumps.dump_files import DumpError
from simulator.dumps.recognition import GET_COMMAND
from simulator.kernel.prepared_types import prepared

MAX_YAML_BYTES: Final = 32 << 20
"""Maximum size of a dump in YAML: about 4,000 pods, which take a minute. YAML is parsed a hundred times
slower than JSON."""
MAX_WHOLE_DOCUMENT: Final = MAX_BYTES // 4
"""Maximum number of characters of a YAML document that is parsed as a whole. The items of a longer one are
parsed separately, and may then not refer to each other by aliases."""
_LOG_MARK: Final = b"==== START logs for "
_LOG: Final = re.compile(
    rb"^==== START logs for ([^\n]+?) ====\r?\n.*?(?:==== END logs for \1 ====\r?\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""The log of a container, as kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go writes it. Nothing is
known of its lines, and the last one need not end with a line feed."""
_JSON: Final = re.compile(rb'\s*(?:\[\s*)*(?:\{\s*["}]|\])')
"""The beginning of JSON. ``{a: 1}`` and ``[{a: 1}]`` are YAML."""
_ARRAY: Final = re.compile(rb"\s*\[")
_DOCUMENT_BOUNDARY: Final = re.compile(rb"[}\]][^\S\n]*\n\s*(?=[{\[])")
"""The end of a JSON document and the beginning of the next. Inside a document there is a comma between, and a
text has no line feed."""
_ON_ONE_LINE: Final = re.compile(rb"[}\]][ \t]*[{\[]")
"""The same on one line, as ``cat`` and kubectl's jsonpath write it, or a part of a text."""
_TEXT_OR_BOUNDARY: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|([}\]])\s*(?=[{\[])', re.DOTALL)
"""A text, which the end of the file ends, too, or the end of a JSON document and the beginning of the next.
Slower than _DOCUMENT_BOUNDARY."""
_BYTE: Final = re.compile(r" \(byte (\d+)\)$")
"""The end of msgspec's message of malformed JSON."""
_ITEMS: Final = re.compile(r"(?m)(?:^items:[ \t]*\n|\A\s*?)(?=^( *)- )")
"""The beginning of the items of a List in YAML, or of a list."""


class _Document(msgspec.Struct, rename={"api_version": "apiVersion"}):
    """The outer fields of a document in JSON."""

    api_version: Any = None
    kind: Any = None
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET
    """None in a list without objects that Go has written."""


def parse_documents(data: bytes) -> Iterator[Manifest]:
    """Parse the manifests of a text. Raises ManifestError."""
    if _LOG_MARK in data:
        data = _LOG.sub(b"", data)
    if _JSON.match(data) and b"\n---" not in data:
        offset = 0
        for document in json_documents(data):
            try:
                yield from _parse_json_value(document)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as failure:
                byte = _malformed_byte(document)
                line = None if byte is None else data.count(b"\n", 0, offset + byte) + 1
                raise DumpError(f"not JSON that kubectl prints: {_describe(failure)}", line) from None
            offset += document.nbytes
    else:
        yield from _parse_yaml(data)


def json_documents(data: bytes) -> Iterator[memoryview]:
    """Yield the documents of JSON that follow each other."""
    if _malformed_byte(memoryview(data)) is None:  # ten times faster than to look for boundaries
        yield memoryview(data)
        return
    for start, end in pairwise([0, *_json_boundaries(data), len(data)]):
        yield memoryview(data)[start:end]


def _json_boundaries(data: bytes) -> Iterator[int]:
    if _ON_ONE_LINE.search(data):
        return (match.end() for match in _TEXT_OR_BOUNDARY.finditer(data) if match[1])
    return (match.end() for match in _DOCUMENT_BOUNDARY.finditer(data))


def _malformed_byte(document: memoryview) -> int | None:
    """Return the index of the byte at which a text is not one value of JSON; None if it is one, or is nested
    too deeply."""
    try:
        msgspec.json.decode(document, type=msgspec.Raw)
    except msgspec.DecodeError as malformed:
        byte = _BYTE.search(str(malformed))
        return int(byte[1]) if byte else document.nbytes
    except (RecursionError, UnicodeDecodeError):
        return None
    return None


def _describe(failure: Exception) -> str:
    if isinstance(failure, RecursionError):
        return "nested too deeply"
    return _BYTE.sub("", str(failure))


def _parse_json_value(value: memoryview | msgspec.Raw) -> Iterator[Manifest]:
    """Yield an object, or those of a list or an array."""
    if _ARRAY.match(value):
        for each in msgspec.json.decode(value, type=list[msgspec.Raw]):
            yield from _parse_json_value(each)
        return
    if memoryview(value).nbytes <= MAX_BYTES:
        manifest = msgspec.json.decode(value, type=Manifest)
        if "items" not in manifest:
            yield manifest  # as nearly all, which are parsed only once
            return
    outer = msgspec.json.decode(value, type=prepared(_Document))
    if outer.items is msgspec.UNSET or not _is_list(outer.kind):
        yield msgspec.json.decode(value, type=Manifest)
        return
    for item in outer.items or ():
        for manifest in _parse_json_value(item):
            yield _with_list_type(outer, manifest)


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
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DumpError("not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    line = 1
    for document in re.split(r"(?m)^---(?=\s)", text):
        yield from _parse_yaml_items(document, line)
        line += document.count("\n")


def _parse_yaml_items(text: str, line: int) -> Iterator[Manifest]:
    """Parse a YAML document. The items of a large List are parsed one by one, so that each is within the
    bounds of a request. An item ends at the next hyphen with the same indentation."""
    found = _ITEMS.search(text)
    if found is None or len(text) <= MAX_WHOLE_DOCUMENT:
        for document in _parse_yaml_documents(text, line):
            for manifest in _flatten(document, line):
                yield from _expand_list(manifest)
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
        for item in _expand_list({"kind": "List", **outer, "items": items}):
            yield from _expand_list(item)
        line += text.count("\n", start, stop)


def _expand_list(document: Manifest) -> Iterator[Manifest]:
    """Yield the items of a list, or the document itself if it is not a list."""
    kind, items = document.get("kind"), document.get("items")
    if "items" not in document or not isinstance(items, list | None) or not _is_list(kind):
        yield document
        return
    outer = _Document(document.get("apiVersion"), kind)
    for item in items or ():
        if isinstance(item, dict):
            for manifest in _expand_list(item):
                yield _with_list_type(outer, manifest)


def _flatten(document: Any, line: int) -> Iterator[Manifest]:
    """Yield the objects of a list, also those of lists in it, or the document itself."""
    if isinstance(document, list):
        for each in document:
            yield from _flatten(each, line)
    else:
        yield _check_object(document, line)


def _check_object(document: Any, line: int) -> Manifest:
    if not isinstance(document, dict):
        raise DumpError(f"not an object of Kubernetes; use {GET_COMMAND}", line)
    return document


def _parse_yaml_documents(text: str, line: int) -> list[Any]:
    try:
        return parse_yaml_documents(text)
    except ManifestError as error:
        problem = str(error).partition(": ")[2] if error.line else str(error)
        raise DumpError(problem, line - 1 + error.line if error.line else None, error.column) from None
