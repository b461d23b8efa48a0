"""The parts of the live page of one sandbox. Only what changed is rendered again."""

from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from schedviz.store.model import Clock, Failure
from schedviz.web.clock import transport
from schedviz.web.cycle.panel import CyclePanel
from schedviz.web.guide import hint
from schedviz.web.leader import informer
from schedviz.web.log.log import Log
from schedviz.web.log.sentences import LogLine
from schedviz.web.nodes import cards as nodes
from schedviz.web.nodes import filter_result
from schedviz.web.nodes.board import NodesPanel
from schedviz.web.nodes.filter_query import cut_query
from schedviz.web.parts.parts import PartRenderer, Parts
from schedviz.web.past import timeline
from schedviz.web.past.timeline import MarkView, Timeline
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.picture.records import BudgetRecord
from schedviz.web.queue.lanes import Chip, GroupChip, LaneView, LaneViews
from schedviz.web.queue.order import TieView
from schedviz.web.text import format as fmt
from schedviz.web.text import node_names
from schedviz.web.text.mirror_trouble import Trouble, say_trouble
from simulator.client.informer import Pipeline

BUDGETS_AT_MOST: Final = 12
LABEL_AT_MOST: Final = 317
"""Maximum number of characters of the key of a label: 253 of its prefix, a slash, 63 of its name."""
FIND_SHARE: Final = 0.1
"""The share of the time for filters. One that took 50 ms, as with 50,000 pods, runs again after 0.5 s."""


class Look(NamedTuple):
    """The choices of a viewer: the grouping of the nodes (:mod:`groups`), the query of the filter, and
    whether the informer is shown."""

    group: str = ""
    query: str = ""
    informer: bool = False
    """Whether the informer is unfolded."""


DEFAULT: Final = Look()


def look(group: str, query: str, informer: str = "") -> Look:
    """Return the look that a browser requested, with its texts cut to their maximum length."""
    return Look(group.strip()[:LABEL_AT_MOST], cut_query(query), bool(informer))


class GroupItem(NamedTuple):
    """A group in a lane, and the chips in it with the ids of their elements."""

    group: GroupChip
    members: list[tuple[str, Chip]]


class FailureView(NamedTuple):
    said: Trouble
    again: str
    """The time of the next attempt: wall time of day, UTC. Of a mirror, the time since which it does not show
    the present state."""
    of_mirror: bool


