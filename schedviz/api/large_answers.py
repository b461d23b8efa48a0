"""Writes large answers in parts, without a copy of the whole: an answer may have all objects of a sandbox."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from django.http import HttpResponse, StreamingHttpResponse

from simulator.api import Manifest

_JOINED_BYTES: Final = 1 << 20
"""Maximum size of an answer that is sent as one."""
_AT_ONCE: Final = 16
"""How many objects of a list are encoded at a time. Each has up to 1.5 MiB."""


def list_parts(value: Manifest, write: Callable[[Manifest], bytes]) -> list[bytes]:
    """Return the parts of the JSON of a list or table, whose objects are any iterable. ``write``: returns the
    JSON of a document, indented or not."""
    field = "rows" if value["kind"] == "Table" else "items"
    objects = iter(value[field])
    parts, closing = [], b""
    while some := [*islice(objects, _AT_ONCE)]:
        text = write({"kind": value["kind"], "apiVersion": value["apiVersion"], field: some})
        inner = text[_start(text, field) : text.rindex(b"]")]
        written = inner.rstrip()
        closing = inner[len(written) :]
        parts += [b",", written]
    text = write({**value, field: []})
    start = _start(text, field)
    return [text[:start], *parts[1:], closing + text[start:]]


def _start(text: bytes, field: str) -> int:
    """Return the place behind the bracket that opens the list of objects."""
    return text.index(b"[", text.index(b'"%b":' % field.encode())) + 1


def response_of(parts: Sequence[bytes], content_type: str) -> HttpResponse | StreamingHttpResponse:
    """Return a response whose content are the parts."""
    size = sum(map(len, parts))
    if size <= _JOINED_BYTES:
        return HttpResponse(b"".join(parts), content_type=content_type)
    headers = {"Content-Length": str(size)}
    return StreamingHttpResponse(parts, content_type=content_type, headers=headers)
