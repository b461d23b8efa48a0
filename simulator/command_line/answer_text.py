"""The answer of a question as text: the sentences, and the tables."""

import csv
import io
from collections.abc import Collection, Iterator

import msgspec

from simulator import question_words as words
from simulator.command_line.tables import align_columns
from simulator.questions.answer import Answer
from simulator.questions.tables import AnswerTable, tables_of

ROWS_AT_MOST = 50
"""Maximum number of rows of a table that are printed; JSON and CSV have all."""


def answer_lines(answer: Answer, leave_out: Collection[str] = ()) -> Iterator[str]:
    """leave_out: names of tables."""
    yield " ".join(map(str, answer.summary))
    if not answer.complete:
        yield words.STOPPED_EARLY
    for table in tables_of(answer):
        if table.name not in leave_out:
            yield ""
            yield f"{words.ANSWER_TABLES[table.name]}:"
            yield from align_columns([_heads(table), *table.rows[:ROWS_AT_MOST]])
            if len(table.rows) > ROWS_AT_MOST:
                yield f"and {len(table.rows) - ROWS_AT_MOST} more"
    if answer.notes:
        yield ""
        yield from map(str, answer.notes)


def _heads(table: AnswerTable) -> list[str]:
    return [words.ANSWER_COLUMNS[column].upper() for column in table.columns]


def answer_json(answer: Answer) -> bytes:
    """Return the whole answer, with its sentences as text."""
    document = {"sentence": " ".join(map(str, answer.summary)), **msgspec.to_builtins(answer)}
    return msgspec.json.encode(document)


def answer_csv(answer: Answer, name: str = "") -> str:
    """Return a table as CSV. name: that of its field; "" = the main one. Text that a spreadsheet would take
    for a formula is left as it is in JSON, and here has an apostrophe before it."""
    tables = [*tables_of(answer)]
    table = next((each for each in tables if name in ("", each.name)), None)
    if table is None:
        return ""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_unformula(cell) for cell in row] for row in table.rows)
    return out.getvalue()


def _unformula(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "@", "\t") or (cell[:1] == "-" and len(cell) > 1) else cell
