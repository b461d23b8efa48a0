"""The nodes panel: cards, or chunks of cells where there are many nodes, drawn one by one as they change."""

from collections.abc import Iterable
from typing import Any, Final

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from simulator.decision import Decision

from . import grid, groups, nodes, verdicts
from .parts import Drawing, Parts
from .picture import Picture
from .priority import Ranks
from .verdicts import NO_VERDICT, Verdict

PANEL: Final = "nodes"
JUDGED: Final = f"{PANEL}/judged"
VERDICT_HERE: Final = "<!--verdict-->"
"""Where a card's HTML takes in its verdict: verdicts change with each cycle, cards much less often."""


class Board:
    """``by``: what nodes are grouped by (:mod:`groups`)."""

    def __init__(self, base: str, by: str = "", *, past: bool = False) -> None:
        self.base = base
        self.by = by
        self.past = past
        self.overview = groups.EMPTY
        self._drawing = Drawing(base, past=past)
        self._layout = -1
        self._verdicts: dict[str, Verdict] = {}
        self._judged: Decision | None = None
        self._totals: list[groups.Totals] = []
        self._chunks: dict[str, list[str]] = {}
        self._cells: dict[str, SafeString] = {}
        self._place: dict[str, tuple[int, str]] = {}
        """Node to its group's number and its part."""

    def draw(self, picture: Picture, ranks: Ranks, dirty: set[str]) -> Parts:
        """The parts that changed. ``dirty``: the nodes whose pods or own state changed since the last
        call."""
        moved = picture.layout != self._layout
        if moved:
            self._layout = picture.layout
            self._arrange(groups.overview(picture, self.by))
            self._drawing.draw("grouping", "parts/grouping.html", groups.choices(picture, self.by))
            dirty = set(picture.nodes)
        dirty = dirty & picture.nodes.keys()
        draw = self._draw_cells if self.overview.dense else self._draw_cards
        changed = draw(picture, ranks, dirty, moved) | self._draw_headings(picture, dirty)
        if not moved:
            return changed
        return {PANEL: self.panel(), "grouping": self._drawing.html["grouping"]}

    def whole(self) -> Parts:
        return {PANEL: self.panel(), "grouping": self._drawing.html["grouping"]}

    def panel(self) -> SafeString:
        """The whole panel as last drawn."""
        html = self._drawing.html
        members: dict[int, list[SafeString]] = {}
        if self.overview.dense:
            for chunk, names in self._chunks.items():
                members.setdefault(self._place[names[0]][0], []).append(html[chunk])
        else:
            for place, group in enumerate(self.overview.groups):
                members[place] = [self._card(name) for name in group.nodes]
        view = {
            "size": self.overview.size,
            "groups": [
                {"heading": html[heading(place)], "members": members[place]} for place in range(len(members))
            ],
            "judged": html.get(JUDGED, ""),
            "base": self.base,
            "past": self.past,
        }
        return render_to_string("parts/nodes.html", view)

    def _arrange(self, overview: groups.Overview) -> None:
        if overview.dense != self.overview.dense:
            self._drawing = Drawing(self.base, past=self.past)
            self._verdicts, self._judged = {}, None
        self.overview = overview
        self._cells = {}
        self._totals = [groups.Totals() for _ in overview.groups]
        self._chunks = grid.chunks(overview, PANEL) if overview.dense else {}
        chunk_of = {name: chunk for chunk, names in self._chunks.items() for name in names}
        self._place = {
            name: (place, chunk_of.get(name) or part(name))
            for place, group in enumerate(overview.groups)
            for name in group.nodes
        }
        known = {held for _, held in self._place.values()} | {JUDGED, "grouping"}
        known |= {heading(place) for place in range(len(overview.groups))}
        for name in [name for name in self._drawing.html if name.removesuffix("/verdict") not in known]:
            self._drawing.forget(name)

    def _draw_headings(self, picture: Picture, dirty: set[str]) -> Parts:
        touched = set()
        for name in dirty:
            place = self._place[name][0]
            self._totals[place].take(picture, name)
            touched.add(place)
        return self._changed(
            (
                heading(place),
                "parts/heading.html",
                self._totals[place].heading(place, self.overview.groups[place]),
            )
            for place in sorted(touched)
        )

    def _draw_cards(self, picture: Picture, ranks: Ranks, dirty: set[str], moved: bool) -> Parts:
        found = verdicts.verdicts(picture.decision)
        named = found.keys() | self._verdicts.keys()
        judged = {name for name in named if moved or found.get(name) != self._verdicts.get(name)}
        self._verdicts = found
        changed: Parts = {}
        for name in sorted(dirty | judged & picture.nodes.keys()):
            verdict = (nodes.node_id(name), found.get(name, NO_VERDICT))
            rejudged = self._drawing.draw(f"{part(name)}/verdict", "parts/verdict.html", verdict)
            if name in dirty and self._drawing.draw(
                part(name), "parts/card.html", nodes.card(picture, ranks, name)
            ):
                changed[part(name)] = self._card(name)
            elif rejudged:
                changed[f"{part(name)}/verdict"] = self._drawing.html[f"{part(name)}/verdict"]
        return changed

    def _card(self, name: str) -> SafeString:
        html, verdict = self._drawing.html[part(name)], self._drawing.html[f"{part(name)}/verdict"]
        return mark_safe(html.replace(VERDICT_HERE, verdict, 1))  # noqa: S308 - both are rendered templates

    def _draw_cells(self, picture: Picture, ranks: Ranks, dirty: set[str], moved: bool) -> Parts:
        for name in dirty:
            self._cells[name] = grid.json(grid.cell(picture, ranks, name))
        changed = self._changed(
            (chunk, "parts/cells.html", (chunk.removeprefix(f"{PANEL}/"), self._texts(chunk)))
            for chunk in sorted({self._place[name][1] for name in dirty})
        )
        if moved or picture.decision != self._judged:
            self._judged = picture.decision
            said = grid.json(grid.judged(picture.decision, self._place))
            changed |= self._changed([(JUDGED, "parts/judged.html", said)])
        return changed

    def _texts(self, chunk: str) -> list[SafeString]:
        return [self._cells[name] for name in self._chunks[chunk]]

    def _changed(self, views: Iterable[tuple[str, str, Any]]) -> Parts:
        return {
            name: self._drawing.html[name]
            for name, template, view in views
            if self._drawing.draw(name, template, view)
        }


def part(name: str) -> str:
    return f"{PANEL}/{nodes.node_id(name)}"


def heading(place: int) -> str:
    return f"{PANEL}/h{place}"
