"""A process whose periodic calls are stuck ends, so that it is started again."""

import subprocess
import sys

from tests.processes import ROOT

PROGRAM = """
import logging, threading, sys
from schedviz.processes.periodic import LOOKS, PeriodicCall, PeriodicThread

logging.basicConfig(format="%(message)s")
never = threading.Event()
calls = {"stuck": never.wait, "short": lambda: None}
PeriodicThread([PeriodicCall(0.01, calls[sys.argv[1]])], lambda: None, stuck_seconds=0.01 * LOOKS).start()
print("stays" if sys.argv[1] == "short" and not never.wait(0.5) else never.wait())
"""


def run(call: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", PROGRAM, call]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_process_with_a_stuck_call_ends() -> None:
    assert run("stuck") == (1, "", "a periodic call has not ended for 0 s: this process ends\n")


def test_a_process_whose_calls_end_stays() -> None:
    assert run("short") == (0, "stays\n", "")
