"""``python -m simulator COMMAND``: the command line of the simulator."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from simulator import commands, harness


def main(arguments: list[str]) -> int:
    """Run a command, and return its exit status. A command is a module of simulator.commands or of
    simulator.harness with the functions ``add_arguments(parser)`` and ``run(options)``."""
    parser = argparse.ArgumentParser(prog="python -m simulator", description=__doc__)
    choices = parser.add_subparsers(dest="command", required=True)
    packages = {module.name: commands for module in iter_modules(commands.__path__)}
    packages |= dict.fromkeys(harness.COMMANDS, harness)
    for name in arguments[:1] if arguments[:1] and arguments[0] in packages else sorted(packages):
        module = import_module(f"{packages[name].__name__}.{name}")
        summary, _, rest = (module.__doc__ or "").partition("\n")
        sub = choices.add_parser(name, help=summary, description=summary + rest)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    status: int = options.run(options)
    return status


def run_program(arguments: list[str], run: Callable[[list[str]], int] = main) -> int:
    """Run a command as a program of a shell: where the reader of its output has enough, it ends without a
    message, with the exit status that a shell gives other programs then; also when Ctrl-C is pressed."""
    try:
        status = run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes the output once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return status


if __name__ == "__main__":
    sys.exit(run_program(sys.argv[1:]))
