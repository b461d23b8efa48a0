"""The panel of the newest cycle on the live page.

It consists of many small parts, such as one row of the filter matrix or one score, because most of them are
equal in the next cycle and are not rendered again."""

from functools import lru_cache
from operator import is_
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from schedviz.web.cycle import cycle
from schedviz.web.cycle.cycle import CycleView
from schedviz.web.cycle.filter_matrix import Matrix
from schedviz.web.cycle.score_table import ScoreCell, ScoreRow, Scores
from schedviz.web.nodes import cards as nodes
from schedviz.web.outside.panel import outside_acts
from schedviz.web.outside.verdicts import verdict_summary
from schedviz.web.parts.parts import PartRenderer
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.pod_groups.cycle import present_group_cycle
from schedviz.web.pod_groups.cycles import cycle_of_member

PANEL: Final = "cycle"
PIECES: Final = (
    "title",
    "earlier",
    "steps",
    "subject",
    "group",
    "sample",
    "preemption",
    "play",
    "devices",
    "scores",
    "matrix",
)
OUTSIDE: Final = ("outside", "acts")
"""The pieces while the sandbox's scheduler stands down."""
BLANK: Final = ScoreCell("", 0, 0, 0, 0, 0)


class ScorePiece(msgspec.Struct, frozen=True):
    """One cell of the score table. ``place``: its row, from 0."""

    place: int
    cell: ScoreCell


class CyclePanel:
    """Renders the parts of the panel with the renderer of the page."""

    def __init__(self, drawing: PartRenderer) -> None:
        self._drawing = drawing
        self._known: tuple[Any, ...] = ()
        """The values from which the panel was rendered last."""

    def draw(self, picture: Picture, ranks: Ranks) -> None:
        """Render the parts that changed."""
        if picture.stands_down:
            self._draw_outside(picture)
            return
        decision = picture.decision
        entry = picture.queue_places.get(decision.pod) if decision else None
        # Without a decision, the text depends on the last events; so do the passes of a group.
        of_group = decision is not None and bool(picture.group_of(decision.pod))
        seq = picture.seq if decision is None or of_group else None
        known = (decision, picture.under_way, picture.preemption, entry, ranks, picture.node_names(), seq)
        if len(known) == len(self._known) and all(map(is_, known, self._known)):
            return
        self._known = known
        view = cycle.cycle(picture, ranks)
        if view is None:
            self._drawing.draw(PANEL, "cycle/no_cycle.html", cycle.no_decision(picture))
            return
        self._drawing.draw(PANEL, "cycle/live.html", PIECES)
        found = cycle_of_member(picture.trace, view.cycle) if of_group else None
        self._optional("group", "pod_groups/live.html", present_group_cycle(found) if found else None)
        self._draw(view)

    def _draw_outside(self, picture: Picture) -> None:
        """Render what an outside scheduler did, instead of a cycle."""
        known = ("outside", picture.seq, picture.node_names())
        if known == self._known:
            return
        self._known = known
        self._drawing.draw(PANEL, "cycle/live.html", OUTSIDE)
        acts = outside_acts(picture)
        last = picture.decision.cycle if picture.decision else 0
        verdicts = verdict_summary(event for _, event in picture.trace)
        head = {"acts": bool(acts), "last_cycle": last, "mirrors": picture.mirrors, "verdicts": verdicts}
        self._piece("outside", "outside/head.html", head)
        self._piece("acts", "outside/acts.html", None)
        views = {f"act-{act.seq}": act for act in acts}
        self._drawing.draw_list(f"{PANEL}/acts", "cycle-acts", "outside/act.html", views)

    def _draw(self, view: CycleView) -> None:
        self._piece("title", "cycle/title.html", fields_of(view, "cycle", "time", "ended"))
        self._optional("earlier", "cycle/earlier.html", view.earlier)
        self._piece("steps", "cycle/steps.html", None)
        steps = {f"step-{step.name}": step for step in view.steps}
        self._drawing.draw_list(f"{PANEL}/steps", "cycle-steps", "cycle/step.html", steps)
        self._subject(view)
        self._optional("sample", "cycle/sampled.html", view.sample or None)
        self._optional("preemption", "cycle/preemption.html", view.preemption)
        played = view.preemption is not None and bool(view.preemption.chosen)
        self._optional("play", "cycle/to_play.html", view.cycle if played else None)
        self._optional("devices", "cycle/to_devices.html", view.cycle if view.device_reasons else None)
        if view.scores:
            self._scores(view.scores)
        else:
            self._optional("scores", "cycle/live_scores.html", None)
        if view.matrix:
            self._matrix(view.matrix)
        else:
            self._optional("matrix", "cycle/matrix.html", None)

    def _optional(self, name: str, template: str, view: Any) -> None:
        """Render a piece that not every cycle has; without a view, an empty element with its id."""
        self._piece(name, "parts/absent.html" if view is None else template, view)

    def _piece(self, name: str, template: str, view: Any) -> None:
        part, element = part_and_element(name)
        self._drawing.draw(part, template, view, element)

    def _subject(self, view: CycleView) -> None:
        names = ("rank", "requests", "priority", "attempt", "profile", "message")
        # The cycle names the message; without one, the line is the same in many cycles.
        subject = fields_of(view, *names) | {"cycle": view.cycle if view.message else 0}
        self._piece("subject", "cycle/subject.html", subject)
        self._piece("subject/pod", "cycle/subject_pod.html", fields_of(view, "pod", "label"))
        self._piece("subject/headline", "cycle/headline.html", fields_of(view, "outcome", "headline"))

    def _scores(self, scores: Scores) -> None:
        table = replace(
            scores,
            rows=[ScoreRow("", [BLANK] * len(scores.plugins), 0)] * len(scores.rows),
            sentence="",
        )
        self._piece("scores", "cycle/live_scores.html", table)
        self._piece("scores/sentence", "cycle/sentence_of_scores.html", scores.sentence)
        for place, row in enumerate(scores.rows):
            self._piece(f"scores/n{place}", "cycle/score_node.html", row.node)
            self._piece(f"scores/t{place}", "cycle/total.html", row.total)
            for number, cell in enumerate(row.cells):
                self._piece(f"scores/{place}-{number}", "cycle/live_score.html", ScorePiece(place, cell))

    def _matrix(self, matrix: Matrix) -> None:
        table = replace(matrix, rows=[], feasible=0, total=min(matrix.total, 1), meanings=[], looked_at=0)
        self._piece("matrix", "cycle/matrix.html", table)
        self._piece("matrix/fit", "cycle/fit.html", fields_of(matrix, "feasible", "total", "looked_at"))
        if matrix.total:
            self._optional("matrix/meanings", "cycle/meanings.html", matrix.meanings or None)
        rows = {nodes.block_id("row", row.node): row for row in matrix.rows}
        self._drawing.draw_list(f"{PANEL}/matrix", "filter-rows", "cycle/filter_row.html", rows)


def fields_of(view: msgspec.Struct, *names: str) -> dict[str, Any]:
    """Return some fields of a view, for a part that prints only these."""
    return {name: getattr(view, name) for name in names}


@lru_cache(maxsize=1_000)
def part_and_element(piece: str) -> tuple[str, str]:
    """Return the name of a piece's part, and the id of its root element."""
    return f"{PANEL}/{piece}", f"cycle-{piece.replace('/', '-')}"
