"""The program ``kubectl-schedviz``, which kubectl runs as ``kubectl schedviz``."""

import argparse
import importlib
import sys
from typing import Final

from django.conf import settings

from schedviz.real_cluster.errors import ClusterError
from simulator.__main__ import run_program
from simulator.command_line.files import InputError
from simulator.command_line.output import print_failure

COMMANDS: Final = ("why", "pending", "evictions")
NO_ANSWER: Final = 2
"""The exit status if there is no answer, as of argparse for wrong arguments."""


def main() -> int:
    """Run the program, and return its exit status."""
    return run_program(sys.argv[1:], run)


def run(arguments: list[str]) -> int:
    """Run a command, and return its exit status."""
    if not settings.configured:
        # The words of the pages in English; nothing else of Django is used.
        settings.configure(USE_I18N=False)
    parser = argparse.ArgumentParser(prog="kubectl schedviz", description="Answers about a real cluster.")
    choices = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"schedviz.kubectl_plugin.{name}")
        summary, _, rest = (module.__doc__ or "").partition("\n")
        sub = choices.add_parser(name, help=summary, description=summary + rest)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
    except (ClusterError, InputError) as failure:
        print_failure(options.command, failure)
        return NO_ANSWER
    return status


if __name__ == "__main__":
    sys.exit(main())
