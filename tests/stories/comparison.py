"""Compares the answers to a story with the recorded ones, in which placeholders stand for what varies.

``<uid:1>`` is any UUID, and the same one wherever it has this number in the story; two numbers are two
values. ``<time>`` and others without a number are any value of their form."""

import re
from collections.abc import Iterator
from typing import Any

_PLACE = re.compile(r"<(uid|rv|suffix|time|microtime|token|ip|port|age|code|any)(?::(\d+))?>")
_NUMBER = re.compile(r"<(?:port|code)(?::\d+)?>")
_FORMS = {
    "uid": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "rv": r"[0-9]+",
    "suffix": r"[a-z0-9]{5}",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "microtime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
    "token": r"[A-Za-z0-9_=+/.-]+",
    "ip": r"[0-9a-f.:]+",
    "port": r"[0-9]+",
    "age": r"(?:\d+[smhdy])+|<invalid>",
    "code": r"[0-9]+",
    "any": r".*",
}


class _Missing:
    def __repr__(self) -> str:
        return "(nothing)"


_MISSING = _Missing()


class Comparison:
    """The comparison of one story: it remembers what each numbered placeholder stands for."""

    def __init__(self, ident: str, *, managed_fields: bool = False) -> None:
        self._ident = ident
        self._managed_fields = managed_fields
        self._values: dict[tuple[str, str], str] = {}
        self._places: dict[tuple[str, str], tuple[str, str]] = {}

    def differences(self, want: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
        """Yield where an answer is not the recorded one, step by step in the order of the story."""
        if want["status"] != got["status"]:
            yield f"status: want {want['status']}, got {got['status']} {got.get('body', got.get('text'))}"
        yield from self._headers(want.get("headers", {}), got.get("headers", {}))
        for part in ("body", "events", "text"):
            if part in want or (part in got and part != "text"):
                old, new = want.get(part, _MISSING), got.get(part, _MISSING)
                if not self._managed_fields:
                    old, new = _without_managed_fields(old), _without_managed_fields(new)
                yield from self._compare(old, new, part)

    def _headers(self, want: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
        for name, value in want.items():
            here = got.get(name, _MISSING)
            if name == "content-type":
                yield from self._compare(_media_type(value), _media_type(here), f"headers/{name}")
            else:
                yield from self._compare(value, here, f"headers/{name}")
        if "warning" in got and "warning" not in want:
            yield f"headers/warning: not expected: {got['warning']}"

    def _compare(self, want: Any, got: Any, path: str) -> Iterator[str]:
        if isinstance(want, dict) and isinstance(got, dict):
            named = {key.replace("{{id}}", self._ident): value for key, value in want.items()}
            for key in [*named, *(key for key in got if key not in named)]:
                at = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
                yield from self._compare(named.get(key, _MISSING), got.get(key, _MISSING), at)
        elif isinstance(want, list) and isinstance(got, list):
            for index in range(max(len(want), len(got))):
                old = want[index] if index < len(want) else _MISSING
                new = got[index] if index < len(got) else _MISSING
                yield from self._compare(old, new, f"{path}/{index}")
        elif not self._agrees(want, got):
            shown = want.replace("{{id}}", self._ident) if isinstance(want, str) else want
            yield f"{path}: want {shown!r}, got {got!r}"

    def _agrees(self, want: Any, got: Any) -> bool:
        if isinstance(want, str) and isinstance(got, str):
            return self._text_agrees(want, got)
        if isinstance(want, str) and _NUMBER.fullmatch(want) and type(got) is int:
            return self._text_agrees(want, str(got))
        return bool(want == got) and isinstance(want, bool) == isinstance(got, bool)

    def _text_agrees(self, want: str, got: str) -> bool:
        want = want.replace("{{id}}", self._ident)
        # Of split(), every third text is between placeholders, followed by the kind and the number of one.
        between, kinds, numbers = (_PLACE.split(want)[part::3] for part in range(3))
        forms = [f"({_FORMS[kind]})" for kind in kinds] + [""]
        pattern = "".join(re.escape(text) + form for text, form in zip(between, forms, strict=True))
        match = re.fullmatch(pattern, got, re.DOTALL)
        if not match:
            return False
        values, places = dict(self._values), dict(self._places)
        for kind, number, value in zip(kinds, numbers, match.groups(), strict=True):
            if number is None:
                continue
            place = (kind, number)
            if values.setdefault(place, value) != value:
                return False
            # Two suffixes may be equal by chance.
            if kind != "suffix" and places.setdefault((kind, value), place) != place:
                return False
        self._values, self._places = values, places
        return True


def _media_type(header: Any) -> Any:
    return (
        header.replace(" ", "").lower().removesuffix(";charset=utf-8") if header is not _MISSING else header
    )


def _without_managed_fields(document: Any) -> Any:
    if isinstance(document, list):
        return [_without_managed_fields(each) for each in document]
    if not isinstance(document, dict):
        return document
    kept = {key: _without_managed_fields(value) for key, value in document.items()}
    if isinstance(kept.get("metadata"), dict):
        kept["metadata"].pop("managedFields", None)
    return kept
