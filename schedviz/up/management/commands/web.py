"""``manage.py web``: the web server alone, as in a container, until SIGTERM."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from schedviz import environment
from schedviz.up.programs import web_programs
from schedviz.up.supervisor import run_programs


class Command(BaseCommand):
    help = "Run the web server alone: WEB_PROCESSES processes on one port."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST)
        parser.add_argument("--port", type=int, default=settings.PORT)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        programs = web_programs(host, port, settings.WEB_PROCESSES)
        if len(programs) == 1:
            os.execv(sys.executable, [*programs[0].command])  # noqa: S606 (our own command, no shell)
        if settings.ACCESS == "open" or settings.HAS_SECRET_KEY:
            # What one process signs, another one reads.
            environment.pass_secret("SECRET_KEY", settings.SECRET_KEY)
        sys.exit(run_programs(programs, self.stdout.write))
