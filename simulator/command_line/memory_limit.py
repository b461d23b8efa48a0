"""The limit of a command that another program starts: it needs no more memory, and others have precedence."""

import argparse
import os
import resource
from contextlib import suppress
from typing import Final

NICENESS: Final = 10


def add_memory_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memory-mib", type=int, help="maximum memory; the command fails if it needs more")


def limit_memory(options: argparse.Namespace) -> None:
    """Limit the memory of this process, if the option is given, and give others precedence."""
    if options.memory_mib:
        os.nice(NICENESS)
        with suppress(ValueError, OSError):  # systems without this limit
            resource.setrlimit(resource.RLIMIT_AS, (options.memory_mib << 20,) * 2)
