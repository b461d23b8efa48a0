"""``python -m tests.programs.load``: see the package."""

import os
import secrets
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from schedviz.up.embedded_redis import free_port

# The settings are read once, so the address must be known before the server behind it is started.
REDIS_PORT, PASSWORD = free_port(), secrets.token_hex(8)
os.environ["REDIS_URL"] = f"redis://:{PASSWORD}@127.0.0.1:{REDIS_PORT}/0"
os.environ["DJANGO_SETTINGS_MODULE"] = "schedviz.settings"

import django  # noqa: E402 (as above)

django.setup()

import uvloop  # noqa: E402

from tests.programs.load.bulk import bulk  # noqa: E402
from tests.programs.load.cold import cold  # noqa: E402
from tests.programs.load.costs import costs  # noqa: E402
from tests.programs.load.counting_proxy import CountingProxy  # noqa: E402
from tests.programs.load.idle import idle  # noqa: E402
from tests.programs.load.options import Options, parsed  # noqa: E402
from tests.programs.load.report import Report, Table, read, text  # noqa: E402
from tests.programs.load.watched import crowd, watched  # noqa: E402
from tests.stack import Stack, running  # noqa: E402

Part = Callable[[Stack], Awaitable[Table]]


def parts(options: Options) -> Iterator[Part]:
    """What was asked for, except the costs."""
    if "watched" in options.parts:
        for count in options.sandboxes:
            yield lambda stack, count=count: watched(stack, count, options)
    if "idle" in options.parts:
        for count in options.sandboxes:
            yield lambda stack, count=count: idle(stack, count, options)
    if "crowd" in options.parts:
        yield lambda stack: crowd(stack, options)
    if "cold" in options.parts:
        for count in options.browsers:
            yield lambda stack, count=count: cold(stack, count)
    if "bulk" in options.parts:
        for speed in options.speeds:
            yield lambda stack, speed=speed: bulk(stack, speed, options)


def tables(options: Options) -> Iterator[Table]:
    """Each part has processes of its own: what one leaves behind costs the next nothing."""
    for part in parts(options):
        with (
            tempfile.TemporaryDirectory(prefix="schedviz-load-") as directory,
            running(
                Path(directory), REDIS_PORT, PASSWORD, workers=options.workers, web_processes=options.web
            ) as stack,
        ):
            yield checked(uvloop.run(part(stack)), stack)
    if "costs" in options.parts:
        with (
            tempfile.TemporaryDirectory(prefix="schedviz-load-") as directory,
            CountingProxy(REDIS_PORT) as proxy,
            running(
                Path(directory),
                REDIS_PORT,
                PASSWORD,
                workers=options.workers,
                redis_of_server=f"redis://:{PASSWORD}@127.0.0.1:{proxy.port}/0",
            ) as stack,
        ):
            yield checked(uvloop.run(costs(stack, proxy, options)), stack)


def checked(table: Table, stack: Stack) -> Table:
    """With what the processes' logs have of errors."""
    for log in stack.logs:
        table.faults += [f"{log.name}: {fault[:500]}" for fault in log.faults()]
    return table


def main() -> int:
    options = parsed(sys.argv[1:])
    before = read(options.against) if options.against else None
    known = {table.title: table for table in before.tables} if before else {}
    report = Report.new()
    print(report.machine)
    for table in tables(options):
        report.tables.append(table)
        print(text(table, known.get(table.title)), flush=True)
        if options.json:
            report.write(options.json)
    return 1 if any(table.faults for table in report.tables) else 0


if __name__ == "__main__":
    sys.exit(main())
