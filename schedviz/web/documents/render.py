"""Renders the documents of the project (README.md, CONTRIBUTING.md, CHANGELOG.md, docs/) as HTML."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from django.conf import settings
from django.urls import reverse
from markdown_it import MarkdownIt
from markdown_it.token import Token

INDEX: Final = "README"
"""The document whose sections list all others."""
FOLDER: Final = "docs"
EXAMPLES: Final = "docs/examples"

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


class Heading(NamedTuple):
    level: int
    id: str
    text: str


class Document(NamedTuple):
    title: str
    html: str
    """The text below the title."""
    headings: list[Heading]
    """The headings below the title."""


@cache
def paths() -> dict[str, str]:
    """Return the name of each document in its URL -> its path in the project."""
    found = [
        *(f"{FOLDER}/{path.name}" for path in sorted((settings.FILES_DIR / FOLDER).glob("*.md"))),
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ]
    return {_slug(path): path for path in found}


@cache
def examples() -> dict[str, str]:
    """Return the name of each file to which documents lead -> its text."""
    folder = settings.FILES_DIR / EXAMPLES
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


@cache
def render_document(name: str) -> Document:
    """Render the document with this name of :func:`paths`."""
    path = paths()[name]
    tokens = _MARKDOWN.parse((settings.FILES_DIR / path).read_text())
    return _render(tokens, posixpath.dirname(path))


@cache
def render_index() -> Document:
    """Render the sections of the README that list the documents, without its beginning."""
    text = (settings.FILES_DIR / f"{INDEX}.md").read_text()
    return _render(_MARKDOWN.parse(text[text.index("## Learn") :]), "")


def _render(tokens: Sequence[Token], folder: str) -> Document:
    """Render a document. folder: of its file, from which its links begin."""
    title, rest = "", [*tokens]
    if rest[0].type == "heading_open" and rest[0].tag == "h1":
        title, rest = _plain(rest[1]), rest[3:]
    headings = _name_headings(rest)
    for token in rest:
        if token.children:
            token.children = [*_with_own_links(token.children, folder)]
    return Document(title, _MARKDOWN.renderer.render(rest, _MARKDOWN.options, {}), headings)


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give each heading the id that GitHub gives it, to which links lead. Return the headings."""
    found: dict[str, Heading] = {}
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            text = _plain(inline)
            stem = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = sum(each == stem or each.startswith(f"{stem}-") for each in found)
            name = f"{stem}-{count}" if stem in found else stem
            opened.attrSet("id", name)
            found[name] = Heading(int(opened.tag[1:]), name, text)
    return [*found.values()]


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if not child.nesting)


def _with_own_links(children: Sequence[Token], folder: str) -> Iterator[Token]:
    """Yield the tokens with links that lead to the pages of the documents. A link to any other file of the
    project becomes its text."""
    has_target = True
    for token in children:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href") or ""), folder)
            has_target = bool(address)
            token.attrSet("href", address)
            if address.startswith("http"):
                token.attrSet("rel", "noreferrer")
        if has_target or token.type not in ("link_open", "link_close"):
            yield token


def _address(target: str, folder: str) -> str:
    """Return the address of a link's target; "" = a file that is no page."""
    if target.startswith(("https://", "http://", "#")):
        return target
    path, mark, place = target.partition("#")
    whole = posixpath.normpath(posixpath.join(folder, path))
    if whole == f"{INDEX}.md":
        return reverse("documents") + mark + place
    if posixpath.dirname(whole) == EXAMPLES and posixpath.basename(whole) in examples():
        return reverse("document-example", args=[posixpath.basename(whole)])
    return reverse("document", args=[_slug(whole)]) + mark + place if _slug(whole) in paths() else ""


def _slug(path: str) -> str:
    return posixpath.basename(path).removesuffix(".md").lower().replace("_", "-")
