"""Parts of a page: pieces of HTML with an id, each replaced as a whole.

The root element of a part replaces the element with the same id. The name of a part is a path: "nodes"
contains "nodes/n12ab", which contains "nodes/n12ab/verdict". The HTML of a part that is sent includes the
parts that it contains. In the rendered template, a comment marks the position of a contained part:
``<!--nodes/n12ab/verdict-->``.

Some parts are lists (:meth:`PartRenderer.draw_list`). Their elements are rendered one by one. When a list
changes, only the new, changed and removed elements are sent (:class:`ListChange`).
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import Any, Final, NamedTuple

from django.template import Context, Template
from django.template.loader import get_template
from django.utils.safestring import SafeString
from msgspec import Struct
from msgspec.structs import asdict

Parts = dict[str, SafeString]
"""HTML by the name of the part, in the order in which the page takes them in."""

Elements = dict[str, str]
"""The elements of a list: HTML by the id of its root element, in the order of the page."""

NOTHING: Final = object()
PLACE: Final = re.compile(r"<!--([\w./-]+)-->")
"""The position of a contained part. Texts of users are escaped, so they cannot contain such a comment."""
DIGEST_BYTES: Final = 6
DIGEST_LENGTH: Final = 8
"""The number of characters of 6 bytes in Base64."""
ITEMS: Final = "<!--items-->"
"""The position of the elements of a list in its HTML."""


class ListChange(SafeString):
    """HTML that changes the elements of a list on the page from ``before`` to ``after``: swaps of single
    elements, or the whole list if that is shorter.

    ``into``: the id of the element that contains the elements. ``around``: the HTML of the part without
    them."""

    into: str
    around: str
    before: Elements
    after: Elements

    @classmethod
    def between(cls, into: str, around: str, before: Elements, after: Elements) -> "ListChange":
        html = edits(into, before, after)
        if html is None or len(html) >= len(around) + sum(map(len, after.values())):
            html = filled(around, after)
        change = cls(html)
        change.into, change.around, change.before, change.after = into, around, before, after
        return change

    def whole(self) -> SafeString:
        return filled(self.around, self.after)

    def following(self, older: SafeString) -> SafeString:
        """Merge this change with an older change of the same part."""
        if isinstance(older, ListChange):
            return ListChange.between(self.into, self.around, older.before, self.after)
        return self.whole()


def filled(around: str, elements: Elements) -> SafeString:
    return trusted(around.replace(ITEMS, "".join(elements.values())))


def edits(into: str, before: Elements, after: Elements) -> str | None:
    """Return the out-of-band swaps that change one list into the other; None if elements change their
    order."""
    if not before or [each for each in before if each in after] != [each for each in after if each in before]:
        return None
    gone = [each for each in before if each not in after]
    # One swap can delete many elements.
    html = [swap(f"delete:{','.join(f'#{each}' for each in gone)}", "")] if gone else []
    behind, last = "", next(reversed([*after]), "")
    for new, run in groupby(after, lambda each: each not in before):
        these = [*run]
        if not new:
            html += [in_place(each, after[each]) for each in these if after[each] != before[each]]
        elif not behind:
            html.append(swap(f"afterbegin:#{into}", "".join(after[each] for each in these)))
        else:
            where = f"beforeend:#{into}" if these[-1] == last else f"afterend:#{behind}"
            html.append(swap(where, "".join(after[each] for each in these)))
        behind = these[-1]
    return "".join(html)


def in_place(name: str, html: str) -> str:
    """Return HTML that replaces the element with this id."""
    return swap(f"outerHTML:#{name}", html) if html.startswith("<tr") else html


def swap(how: str, html: str) -> str:
    """Return an out-of-band swap. Browsers parse table rows only within a template element; static/js/live.js
    unpacks it."""
    return f'<template hx-swap-oob="{how}">{html}</template>'


class Listed(NamedTuple):
    """A list as last rendered."""

    into: str
    views: dict[str, Any]
    elements: dict[str, str]


class PartRenderer:
    """Renders parts from views, and keeps the last view of each. Equal views give equal HTML, so a part is
    rendered again only if its view differs."""

    def __init__(self, base: str, *, past: bool = False) -> None:
        self.base = base
        self.past = past
        """Whether a past moment is shown. Templates omit the controls that change the sandbox."""
        self._views: dict[str, Any] = {}
        self._html: Parts = {}
        self._lists: dict[str, Listed] = {}
        self._templates: dict[str, tuple[Context, Template]] = {}
        """The templates, each with its own context, which caches included templates. The context does not
        localize numbers: they are the same in all languages of the pages, and it takes time."""
        self._changed: dict[str, Elements | None] = {}
        """The parts that were rendered since the last call of :meth:`changes`. Value: for a list of which
        only elements changed, its elements at that call; otherwise None."""

    def draw(self, name: str, template: str, view: Any, element: str = "") -> bool:
        """Render a part if its view differs from the last one; return whether it does. element: the id of
        the root element, for a template that is used for several ids."""
        known = self._views.get(name, NOTHING)
        if known is view or known == view:
            return False
        self._views[name] = view
        self._html[name] = self.render(template, view, element)
        self._changed.pop(name, None)  # so that the part is at the end
        self._changed[name] = None
        return True

    def draw_list(self, name: str, into: str, template: str, views: Mapping[str, Any]) -> bool:
        """Render the elements of a list whose part :meth:`draw` has rendered; return whether one differs.

        into: the id of the element that contains them. views: the view of each element, by the element's id.
        """
        known = self._lists.get(name)
        if known is not None and known.views == views and [*known.views] == [*views]:
            return False
        before = known or Listed(into, {}, {})
        elements: dict[str, str] = {}
        for each, view in views.items():
            held = before.views.get(each, NOTHING)
            same = held is view or held == view
            elements[each] = before.elements[each] if same else self.render(template, view, each)
        self._lists[name] = Listed(into, {**views}, elements)
        self._changed.setdefault(name, before.elements if known else None)
        return True

    def render(self, template: str, view: Any, name: str = "") -> SafeString:
        """Render a template. name: the id of the root element. ``live`` in the context tells templates that
        panels use too that they are part of the live page."""
        if template not in self._templates:
            found: Template = get_template(template).template  # type: ignore[attr-defined]  # of Django's backend
            context = Context(use_l10n=False)
            context.template = found
            self._templates[template] = context, found
        context, compiled = self._templates[template]
        # As a dict, because Django tries a key before an attribute, and an exception takes time.
        named = asdict(view) if isinstance(view, Struct) else view
        # Neither contains a character that must be escaped.
        base, element = trusted(self.base), trusted(name)
        values = {"view": named, "base": base, "past": self.past, "id": element, "live": True}
        with context.update(values):
            return trusted(compiled.nodelist.render(context).strip())

    def forget(self, name: str) -> None:
        for known in (self._views, self._html, self._lists, self._changed):
            known.pop(name, None)

    def forget_all(self) -> None:
        for known in (self._views, self._html, self._lists, self._changed):
            known.clear()

    def names(self) -> list[str]:
        return [*self._html]

    def changes(self) -> Parts:
        """Return the parts that changed since the last call. A part within another one that changed is left
        out."""
        changed, self._changed = self._changed, {}
        return {
            name: self.whole(name) if before is None else self._list_change(name, before)
            for name, before in changed.items()
            if not any(outer in changed and changed[outer] is None for outer in paths(name)[:-1])
        }

    def _list_change(self, name: str, before: Elements) -> ListChange:
        into, _, elements = self._lists[name]
        return ListChange.between(into, self._with_parts(self._html[name]), before, elements)

    def whole(self, name: str) -> SafeString:
        """Return a part with the parts that it contains."""
        html = self._html[name]
        if name in self._lists:
            html = filled(html, self._lists[name].elements)
        return self._with_parts(html)

    def _with_parts(self, html: str) -> SafeString:
        """Return HTML with the parts that it contains. The position of a list's elements stays."""
        if "<!--" not in html:
            return trusted(html)
        return trusted(PLACE.sub(self._part_at, html))

    def _part_at(self, place: re.Match[str]) -> str:
        if place[0] == ITEMS:
            return ITEMS
        return self.whole(place[1]) if place[1] in self._html else ""

    def all(self) -> Parts:
        """Return all parts that are in no other part."""
        return {name: self.whole(name) for name in self._html if "/" not in name}