class Screen:
    """The live page of one sandbox, in the language that is active when it is drawn, for all looks that
    viewers chose."""

    def __init__(self, base: str, *, past: bool = False) -> None:
        """base: the path of the page, "/s/<name>/", or of the page of a past moment."""
        self.base = base
        self.past = past
        self._drawing = PartRenderer(base, past=past)
        self._cycle = CyclePanel(self._drawing)
        self._log = Log(base)
        self._timeline = Timeline()
        self._lanes = LaneViews(sandbox_of(base))
        self._drawn_lanes: dict[str, LaneView] = {}
        self._drawn_marks: list[MarkView] | None = None
        self._drawn_lines: list[LogLine] | None = None
        self._informer = PartRenderer(base, past=past)
        self._pipeline: Pipeline | None = None
        self._boards: dict[str, NodesPanel] = {}
        self._finds: dict[Look, PartRenderer] = {}
        self._known = (-1, -1, -1)
        self._find_again = 0.0
        self._ranks = Ranks(())
        self._names = node_names.NO_NAMES
        """The names in use at the last drawing."""

    def _forget(self) -> None:
        """Render every part again at the next call of ``draw``."""
        self._drawing.forget_all()
        self._cycle, self._log, self._lanes = (
            CyclePanel(self._drawing),
            Log(self.base),
            LaneViews(sandbox_of(self.base)),
        )
        self._drawn_lanes, self._drawn_marks, self._drawn_lines = {}, None, None
        self._boards, self._finds = {}, {}

    def draw(
        self, picture: Picture, clock: Clock, dirty: set[str], looks: Iterable[Look] = ()
    ) -> dict[Look, Parts]:
        """Render and return the parts that changed since the last call, by look; all parts for a new look.
        The default look is always included. dirty: the nodes that changed, or whose pods did."""
        names = picture.node_names()
        if names != self._names:
            self._names, dirty = names, set(picture.nodes)
            self._forget()
        with node_names.using(names):
            return self._draw(picture, clock, dirty, {DEFAULT, *looks})

    def _draw(self, picture: Picture, clock: Clock, dirty: set[str], wanted: set[Look]) -> dict[Look, Parts]:
        ranks = Ranks([*picture.user_classes().values(), *picture.priorities])
        if ranks.known == self._ranks.known:
            ranks = self._ranks
        else:
            dirty = set(picture.nodes)
        self._ranks = ranks
        self._pipeline = picture.pipeline
        lanes = self._lanes.read(picture, ranks)
        common = self._common(picture, clock, lanes)
        informer = self._draw_informer() if any(look.informer for look in wanted) else {}
        groups = {look.group for look in wanted}
        self._boards = {
            by: self._boards.get(by) or NodesPanel(self.base, by, past=self.past) for by in groups
        }
        boards = {by: board.draw(picture, ranks, dirty) for by, board in self._boards.items()}
        finds = self._find(picture, lanes, wanted)
        return {
            look: common | boards[look.group] | finds[look] | (informer if look.informer else {})
            for look in wanted
        }

    def whole(self, look: Look = DEFAULT) -> Parts:
        """Return all parts of a look as last rendered."""
        self._draw_informer()
        common = self._drawing.all() | self._informer.all()
        return common | self._boards[look.group].whole() | self._finds[look].all()

    def found(self, look: Look) -> Parts:
        """Return the parts that change when a viewer chooses another filter, or unfolds the informer."""
        if not look.informer:
            return self._finds[look].all()
        self._draw_informer()
        return self._finds[look].all() | self._informer.all()

    def _draw_informer(self) -> Parts:
        """Render the informer. It changes with each object, so only viewers who unfolded it get it."""
        self._informer.draw("informer", "leader/informer.html", informer.present_stages(self._pipeline))
        return self._informer.changes()

    def _common(self, picture: Picture, clock: Clock, lanes: list[LaneView]) -> Parts:
        draw = self._drawing.draw
        draw("lead", "leader/lead.html", picture.leader)
        draw("failure", "leader/failure.html", failure(picture.failure))
        draw("hint", "guide/hint.html", hint.hint(picture, sandbox_of(self.base)))
        draw("transport", "clock/transport.html", transport.transport(picture, clock))
        draw("idle", "clock/idle.html", transport.idle(picture, clock))
        draw("until", "clock/until.html", transport.until(clock))
        draw("proposals", "clock/proposals.html", transport.proposals(picture))
        draw("legend", "queue/legend.html", self._ranks.legend(picture.classes))
        draw("budgets", "queue/budgets.html", budgets(picture))
        draw("queue_title", "queue/title.html", picture.stands_down)
        draw("cycle_tab", "cycle/tab.html", picture.stands_down)
        draw("pending", "queue/pending_count.html", sum(lane.count for lane in lanes))
        for lane in lanes:
            self._draw_lane(lane)
        draw("summary", "nodes/summary.html", (nodes.summary(picture), picture.name_patterns()))
        self._cycle.draw(picture, self._ranks)
        self._draw_timeline(self._timeline.marks(picture), stands_down=picture.stands_down)
        self._draw_log(self._log.lines(picture))
        return self._drawing.changes()

    def _draw_log(self, lines: list[LogLine]) -> None:
        if lines is self._drawn_lines:
            return
        self._drawn_lines = lines
        self._drawing.draw("log", "log/live.html", None)
        views = {f"l{line.seq}": line for line in lines}
        self._drawing.draw_list("log", "log", "log/line.html", views or {"l0": None})

    def _draw_lane(self, lane: LaneView) -> None:
        if self._drawn_lanes.get(lane.name) == lane:
            return
        self._drawn_lanes[lane.name] = lane
        name, place = f"lane-{lane.name}", f"pods-{lane.name}"
        self._drawing.draw(
            name, "queue/lane.html", replace(lane, chips=[], ties=[], groups={}, count=0, more=0)
        )
        self._drawing.draw(f"{name}/count", "queue/count.html", lane.count, f"count-{lane.name}")
        self._drawing.draw(f"{name}/pods", "queue/chips.html", lane.name)
        ties = {tie.first: tie for tie in lane.ties}
        chips: dict[str, Any] = {}
        for chip in lane.chips:
            if (group := lane.groups.get(chip.key)) is not None:
                members = [(nodes.block_id(lane.name, each.key), each) for each in group.chips]
                chips[nodes.block_id(lane.name, f"group {group.group}")] = GroupItem(group, members)
                continue
            if tie := ties.get(chip.key):
                chips[nodes.block_id("tie", tie.value)] = TieView(tie.rule, tie.explanation)
            chips[nodes.block_id(lane.name, chip.key)] = chip
        if lane.more:
            chips[f"more-{lane.name}"] = nodes.More(lane.more)
        self._drawing.draw_list(f"{name}/pods", place, "queue/chip.html", chips)

    def _draw_timeline(self, marks: list[MarkView], *, stands_down: bool) -> None:
        draw = self._drawing.draw
        draw("timeline", "past/timeline.html", {"marks": bool(marks), "stands_down": stands_down})
        if marks is self._drawn_marks:
            return
        self._drawn_marks = marks
        draw("timeline/marks", "past/marks.html", None)
        views = {f"m{mark.place}": mark for mark in marks}
        self._drawing.draw_list("timeline/marks", "marks", "past/mark.html", views)
        draw("timeline/counts", "past/counts.html", None)
        counts = {f"marks-{count.kind}": count for count in timeline.counts(marks)}
        self._drawing.draw_list("timeline/counts", "counts", "past/mark_count.html", counts)

    def _find(self, picture: Picture, lanes: list[LaneView], wanted: set[Look]) -> dict[Look, Parts]:
        """Return the results of the filters, by look. A filter reads all objects, so it runs again only after
        a change, and not too often."""
        began = monotonic()
        now = (picture.version, picture.seq, picture.moves)
        due = now != self._known and began >= self._find_again
        kept, self._finds = self._finds, {}
        changed: dict[Look, Parts] = {}
        for look in wanted:
            drawing = self._finds[look] = kept.get(look) or PartRenderer(self.base)
            if due or look not in kept:
                view = filter_result.present_found(
                    picture, look.query, self._boards[look.group].overview, lanes
                )
                drawing.draw("found", "nodes/found.html", view)
            changed[look] = drawing.changes()
        if due:
            self._known = now
            self._find_again = began + (monotonic() - began) / FIND_SHARE
        return changed


def sandbox_of(base: str) -> str:
    """Return the name of the sandbox in the path of its page, "/s/<name>/", or of the page of a past
    moment."""
    return base.partition("/s/")[2].partition("/")[0]


def failure(known: Failure | None) -> FailureView | None:
    if known is None:
        return None
    shown = known.again or known.at
    said = Trouble(known.message, is_english=True) if known.again else say_trouble(known.message)
    return FailureView(said, f"{datetime.fromtimestamp(shown, UTC):%H:%M:%S}", of_mirror=not known.again)


def budgets(picture: Picture) -> list[tuple[str, BudgetRecord]]:
    """Return the first PodDisruptionBudgets by name."""
    found = sorted(picture.budgets.items())[:BUDGETS_AT_MOST]
    return [(fmt.pod_name(key), budget) for key, budget in found]
