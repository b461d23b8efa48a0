"""A page as a tree, and the out-of-band swaps that frames make on it."""

from collections.abc import Iterable
from html.parser import HTMLParser

VOID = ("input", "br", "wbr", "img")


class Element:
    def __init__(self, tag: str, ident: str, swap: str) -> None:
        self.tag, self.ident, self.swap = tag, ident, swap
        self.parent: Element | None = None
        self.children: list[Element | str] = []

    def find(self, ident: str) -> "Element | None":
        if self.ident == ident:
            return self
        inner = (child for child in self.children if isinstance(child, Element))
        return next((found for child in inner if (found := child.find(ident))), None)

    def put(self, place: int, new: "Iterable[Element | str]") -> None:
        added = [*new]
        self.children[place:place] = added
        for child in added:
            if isinstance(child, Element):
                child.parent = self

    def __str__(self) -> str:
        return f"<{self.tag} {self.ident}>{''.join(map(str, self.children))}</{self.tag}>"


class Tree(HTMLParser):
    """HTML as elements with their ids, tags and texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.root = self._at = Element("root", "", "")
        self.feed(html)
        assert self._at is self.root, html

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in VOID:
            self._at.put(len(self._at.children), [self.get_starttag_text() or ""])
            return
        new = Element(tag, given.get("id") or "", given.get("hx-swap-oob") or "")
        self._at.put(len(self._at.children), [new])
        self._at = new

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._at.put(len(self._at.children), [self.get_starttag_text() or ""])

    def handle_endtag(self, tag: str) -> None:
        assert self._at.tag == tag
        assert self._at.parent is not None
        self._at = self._at.parent

    def handle_data(self, data: str) -> None:
        self._at.children.append(data)


class Page:
    """What a browser shows: htmx's out-of-band swaps (htmx 2, oobSwap) as far as frames use them."""

    def __init__(self, html: str) -> None:
        self.root = Tree(html).root

    def take(self, frame: Iterable[str]) -> None:
        for element in Tree("".join(frame)).root.children:
            if isinstance(element, str):
                continue
            how, _, selector = element.swap.partition(":")
            wrapped = element.tag == "template"
            idents = [each.removeprefix("#") for each in selector.split(",")] if wrapped else [element.ident]
            for ident in idents:
                target = self.root.find(ident)
                assert target is not None, f"htmx logs an error for a swap without a target: {ident}"
                assert target.parent is not None
                siblings, place = target.parent, target.parent.children.index(target)
                if how == "delete":
                    del siblings.children[place]
                elif how == "afterbegin":
                    target.put(0, element.children)
                elif how == "beforeend":
                    target.put(len(target.children), element.children)
                elif how == "afterend":
                    siblings.put(place + 1, element.children)
                else:
                    del siblings.children[place]
                    siblings.put(place, element.children if wrapped else [element])

    def __str__(self) -> str:
        return str(self.root)
