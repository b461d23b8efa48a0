"""Parts of a page: pieces of HTML that are replaced one by one.

A part's root element has an id and replaces the element with that id. Its name is a path: a part holds
every part whose name begins with its own and "/" ("nodes" holds "nodes/n12ab", which holds
"nodes/n12ab/verdict"), so whoever gets the outer one needs none of the inner ones.
"""

from typing import Any, Final

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

Parts = dict[str, SafeString]
"""Name to HTML, in the order in which to put them on the page."""

NOTHING: Final = object()


class Drawing:
    """Views as last drawn. Views are values: equal views make equal HTML, so only a view that differs is
    drawn."""

    def __init__(self, base: str, *, past: bool = False) -> None:
        self.base = base
        self.past = past
        """Of a past moment nothing can be changed: templates leave out what would."""
        self.html: Parts = {}
        self._views: dict[str, Any] = {}

    def draw(self, name: str, template: str, view: Any) -> bool:
        """Whether the part differs from the last time; its HTML is then in ``html``."""
        if self._views.get(name, NOTHING) == view:
            return False
        self._views[name] = view
        self.html[name] = render_to_string(template, {"view": view, "base": self.base, "past": self.past})
        return True

    def forget(self, name: str) -> None:
        self._views.pop(name, None)
        self.html.pop(name, None)


def merge(older: Parts, newer: Parts) -> Parts:
    """Two frames as one: the newer HTML of each part, and nothing that a newer outer part holds already."""
    kept = {name: html for name, html in older.items() if not any(path in newer for path in paths(name))}
    return kept | newer


def paths(name: str) -> list[str]:
    """A part's name and the names of all that hold it: "a/b" -> ["a", "a/b"]."""
    pieces = name.split("/")
    return ["/".join(pieces[:length]) for length in range(1, len(pieces) + 1)]