def trusted(html: str) -> SafeString:
    """Mark HTML as safe that was composed of rendered templates."""
    return SafeString(html)


def merge(older: Parts, newer: Parts) -> Parts:
    """Merge two frames: the newer HTML of each part. An older part within a newer one is left out, unless
    only the elements of the newer one changed."""
    whole = {name for name, html in newer.items() if not isinstance(html, ListChange)}
    kept = {
        name: html
        for name, html in older.items()
        if name not in newer and not any(path in whole for path in paths(name))
    }
    for name, html in newer.items():
        follows = name in older and isinstance(html, ListChange)
        kept[name] = html.following(older[name]) if follows else html  # type: ignore[attr-defined]  # follows checks it
    return kept


def digests(parts: Parts) -> str:
    """Return what a page says of the parts that it has when its websocket connects: their digests, without
    anything between them."""
    return "".join(digest(html) for html in parts.values())


def digest(html: str) -> str:
    return urlsafe_b64encode(blake2b(html.encode(), digest_size=DIGEST_BYTES).digest()).decode()


def missing_parts(parts: Parts, held: str) -> Parts:
    """Return the parts that a page does not have. held: its :func:`digests`."""
    known = {held[at : at + DIGEST_LENGTH] for at in range(0, len(held), DIGEST_LENGTH)}
    return {name: html for name, html in parts.items() if digest(html) not in known} if held else parts


@lru_cache(maxsize=20_000)
def paths(name: str) -> list[str]:
    """Return a part's name, after the names of the parts that contain it: "a/b" -> ["a", "a/b"]."""
    pieces = name.split("/")
    return ["/".join(pieces[:length]) for length in range(1, len(pieces) + 1)]
