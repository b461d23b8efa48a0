"""Parsing of text to manifests: YAML or JSON, one or more documents, and the items of a ``List``.

Bodies of requests are UTF-8, as for kube-apiserver. Files that people give may also be UTF-16, which Windows
PowerShell writes."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.bounds import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_DOCUMENTS,
    MAX_OBJECT_BYTES,
    ManifestError,
    TooLong,
    count_values,
    object_too_long,
    parse_finite_float,
    parse_integer,
    several_too_long,
)
from simulator.apiserver.yaml_reader import parse_yaml_documents

__all__ = ["ManifestError", "TooLong", "parse_documents", "parse_json_document", "parse_manifests"]
_BYTE_ORDER_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def parse_json_value(text: str) -> Any:
    """Parse one JSON value. Raises :class:`ManifestError`."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_refuse_duplicate_keys,
            parse_int=parse_integer,
            parse_float=parse_finite_float,
            parse_constant=parse_finite_float,
        )
        count_values(value)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeEncodeError:
        # JSON can escape a lone surrogate, but it is not a character and cannot be encoded in UTF-8.
        raise ManifestError("not Unicode: half of a surrogate pair") from None
    return value


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ManifestError(f'duplicate key "{key[:100]}"')
    return found


def parse_documents(text: str | bytes) -> list[Manifest]:
    """Parse the documents of a text, without empty ones. Raises :class:`ManifestError`. A text of more than
    one may have MAX_BYTES only."""
    text = _decode_text(text)
    found = (
        [parse_json_value(text)]
        if text.lstrip().startswith("{") and _looks_like_json(text)
        else parse_yaml_documents(text)
    )
    for document in found:
        if not isinstance(document, dict):
            raise ManifestError(f"expected an object, got {_describe_type(document)}")
    if len(found) > 1:
        _check_size(text, MAX_BYTES, several_too_long())
    return found


def parse_manifests(text: str | bytes) -> list[Manifest]:
    """Parse the manifests of a text: as :func:`parse_documents`, with every ``List`` replaced by its items.

    Raises :class:`ManifestError`, also for a manifest without ``apiVersion`` or ``kind``."""
    found = [manifest for document in parse_documents(text) for manifest in _expand_list(document)]
    if len(found) > 1:
        _check_size(text, MAX_BYTES, several_too_long())
    for number, manifest in enumerate(found, 1):
        for field in ("apiVersion", "kind"):
            if not isinstance(manifest.get(field), str) or not manifest[field]:
                raise ManifestError(f"document {number}: {field} not set")
    if len(found) > MAX_DOCUMENTS:
        raise ManifestError(f"more than {MAX_DOCUMENTS} objects in one request")
    return found


def parse_json_document(text: str | bytes) -> Any:
    """Parse one JSON value, which may have MAX_BYTES. Raises :class:`ManifestError`."""
    _check_size(text, MAX_BYTES, several_too_long())
    return parse_json_value(_decode_text(text))


def _decode_text(text: str | bytes) -> str:
    _check_size(text, MAX_OBJECT_BYTES, object_too_long())
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ManifestError("not UTF-8", text.count(b"\n", 0, error.start) + 1) from None


def _check_size(text: str | bytes, most: int, error: TooLong) -> None:
    # A character takes at least one byte, so a text with too many characters need not be encoded.
    is_text = isinstance(text, str) and len(text) <= most
    if len(text.encode(errors="surrogatepass") if is_text else text) > most:  # type: ignore[union-attr]
        raise error


def _looks_like_json(text: str) -> bool:
    """Whether a text that begins with a brace is JSON. ``{a: 1}`` and a text of several documents are
    YAML."""
    return re.match(r'\s*\{\s*(?:"|\})', text) is not None and "\n---" not in text


def _expand_list(document: Manifest) -> Iterator[Manifest]:
    kind = document.get("kind")
    items = document.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise ManifestError(f"items[{number}]: expected an object, got {_describe_type(item)}")
        # The items of a typed list (PodList) have no apiVersion and kind.
        implied = {} if kind == "List" else {"apiVersion": document.get("apiVersion"), "kind": kind[:-4]}
        yield implied | item


def _describe_type(value: object) -> str:
    names = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "nothing")


def to_utf8(data: bytes) -> bytes:
    """Return the text of a file as UTF-8 without a byte order mark. ``>`` of Windows PowerShell 5 writes
    UTF-16 with such a mark; other editors leave it out, which the zeros in the first character show.

    UTF-8 is returned unchanged, and not checked. Raises ManifestError for wrong UTF-16."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _transcode(data[len(mark) :], encoding)
    if len(data) >= 2 and (data[0] == 0) != (data[1] == 0):
        return _transcode(data, "utf-16-be" if data[0] == 0 else "utf-16-le")
    return data


def _transcode(data: bytes, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding)
        raise ManifestError("not UTF-16", before.count("\n") + 1) from None
