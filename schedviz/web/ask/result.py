"""The answer of a question as the values that its page prints."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from django.utils.translation import gettext

from schedviz.web.text.node_names import node_name
from simulator import question_words as words
from simulator.objects.amount_text import amount_text
from simulator.questions.answer import Answer, NodeUse, Sentence, ZoneUse
from simulator.questions.node_use import RESOURCES
from simulator.questions.tables import ZONES, AnswerTable, tables_of

ROWS_AT_MOST: Final = 100
"""Maximum number of rows of a table on the page; the files have all."""
CARDS_AT_MOST: Final = 48
"""Maximum number of nodes on each of the two boards."""
NODE_COLUMNS: Final = ("node", "to")
NODE_VALUES: Final = ("node", "names")
"""The values of sentences that are names of nodes."""
NUMBER_COLUMNS: Final = ("count", "nodes", "order", "pending", "pods", "priority", "run", "cost")
SHORT_COLUMNS: Final = ("after", "at", "because", "ran_again", "removable", "state", "time", "waited")
"""Columns of times and of single words, which are not broken."""
MESSAGE_COLUMNS: Final = ("why", "reason")
"""Columns with texts of Kubernetes, which are in English."""
CHARACTERS_OF_COLUMN: Final = 60
"""Maximum number of characters of a text of Kubernetes in a column."""


class Bar(NamedTuple):
    """How full something is, in percent."""

    resource: str
    before: int
    after: int
    free_before: str
    free_after: str
    allocatable: str

    @property
    def more(self) -> int:
        """The part that is added."""
        return max(self.after - self.before, 0)

    @property
    def less(self) -> int:
        return max(self.before - self.after, 0)

    @property
    def common(self) -> int:
        return min(self.before, self.after)


class ZoneView(NamedTuple):
    zone: str
    nodes: int
    bars: list[Bar]


class CardView(NamedTuple):
    """A node on both boards."""

    node: str
    zone: str
    change: str
    """What happens to the node, in words; "" = it only has other pods."""
    kind: str
    bars: list[Bar]
    pods_before: int
    pods_after: int


class Cell(NamedTuple):
    text: str
    kind: str
    """``n`` for a number, ``node``, ``short``, ``en`` for a text of Kubernetes; "" = any other."""


class Row(NamedTuple):
    cells: list[Cell]
    message: str
    """A text of Kubernetes that is too long for a column, below the row; "" = there is none."""


class TableView(NamedTuple):
    name: str
    title: str
    heads: list[tuple[str, bool]]
    """The title of each column, and whether it has numbers."""
    rows: list[Row]
    more: int
    """The number of rows that are not on the page."""


class AnswerView(NamedTuple):
    sentences: list[str]
    notes: list[str]
    zones: list[ZoneView]
    cards: list[CardView]
    more_cards: int
    tables: list[TableView]


def present_answer(answer: Answer) -> AnswerView:
    changed = [node for node in answer.nodes if node.change or node.before != node.after]
    changed.sort(key=lambda node: (node.zone, node.node))
    tables = [present_table(table) for table in tables_of(answer) if table.name != ZONES]
    return AnswerView(
        sentences=[said(each) for each in answer.summary],
        notes=[said(each) for each in answer.notes],
        zones=[_zone(zone) for zone in answer.zones],
        cards=[_card(node) for node in changed[:CARDS_AT_MOST]],
        more_cards=max(len(changed) - CARDS_AT_MOST, 0),
        tables=tables,
    )


def said(sentence: Sentence) -> str:
    """Return a sentence in the language of the page, with the short names of nodes."""
    values = {
        name: ", ".join(map(node_name, value.split(", "))) if name in NODE_VALUES else value
        for name, value in sentence.values.items()
    }
    return gettext(sentence.text) % values


CHANGES: Final = {"added": words.ADDED, "drained": words.DRAINED_NODE, "removed": words.REMOVED_NODE, "": ""}


def _card(node: NodeUse) -> CardView:
    change = CHANGES[node.change]
    return CardView(
        node.node,
        node.zone,
        gettext(change) if change else "",
        node.change,
        [*_bars(node)],
        node.before["pods"],
        node.after["pods"],
    )


def _zone(zone: ZoneUse) -> ZoneView:
    return ZoneView(zone.zone, zone.nodes, [*_bars(zone)])


def _bars(of: NodeUse | ZoneUse) -> Iterator[Bar]:
    for resource in RESOURCES:
        whole = of.allocatable.get(resource, 0)
        before, after = (
            min(100 * used.get(resource, 0) // (whole or 1), 100) for used in (of.before, of.after)
        )
        then, now = (amount_text(resource, whole - used.get(resource, 0)) for used in (of.after, of.before))
        yield Bar(resource, before, after, now, then, amount_text(resource, whole))


def present_table(table: AnswerTable) -> TableView:
    kinds = [_kind(column) for column in table.columns]
    rows = table.rows[:ROWS_AT_MOST]
    long = next(
        (
            index
            for index, kind in enumerate(kinds)
            if kind == "en" and any(len(row[index]) > CHARACTERS_OF_COLUMN for row in rows)
        ),
        None,
    )
    shown = [index for index in range(len(kinds)) if index != long]
    return TableView(
        table.name,
        gettext(words.ANSWER_TABLES[table.name]),
        [(gettext(words.ANSWER_COLUMNS[table.columns[index]]), kinds[index] == "n") for index in shown],
        [
            Row(
                [Cell(_shown(row[index]), kinds[index]) for index in shown],
                "" if long is None else _shown(row[long]),
            )
            for row in rows
        ],
        max(len(table.rows) - ROWS_AT_MOST, 0),
    )


def _kind(column: str) -> str:
    if column in NODE_COLUMNS:
        return "node"
    if column in NUMBER_COLUMNS:
        return "n"
    if column in SHORT_COLUMNS:
        return "short"
    return "en" if column in MESSAGE_COLUMNS else ""


def _shown(text: str) -> str:
    return gettext(text) if text in words.ANSWER_VALUES else text
