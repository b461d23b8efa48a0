"""The live page of one sandbox as parts, drawn anew where the picture changed."""

from typing import Final

from schedviz.store.model import Clock

from . import cycle, informer, log, nodes, queue, transport
from . import format as fmt
from .board import PANEL, Board
from .parts import Drawing, Parts
from .picture import BudgetRecord, Picture
from .priority import Ranks

BUDGETS_AT_MOST: Final = 12


class Screen:
    """One sandbox's live page in the language active when it is drawn. ``base`` is the page's path,
    "/s/<name>/"."""

    def __init__(self, base: str) -> None:
        self.base = base
        self._drawing = Drawing(base)
        self._board = Board(base)
        self._ranks = Ranks(())

    def draw(self, picture: Picture, clock: Clock, dirty: set[str]) -> Parts:
        """The parts that changed since the last call; the first call gives them all. ``dirty`` names the
        nodes whose pods or own state changed meanwhile."""
        ranks = Ranks([*picture.user_classes().values(), *picture.priorities])
        if ranks.known != self._ranks.known:
            dirty = set(picture.nodes)
        self._ranks = ranks
        lanes = queue.lanes(picture, ranks)
        views = [
            ("lead", "parts/lead.html", picture.leader),
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
        changed = {
            name: self._drawing.html[name]
            for name, template, view in views
            if self._drawing.draw(name, template, view)
        }
        return changed | self._board.draw(picture, ranks, dirty)

    def whole(self) -> Parts:
        """Everything as last drawn."""
        return self._drawing.html | {PANEL: self._board.panel()}


def budgets(picture: Picture) -> list[tuple[str, BudgetRecord]]:
    """The first PodDisruptionBudgets by name."""
    found = sorted(picture.budgets.items())[:BUDGETS_AT_MOST]
    return [(fmt.pod_name(key), budget) for key, budget in found]
