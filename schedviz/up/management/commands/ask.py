"""``schedviz ask``: as ``python -m simulator ask``."""

from argparse import ArgumentParser, Namespace
from typing import Any

from django.core.management.base import BaseCommand

from simulator.__main__ import run_program
from simulator.commands import ask


class Command(BaseCommand):
    help = "Ask about the cluster of a dump: what fits, who is evicted, which nodes can be removed."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        ask.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = run_program([], lambda _: ask.run(Namespace(**options)))
        if status:
            raise SystemExit(status)
