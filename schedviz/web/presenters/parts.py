"""Parts of a page: pieces of HTML that are replaced one by one.

A part's root element has an id and replaces the element with that id. Its name is a path: a part holds
every part whose name begins with its own and "/" ("nodes" holds "nodes/n12ab", which holds
"nodes/n12ab/verdict"), so whoever gets the outer one needs none of the inner ones. In the HTML of the outer
part a comment with the inner one's name stands where that belongs: ``<!--nodes/n12ab/verdict-->``.

Some parts are lists (:class:`Drawing.draw_list`). Their elements are rendered one by one, and what is sent of
a list that changed are the elements that came, changed or went (:class:`ListChange`).
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

from django.template import Context, Template
from django.template.loader import get_template
from django.utils.safestring import SafeString
from msgspec import Struct
from msgspec.structs import asdict

Parts = dict[str, SafeString]
"""Name to HTML, in the order in which to put them on the page."""

Elements = dict[str, str]
"""A list's elements: id to HTML, whose root element has that id, in the order of the page."""

NOTHING: Final = object()
PLACE: Final = re.compile(r"<!--([\w./-]+)-->")
"""Where an inner part stands in the HTML of the outer one. What users wrote is escaped, so none is theirs."""
ITEMS: Final = "<!--items-->"
"""Where the elements of a list stand in its HTML."""


class ListChange(SafeString):
    """What to do to a list on the page, whose elements are ``before``, so that they are ``after``; or the
    whole list where that is shorter.

    ``into`` is the id of the element that holds them, and ``around`` the part's HTML without them."""

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
        """An older change of the same part and this one as one."""
        if isinstance(older, ListChange):
            return ListChange.between(self.into, self.around, older.before, self.after)
        return self.whole()


def filled(around: str, elements: Elements) -> SafeString:
    return trusted(around.replace(ITEMS, "".join(elements.values())))


def edits(into: str, before: Elements, after: Elements) -> str | None:
    """Out-of-band swaps that make one list of the other; None where elements change their order."""
    if not before or [each for each in before if each in after] != [each for each in after if each in before]:
        return None
    gone = [each for each in before if each not in after]
    # Selectors of many elements are one swap.
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
    """An element that replaces the one with its id."""
    return swap(f"outerHTML:#{name}", html) if html.startswith("<tr") else html


def swap(how: str, html: str) -> str:
    """An out-of-band swap. Rows of tables are parsed in a template only; static/js/live.js takes them out."""
    return f'<template hx-swap-oob="{how}">{html}</template>'


class Listed(NamedTuple):
    """A list as last drawn."""

    into: str
    views: dict[str, Any]
    elements: dict[str, str]


class PartRenderer:
    """Views as last drawn. Views are values: equal views make equal HTML, so only a view that differs is
    drawn."""

    def __init__(self, base: str, *, past: bool = False) -> None:
        self.base = base
        self.past = past
        """Of a past moment nothing can be changed: templates leave out what would."""
        self._views: dict[str, Any] = {}
        self._html: Parts = {}
        self._lists: dict[str, Listed] = {}
        self._templates: dict[str, tuple[Context, Template]] = {}
        """Each with a context of its own. That keeps the templates that are included, and leaves numbers as
        they are: they have no other form in any of the languages, and looking for one takes time."""
        self._changed: dict[str, Elements | None] = {}
        """The parts that were drawn since the last call of :meth:`changes`; of a list of which only elements
        changed, those that it had."""

    def draw(self, name: str, template: str, view: Any, element: str = "") -> bool:
        """Whether the part differs from the last time. ``element``: the id of its root element, where the
        template does not say it itself."""
        known = self._views.get(name, NOTHING)
        if known is view or known == view:
            return False
        self._views[name] = view
        self._html[name] = self.render(template, view, element)
        self._changed.pop(name, None)  # a list of which only elements had changed
        self._changed[name] = None
        return True

    def draw_list(self, name: str, into: str, template: str, views: Mapping[str, Any]) -> bool:
        """Draw the elements of a part that :meth:`draw` has drawn. ``into`` is the id of the element that
        holds them; ``views`` has a view of each by its id, which the template gives it. Whether one differs.
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
        """``name``: the id of the root element. Templates that panels share find ``live`` set here."""
        if template not in self._templates:
            found: Template = get_template(template).template  # type: ignore[attr-defined]  # Django's own
            context = Context(use_l10n=False)
            context.template = found
            self._templates[template] = context, found
        context, compiled = self._templates[template]
        # Django looks for a key before an attribute, and finds that by an exception.
        named = asdict(view) if isinstance(view, Struct) else view
        # Neither has a sign that HTML would read.
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
        """What changed since the last call; nothing of a part that an outer one holds which changed, too."""
        changed, self._changed = self._changed, {}
        return {
            name: self.whole(name) if before is None else self._list_change(name, before)
            for name, before in changed.items()
            if not any(outer in changed and changed[outer] is None for outer in paths(name)[:-1])
        }

    def _list_change(self, name: str, before: Elements) -> ListChange:
        into, _, elements = self._lists[name]
        return ListChange.between(into, self._html[name], before, elements)

    def whole(self, name: str) -> SafeString:
        """A part with all that it holds."""
        html = self._html[name]
        if name in self._lists:
            html = filled(html, self._lists[name].elements)
        if "<!--" not in html:
            return html
        return trusted(PLACE.sub(lambda place: self.whole(place[1]) if place[1] in self._html else "", html))

    def all(self) -> Parts:
        """All parts that no other one holds."""
        return {name: self.whole(name) for name in self._html if "/" not in name}


def trusted(html: str) -> SafeString:
    """HTML that is put together from rendered templates."""
    return SafeString(html)


def merge(older: Parts, newer: Parts) -> Parts:
    """Two frames as one: the newest HTML of each part, and nothing that a newer outer part holds already."""
    kept = {name: html for name, html in older.items() if not any(path in newer for path in paths(name))}
    for name, html in newer.items():
        follows = name in older and isinstance(html, ListChange)
        kept[name] = html.following(older[name]) if follows else html  # type: ignore[attr-defined]  # follows says it
    return kept


@lru_cache(maxsize=20_000)
def paths(name: str) -> list[str]:
    """A part's name and the names of all that hold it: "a/b" -> ["a", "a/b"]."""
    pieces = name.split("/")
    return ["/".join(pieces[:length]) for length in range(1, len(pieces) + 1)]
