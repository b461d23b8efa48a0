"""The Warning headers of a response (apiserver/pkg/endpoints/filters/warning.go)."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from django.http.response import HttpResponseBase

from simulator.apiserver.warnings import MAX_CHARACTERS, MAX_CUT_OFF, MAX_WARNINGS, is_written

_Response = TypeVar("_Response", bound=HttpResponseBase)


def with_warnings(response: _Response, warnings: Sequence[str]) -> _Response:
    """Add warnings to a response, in UTF-8, before those that it has."""
    known: list[str] = vars(response).setdefault("warnings", [])
    known[:0] = filter(is_written, warnings)
    if known:
        quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in limited(known))
        header = ", ".join(f'299 - "{text}"' for text in quoted)
        response["Warning"] = header.encode("utf-8", "replace").decode("latin-1")
    return response


def limited(warnings: Iterable[str]) -> list[str]:
    """Return the first MAX_WARNINGS warnings without repeated ones. If they have more than MAX_CHARACTERS,
    each is cut off, and those that come when MAX_CHARACTERS are written are left out."""
    texts = [*dict.fromkeys(warnings)][:MAX_WARNINGS]
    written = 0
    for place, text in enumerate(texts):
        written += len(text)
        if written > MAX_CHARACTERS:
            return _cut_off(texts, place + 1)
    return texts


def _cut_off(texts: Sequence[str], kept: int) -> list[str]:
    """Return texts that are cut off: the first ``kept`` ones, and further ones up to the limit."""
    found = [text[:MAX_CUT_OFF] for text in texts[:kept]]
    written = sum(map(len, found))
    for text in texts[kept:]:
        if written >= MAX_CHARACTERS:
            break
        found.append(text[:MAX_CUT_OFF])
        written += len(found[-1])
    return found
