"""The live page of one sandbox as parts, drawn anew where the picture changed."""

from collections.abc import Iterable
from time import monotonic
from typing import Final, NamedTuple

from schedviz.store.model import Clock

from . import cycle, found, hint, informer, log, nodes, queue, transport
from . import format as fmt
from .board import Board
from .find import QUERY_AT_MOST
from .parts import Drawing, Parts
from .picture import BudgetRecord, Picture
from .priority import Ranks
from .queue import LaneView

BUDGETS_AT_MOST: Final = 12
LABEL_AT_MOST: Final = 317
"""Characters of a label's key: 253 of its domain, 63 of its name."""
FIND_SHARE: Final = 0.1
"""Of the time, for filters: one that took 50 ms, as of 50,000 pods, is done again after half a second."""


class Look(NamedTuple):
    """What a viewer chose for its page: what nodes are grouped by (:mod:`groups`), and the filter's text."""

    group: str = ""
    query: str = ""


DEFAULT: Final = Look()


def look(group: str, query: str) -> Look:
    """What a browser asked for, within bounds."""
    return Look(group.strip()[:LABEL_AT_MOST], " ".join(query.split())[:QUERY_AT_MOST])


class Screen:
    """One sandbox's live page in the language active when it is drawn, once for each look that somebody
    chose. ``base`` is the page's path, "/s/<name>/", or that of a past moment."""

    def __init__(self, base: str, *, past: bool = False) -> None:
        self.base = base
        self.past = past
        self._drawing = Drawing(base, past=past)
        self._boards: dict[str, Board] = {}
        self._finds: dict[Look, Drawing] = {}
        self._known = (-1, -1, -1)
        self._find_again = 0.0
        self._ranks = Ranks(())

    def draw(
        self, picture: Picture, clock: Clock, dirty: set[str], looks: Iterable[Look] = ()
    ) -> dict[Look, Parts]:
        """The parts that changed since the last call, by look (the default one is always among them); the
        first call gives all of a look. ``dirty`` names the nodes whose pods or own state changed
        meanwhile."""
        wanted = {DEFAULT, *looks}
        ranks = Ranks([*picture.user_classes().values(), *picture.priorities])
        if ranks.known != self._ranks.known:
            dirty = set(picture.nodes)
        self._ranks = ranks
        lanes = queue.lanes(picture, ranks)
        common = self._common(picture, clock, lanes)
        groups = {look.group for look in wanted}
        self._boards = {by: self._boards.get(by) or Board(self.base, by, past=self.past) for by in groups}
        boards = {by: board.draw(picture, ranks, dirty) for by, board in self._boards.items()}
        finds = self._find(picture, lanes, wanted)
        return {look: common | boards[look.group] | finds[look] for look in wanted}

    def whole(self, look: Look = DEFAULT) -> Parts:
        """Everything as last drawn."""
        return self._drawing.html | self._boards[look.group].whole() | self._finds[look].html

    def found(self, look: Look) -> Parts:
        return self._finds[look].html

    def _common(self, picture: Picture, clock: Clock, lanes: list[LaneView]) -> Parts:
        ranks = self._ranks
        views = [
            ("lead", "parts/lead.html", picture.leader),
            ("hint", "parts/hint.html", hint.hint(picture)),
            ("transport", "parts/transport.html", transport.transport(picture, clock)),
            ("until", "parts/until.html", transport.until(clock)),
            ("proposals", "parts/proposals.html", transport.proposals(picture)),
            ("legend", "parts/legend.html", ranks.legend(picture.classes)),
            ("budgets", "parts/budgets.html", budgets(picture)),
            ("pending", "parts/pending.html", sum(lane.count for lane in lanes)),
            *((f"lane-{lane.name}", "parts/lane.html", lane) for lane in lanes),
            ("summary", "parts/summary.html", nodes.summary(picture)),
            ("cycle", "parts/cycle.html", cycle.cycle(picture, ranks)),
            ("informer", "parts/informer.html", informer.strip(picture.pipeline)),
            ("timeline", "parts/timeline.html", log.timeline(picture)),
            ("log", "parts/log.html", log.lines(picture, self.base)),
        ]
        return {
            name: self._drawing.html[name]
            for name, template, view in views
            if self._drawing.draw(name, template, view)
        }

    def _find(self, picture: Picture, lanes: list[LaneView], wanted: set[Look]) -> dict[Look, Parts]:
        """The filters' findings, by look. Each takes a look at all objects, so they are looked for anew
        only where something changed, and not too often."""
        began = monotonic()
        now = (picture.version, picture.seq, picture.moves)
        due = now != self._known and began >= self._find_again
        kept, self._finds = self._finds, {}
        changed: dict[Look, Parts] = {}
        for look in wanted:
            drawing = self._finds[look] = kept.get(look) or Drawing(self.base)
            changed[look] = {}
            if due or look not in kept:
                view = found.found(picture, look.query, self._boards[look.group].overview, lanes)
                if drawing.draw("found", "parts/found.html", view):
                    changed[look] = drawing.html.copy()
        if due:
            self._known = now
            self._find_again = began + (monotonic() - began) / FIND_SHARE
        return changed


def budgets(picture: Picture) -> list[tuple[str, BudgetRecord]]:
    """The first PodDisruptionBudgets by name."""
    found = sorted(picture.budgets.items())[:BUDGETS_AT_MOST]
    return [(fmt.pod_name(key), budget) for key, budget in found]
