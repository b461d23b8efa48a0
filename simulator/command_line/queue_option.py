"""The option of the commands that names a scheduling queue."""

import argparse

from simulator.queueing.queue_version import QueueVersion, read_queue_version


def add_queue_option(parser: argparse.ArgumentParser, suffix: str = "") -> None:
    """Add ``--queue``, with the suffix. Its value is a QueueVersion; None = the scenario's own."""
    parser.add_argument(
        f"--queue{suffix}",
        type=_read,
        metavar=f"{{{','.join(QueueVersion)}}}",
        help="the scheduling queue; by default the scenario's own",
    )


def _read(text: str) -> QueueVersion:
    try:
        return read_queue_version(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None
