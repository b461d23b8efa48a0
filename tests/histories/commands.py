"""The commands of the simulator, run in this process as the command line runs them."""

import io
import secrets
import time
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

from simulator.__main__ import main
from simulator.api import SECOND
from tests.histories.cluster import START


class Finished(NamedTuple):
    status: int
    out: list[str]
    """The lines on standard output."""
    errors: list[str]
    """The lines on standard error."""


def run_command(*arguments: str) -> Finished:
    """What ``python -m simulator ARGUMENTS`` does, at the same time of day and with the same salt each time:
    a dump's objects without a time are dated when it is read, and names in it may be replaced by digests."""
    out, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with (
        patch.object(time, "time", lambda: START / SECOND),
        patch.object(secrets, "token_bytes", bytes),
        redirect_stdout(out),
        redirect_stderr(errors),
    ):
        status = main([*arguments])
    out.seek(0)
    return Finished(status, out.read().splitlines(), errors.getvalue().splitlines())
