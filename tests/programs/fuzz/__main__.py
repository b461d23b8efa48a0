"""``python -m tests.programs.fuzz``: see the package."""

import argparse
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path

from schedviz.up.embedded_redis import free_port

# The settings are read once, so the address must be known before the server behind it is started.
REDIS_PORT, PASSWORD = free_port(), secrets.token_hex(8)
os.environ["REDIS_URL"] = f"redis://:{PASSWORD}@127.0.0.1:{REDIS_PORT}/0"
os.environ["DJANGO_SETTINGS_MODULE"] = "schedviz.settings"

import django  # noqa: E402 (as above)

django.setup()

from tests.programs.fuzz.findings import Findings  # noqa: E402
from tests.programs.fuzz.rounds import Rounds  # noqa: E402
from tests.stack import running  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.fuzz", description="Sends requests of all sorts."
    )
    parser.add_argument("--requests", type=int, default=40_000, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="other seeds make other requests")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--only", type=int, help="send this one alone, and show it with its answer")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.requests)
    if asked.only is not None:
        numbers = range(asked.only, asked.only + 1)
    findings = Findings(asked.seed)
    start = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="schedviz-fuzz-") as directory,
        running(Path(directory), REDIS_PORT, PASSWORD, web_processes=2) as stack,
    ):
        rounds = Rounds(stack, findings, asked.seed, show=asked.only is not None)
        rounds.send(numbers)
        print(", ".join(f"{log.name}: {log.megabytes():.0f} MB" for log in stack.logs))
    seconds = time.monotonic() - start
    print(rounds)
    print(f"{len(numbers)} requests, seed {asked.seed}, {seconds:.0f} s; findings: {len(findings.found)}")
    print(findings)
    return 1 if findings.found else 0


if __name__ == "__main__":
    sys.exit(main())
