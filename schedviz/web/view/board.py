"""The nodes panel: cards, or chunks of cells where there are many nodes, drawn one by one as they change."""

from typing import Final

from django.template.loader import render_to_string
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from . import nodes, verdicts
from .nodes import Overview
from .parts import Drawing, Parts
from .picture import Picture
from .priority import Ranks
from .verdicts import NO_VERDICT, Verdict

PANEL: Final = "nodes"
VERDICT_HERE: Final = "<!--verdict-->"
"""Where a card's HTML takes in its verdict: verdicts change with each cycle, cards much less often."""


class Board:
    def __init__(self, base: str) -> None:
        self.base = base
        self._drawing = Drawing(base)
        self._overview = Overview(dense=False, zones=[])
        self._layout = -1
        self._verdicts: dict[str, Verdict] = {}
        self._chunks: dict[str, list[str]] = {}
        self._chunk_of: dict[str, str] = {}

    def draw(self, picture: Picture, ranks: Ranks, dirty: set[str]) -> Parts:
        """The parts that changed. ``dirty``: the nodes whose pods or own state changed since the last
        call."""
        moved = picture.layout != self._layout
        if moved:
            self._layout = picture.layout
            self._arrange(nodes.overview(picture))
            dirty = set(picture.nodes)
        found = verdicts.verdicts(picture.decision, outcome_only=self._overview.dense)
        named = found.keys() | self._verdicts.keys()
        judged = {name for name in named if found.get(name) != self._verdicts.get(name)}
        self._verdicts = found
        draw = self._draw_cells if self._overview.dense else self._draw_cards
        changed = draw(picture, ranks, dirty & picture.nodes.keys(), judged & picture.nodes.keys())
        return {PANEL: self.panel()} if moved else changed

    def panel(self) -> SafeString:
        """The whole panel as last drawn."""
        groups = []
        for place, zone in enumerate(self._overview.zones):
            if self._overview.dense:
                drawn = [
                    self._drawing.html[chunk]
                    for chunk in self._chunks
                    if chunk.startswith(f"{PANEL}/g{place}-")
                ]
            else:
                drawn = [self._card(name) for name in zone.nodes]
            groups.append(
                {
                    "name": zone.name,
                    "count": len(zone.nodes),
                    "html": format_html_join("", "{}", ((html,) for html in drawn)),
                }
            )
        return render_to_string(
            "parts/nodes.html", {"size": nodes.size(self._overview), "groups": groups, "base": self.base}
        )

    def _arrange(self, overview: Overview) -> None:
        if overview.dense != self._overview.dense:
            self._drawing = Drawing(self.base)
        self._overview = overview
        self._chunks = nodes.chunks(overview, PANEL) if overview.dense else {}
        self._chunk_of = {name: chunk for chunk, names in self._chunks.items() for name in names}
        known = self._chunks or {part(name) for zone in overview.zones for name in zone.nodes}
        for name in [name for name in self._drawing.html if name.removesuffix("/verdict") not in known]:
            self._drawing.forget(name)

    def _draw_cards(self, picture: Picture, ranks: Ranks, dirty: set[str], judged: set[str]) -> Parts:
        changed: Parts = {}
        for name in sorted(dirty | judged):
            verdict = (nodes.node_id(name), self._verdicts.get(name, NO_VERDICT))
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

    def _draw_cells(self, picture: Picture, ranks: Ranks, dirty: set[str], judged: set[str]) -> Parts:
        changed: Parts = {}
        for chunk in sorted({self._chunk_of[name] for name in dirty | judged}):
            cells = [
                nodes.cell(picture, ranks, name, self._verdicts.get(name, NO_VERDICT))
                for name in self._chunks[chunk]
            ]
            if self._drawing.draw(chunk, "parts/cells.html", (chunk.removeprefix(f"{PANEL}/"), cells)):
                changed[chunk] = self._drawing.html[chunk]
        return changed


def part(name: str) -> str:
    return f"{PANEL}/{nodes.node_id(name)}"
