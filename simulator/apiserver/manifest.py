"""Text to manifests: YAML or JSON, one or many documents, a ``List`` taken apart."""

import re
from collections.abc import Iterator
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_BYTES, MAX_DOCUMENTS, ManifestError, TooLong
from simulator.apiserver.json_reader import json_value
from simulator.apiserver.yaml_reader import yaml_documents

__all__ = ["ManifestError", "TooLong", "documents", "json_document", "manifests"]


def documents(text: str | bytes) -> list[Manifest]:
    """The documents of a text, empty ones left out. Raises :class:`ManifestError`."""
    text = _decoded(text)
    found = [json_value(text)] if text.lstrip().startswith("{") and _is_json(text) else yaml_documents(text)
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
    """One JSON value. Raises :class:`ManifestError`."""
    return json_value(_decoded(text))


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
