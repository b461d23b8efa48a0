"""The report on a played workload, for its page and as one HTML file, which needs no network."""

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string

from schedviz.page_files import MADE
from schedviz.web.compare.decided_again import present_decided_again
from schedviz.web.compare.figures import (
    column_heads,
    curves_of,
    mean_row,
    present_figures,
    total_rows,
)
from schedviz.web.compare.waits import wait_rows
from simulator.api import SECOND
from simulator.arrivals.play_run import Played
from simulator.objects import durations

STYLES: Final = "report.css"


def render_report(played: Played, title: str, settings_of_sides: Sequence[str]) -> str:
    """Return the report as a file. ``settings_of_sides``: what each side is, in words."""
    styles = (settings.FILES_DIR / "static" / MADE / STYLES).read_text()
    return render_to_string(
        "compare/report.html", {**report_context(played, title, settings_of_sides), "styles": styles}
    )


def report_context(played: Played, title: str, settings_of_sides: Sequence[str]) -> dict[str, Any]:
    """Return the values of the template ``compare/report_body.html``."""
    found = played.comparison
    sides = {"A": played.a} if found is None else {"A": found.a, "B": found.b}
    outcomes = [*sides.values()]
    again = None if found is None else found.decided_again
    return {
        "title": title,
        "sides": [*zip(sides, settings_of_sides, strict=True)],
        "pods": played.pods,
        "duration": durations.format_duration(played.end // SECOND * SECOND),
        "figures": present_figures(sides, played.end, played.reference),
        "names": "".join(sides),
        "heads": column_heads([*sides]),
        "rows": [
            *total_rows(outcomes),
            *(mean_row(each) for each in curves_of(sides, played.end) if each[0][1].name != "preempted"),
        ],
        "waits": wait_rows(outcomes),
        "decided": None if again is None else present_decided_again(again),
    }
