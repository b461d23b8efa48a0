"""The times for which pods waited for a node, as a table."""

from collections.abc import Sequence
from typing import Final

from schedviz.web.text import format as fmt
from simulator.api import SECOND, Micros
from simulator.compare.answer import RunOutcome
from simulator.objects import durations

MILLISECOND: Final = SECOND // 1000


def wait_rows(outcomes: Sequence[RunOutcome]) -> list[list[str]]:
    """Return a row for each priority: the priority, then median, p90, bound and pending of each side."""
    sides = [{each.priority: each for each in outcome.waits} for outcome in outcomes]
    rows = []
    for priority in sorted({each for side in sides for each in side}, reverse=True):
        row = [fmt.number(priority)]
        for side in sides:
            waits = side.get(priority)
            if waits is None:
                row += ["\u2013"] * 4
            else:
                row += [wait_text(waits.median), wait_text(waits.p90), str(waits.bound), str(waits.pending)]
        rows.append(row)
    return rows


def wait_text(duration: Micros | None) -> str:
    if duration is None:
        return "\u2013"
    unit = MILLISECOND if duration < 10 * SECOND else SECOND
    return durations.format_duration(duration // unit * unit)
