"""The lists of an answer as tables of text, in the order of its fields."""

from collections.abc import Iterator
from typing import Final

import msgspec

from simulator import question_words as words
from simulator.objects.amount_text import amount_text
from simulator.questions.answer import Answer, ZoneUse
from simulator.questions.node_use import RESOURCES

ZONES: Final = "zones"
LEFT_OUT: Final = ("nodes",)
"""Lists that are for pictures."""


class AnswerTable(msgspec.Struct, frozen=True):
    name: str
    """The name of the field, a key of :data:`simulator.question_words.ANSWER_TABLES`."""
    columns: list[str]
    """Keys of :data:`simulator.question_words.ANSWER_COLUMNS`."""
    rows: list[list[str]]


def tables_of(answer: Answer) -> Iterator[AnswerTable]:
    """Yield the tables that have rows, the main one first and the zones last."""
    own = [field.name for field in msgspec.structs.fields(answer)]
    shared = {field.name for field in msgspec.structs.fields(Answer)}
    for name in own:
        found = getattr(answer, name)
        if name in words.ANSWER_TABLES and name not in shared and found:
            yield _table(name, found)
    if len(answer.zones) > 1 or any(zone.zone for zone in answer.zones):
        yield AnswerTable(ZONES, ["zone", "nodes", *_zone_columns()], [*map(_zone_row, answer.zones)])


def _table(name: str, structs: list[msgspec.Struct]) -> AnswerTable:
    columns = [field.name for field in msgspec.structs.fields(structs[0])]
    rows = [[_text(getattr(each, column)) for column in columns] for each in structs]
    kept = [index for index, _ in enumerate(columns) if any(row[index] for row in rows)]
    return AnswerTable(
        name, [columns[index] for index in kept], [[row[index] for index in kept] for row in rows]
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return str(value)


def _zone_columns() -> Iterator[str]:
    for resource in RESOURCES:
        yield f"{resource}_before"
        yield f"{resource}_after"


def _zone_row(zone: ZoneUse) -> list[str]:
    cells = [zone.zone, str(zone.nodes)]
    for resource in RESOURCES:
        cells += [
            amount_text(resource, zone.allocatable[resource] - used[resource])
            for used in (zone.before, zone.after)
        ]
    return cells
