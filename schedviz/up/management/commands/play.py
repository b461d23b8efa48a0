"""``schedviz play``: a workload that is played in memory, with a report."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from schedviz.web.compare.report import render_report
from simulator.arrivals.play_run import Played
from simulator.command_line.output import print_lines
from simulator.commands import play


class Command(BaseCommand):
    help = "Play a workload of an arrivals file in memory, and report what the scheduler did."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        play.add_arguments(parser)
        parser.add_argument("--report", type=Path, help="the HTML file to write, which needs no network")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path | None = options["report"]
        if path is not None and not path.parent.is_dir():
            raise CommandError(f"--report: there is no folder {path.parent}")
        given = Namespace(**options)

        def show(played: Played, sides: list[str]) -> None:
            play.show(given, played)
            if path is not None:
                try:
                    path.write_text(render_report(played, given.arrivals.stem, sides))
                except OSError as failure:
                    raise CommandError(f"--report: {failure}") from None
                print_lines([f"report: {path}"], sys.stderr)

        sys.exit(play.run(given, show))
