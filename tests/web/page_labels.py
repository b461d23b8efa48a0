"""The labels of a page: what its elements say, and in which part of the page they are."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

LONGEST = 60
"""Longer texts are no labels."""
VOID = ("input", "br", "hr", "img", "meta", "link", "wbr")
NAMED = ("aria-label", "placeholder", "title", "value")
PARTS = {
    "transport": "clock",
    "create": "create",
    "s-queue": "queue",
    "s-nodes": "nodes",
    "s-cycle": "cycle",
    "s-log": "log",
    "s-lesson": "lesson",
    "keys-list": "keys",
}
"""Class or id of an element -> the part of the page that is inside it."""


class _Reader(HTMLParser):
    def __init__(self, part: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self._open: list[tuple[str, str, list[str], list[str]]] = []
        self._part = part

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        names = [values.get("id", ""), *values.get("class", "").split()]
        inside = self._open[-1][1] if self._open else self._part
        part = next((PARTS[name] for name in names if name in PARTS), inside)
        for name in NAMED:
            self._note(part, values.get(name, ""))
        if tag not in VOID:
            self._open.append(("hidden" if values.get("aria-hidden") == "true" else tag, part, [], []))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID or not self._open:
            return
        closed, part, texts, own = self._open.pop()
        # The texts of a lesson name the labels; its buttons are some.
        if closed != "hidden" and (part != "lesson" or closed in ("button", "summary", "a")):
            self._note(part, "".join(texts))
            self._note(part, "".join(own))
        if self._open and closed != "hidden":
            self._open[-1][2].extend(texts)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] not in ("script", "style", "kbd"):
            self._open[-1][2].append(data)
            self._open[-1][3].append(data)

    def _note(self, part: str, text: str) -> None:
        text = " ".join(text.split())
        if text and len(text) <= LONGEST:
            self.found.add((part, text))


def labels_of(html: str, part: str = "page") -> set[tuple[str, str]]:
    """Return the part and the text of all labels. part: that of the page itself."""
    reader = _Reader(part)
    reader.feed(html)
    return reader.found


def bold_in(html: str) -> Iterator[str]:
    """Yield the texts in bold."""
    for text in re.findall(r"<strong>(.*?)</strong>", html, re.S):
        yield re.sub(r"<[^>]+>", "", text)
