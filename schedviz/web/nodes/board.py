"""The nodes panel of the live page: cards, or cells for many nodes. Only changes are rendered."""

from typing import Final

from django.utils.safestring import SafeString
from msgspec.structs import replace

from schedviz.web.nodes import cards as nodes
from schedviz.web.nodes import device_slots, grid, groups
from schedviz.web.nodes.device_slots import PoolRow
from schedviz.web.parts.parts import PartRenderer, Parts, paths
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.reasons import verdicts
from schedviz.web.reasons.verdicts import NO_VERDICT, Verdict
from simulator.decision import Decision

PANEL: Final = "nodes"
JUDGED: Final = f"{PANEL}/judged"
GROUPING: Final = "grouping"


class NodesPanel:
    """The nodes panel of one sandbox, for one grouping of the nodes."""

    def __init__(self, base: str, by: str = "", *, past: bool = False) -> None:
        """by: the label that nodes are grouped by, as for :func:`groups.overview`."""
        self.by = by
        self.overview = groups.EMPTY
        self._drawing = PartRenderer(base, past=past)
        self._layout = -1
        self._verdicts: dict[str, Verdict] = {}
        self._judged: Decision | None = None
        self._totals: list[groups.Totals] = []
        self._chunks: dict[str, list[str]] = {}
        self._cells: dict[str, SafeString] = {}
        self._blocks: dict[str, nodes.Blocks] = {}
        """The blocks of each card, by node."""
        self._device_changes = 0
        """The number of changes of the picture's devices when the cards were last rendered."""
        self._place: dict[str, tuple[int, str]] = {}
        """Node -> the number of its group, and the name of its part."""

    def draw(self, picture: Picture, ranks: Ranks, dirty: set[str]) -> Parts:
        """Render and return the parts that changed. dirty: the nodes that changed, or whose pods did, since
        the last call."""
        moved = picture.layout != self._layout
        if moved:
            self._layout = picture.layout
            self._arrange(groups.overview(picture, self.by))
            self._drawing.draw(GROUPING, "nodes/grouping.html", groups.choices(picture, self.by))
            dirty = set(picture.nodes)
        dirty = dirty & picture.nodes.keys()
        draw = self._draw_cells if self.overview.dense else self._draw_cards
        draw(picture, ranks, dirty, moved)
        self._draw_headings(picture, dirty)
        return self._drawing.changes()

    def whole(self) -> Parts:
        """Return all parts as last rendered."""
        return self._drawing.all()

    def _arrange(self, overview: groups.NodeOverview) -> None:
        """Render the panel for another set of nodes or groups, and forget the parts that are not in it."""
        if overview.dense != self.overview.dense:
            self._drawing.forget_all()
            self._verdicts, self._judged = {}, None
        self.overview = overview
        self._cells = {}
        self._totals = [groups.Totals() for _ in overview.groups]
        self._chunks = grid.chunks(overview, PANEL) if overview.dense else {}
        chunk_of = {name: chunk for chunk, names in self._chunks.items() for name in names}
        self._place = {
            name: (place, chunk_of.get(name) or node_part(name))
            for place, group in enumerate(overview.groups)
            for name in group.nodes
        }
        self._blocks = {name: self._blocks.get(name) or nodes.Blocks() for name in self._place}
        held = [dict.fromkeys(self._place[name][1] for name in group.nodes) for group in overview.groups]
        known = {PANEL, JUDGED, GROUPING, *(name for names in held for name in names)}
        known |= {heading_part(place) for place in range(len(held))}
        for name in self._drawing.names():
            if known.isdisjoint(paths(name)[1:] or [name]):
                self._drawing.forget(name)
        panel = (
            self._layout,
            overview.size,
            [(heading_part(place), [*names]) for place, names in enumerate(held)],
        )
        self._drawing.draw(PANEL, "nodes/board.html", panel)

    def _draw_headings(self, picture: Picture, dirty: set[str]) -> None:
        touched = set()
        for name in dirty:
            place = self._place[name][0]
            self._totals[place].update(picture, name)
            touched.add(place)
        for place in sorted(touched):
            view = self._totals[place].heading(place, self.overview.groups[place])
            self._drawing.draw(heading_part(place), "nodes/heading.html", view)

    def _draw_cards(self, picture: Picture, ranks: Ranks, dirty: set[str], moved: bool) -> None:
        found, before = self._verdicts, self._verdicts
        if moved or picture.judging is not self._judged:
            self._judged = picture.judging
            self._verdicts = found = verdicts.verdicts(picture.judging)
        named = found.keys() | before.keys() if moved or found is not before else ()
        judged = {name for name in named if moved or found.get(name) != before.get(name)}
        changed = picture.devices.changed_since(self._device_changes)
        slots_of = picture.nodes.keys() & (dirty | changed) if changed is not None else picture.nodes
        self._device_changes = picture.devices.changes
        for name in sorted(dirty):
            self._draw_card(nodes.card(picture, ranks, name, self._blocks[name]))
        for name in sorted(slots_of):
            self._draw_devices(*device_slots.pool_rows(picture, ranks, picture.nodes[name]), name)
        for name in sorted(dirty | judged & picture.nodes.keys()):
            verdict = found.get(name, NO_VERDICT)
            element = f"{nodes.node_id(name)}-v"
            self._drawing.draw(f"{node_part(name)}/verdict", "nodes/verdict.html", verdict, element)

    def _draw_card(self, card: nodes.Card) -> None:
        """Render a card in several parts: a new pod changes only the list of blocks and the meters."""
        ident = card.id
        name, area = f"{PANEL}/{ident}", f"{ident}-s"
        frame = replace(card, blocks=[], more=0, nominated=[], meters=[])
        self._drawing.draw(name, "nodes/card.html", (frame, range(len(card.meters))))
        self._drawing.draw(f"{name}/pods", "nodes/pod_area.html", None, area)
        pods: dict[str, nodes.Block | nodes.More] = {
            nodes.block_id(ident, each.key): each for each in card.blocks
        }
        if card.more:
            pods[f"{ident}-r"] = nodes.More(card.more)
        pods |= {nodes.block_id(ident, each.key): each for each in card.nominated}
        self._drawing.draw_list(f"{name}/pods", area, "nodes/block.html", pods or {f"{ident}-f": None})
        for place, meter in enumerate(card.meters):
            self._drawing.draw(f"{name}/m{place}", "nodes/meter_row.html", meter, f"{ident}-m{place}")

    def _draw_devices(self, rows: list[PoolRow], more: nodes.More | None, node: str) -> None:
        """Render the devices of a card. A device that changed is one element of the list of its pool."""
        name, element = f"{node_part(node)}/devices", f"{nodes.node_id(node)}-d"
        if not rows:
            self._drawing.draw(name, "parts/absent.html", None, element)
            return
        places = [f"{name}/{place}" for place in range(len(rows))]
        self._drawing.draw(name, "nodes/card_devices.html", (places, more), element)
        for place, row in enumerate(rows):
            into = f"{element}{place}"
            frame = replace(row, slots={})
            self._drawing.draw(places[place], "nodes/pool_row.html", (frame, node), into)
            self._drawing.draw_list(places[place], f"{into}-s", "nodes/device_slot.html", row.slots)

    def _draw_cells(self, picture: Picture, ranks: Ranks, dirty: set[str], moved: bool) -> None:
        for name in dirty:
            self._cells[name] = grid.json(grid.cell(picture, ranks, name))
        for chunk in sorted({self._place[name][1] for name in dirty}):
            view = (chunk.removeprefix(f"{PANEL}/"), self._texts(chunk))
            self._drawing.draw(chunk, "nodes/cells.html", view)
        if moved or picture.judging != self._judged:
            self._judged = picture.judging
            verdicts_json = grid.json(grid.judged(picture.judging, self._place))
            self._drawing.draw(JUDGED, "nodes/judged.html", verdicts_json)

    def _texts(self, chunk: str) -> list[SafeString]:
        return [self._cells[name] for name in self._chunks[chunk]]


def node_part(name: str) -> str:
    return f"{PANEL}/{nodes.node_id(name)}"


def heading_part(place: int) -> str:
    """Return the name of the part with the heading of a group."""
    return f"{PANEL}/h{place}"
