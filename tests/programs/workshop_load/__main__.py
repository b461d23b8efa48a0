"""``python -m tests.programs.workshop_load``: see the package."""

import os
import secrets
import sys
import tempfile
from pathlib import Path

from schedviz.up.embedded_redis import free_port

# The settings are read once, so the address must be known before the server behind it is started.
REDIS_PORT, PASSWORD = free_port(), secrets.token_hex(8)
os.environ["REDIS_URL"] = f"redis://:{PASSWORD}@127.0.0.1:{REDIS_PORT}/0"
os.environ["DJANGO_SETTINGS_MODULE"] = "schedviz.settings"

import django  # noqa: E402 (as above)

django.setup()

import uvloop  # noqa: E402

from schedviz.lessons.catalogue import lessons  # noqa: E402
from tests.programs.load.meter import Meter, cpu_seconds  # noqa: E402
from tests.programs.load.report import Report, Table, read, text  # noqa: E402
from tests.programs.workshop_load.memory import Memory  # noqa: E402
from tests.programs.workshop_load.options import Options, parsed  # noqa: E402
from tests.programs.workshop_load.workshop import Workshop  # noqa: E402
from tests.stack import Stack, running  # noqa: E402

CLOCK = (
    "inside: from the request being sent to the response or the frame that shows the effect; for a goal,\n"
    "  from the first frame after the last look that did not show it (or from the act) to the panel that\n"
    "  shows it. Learners think {think:g} s between two acts, on average; simulated time passes at {speed:g}x"
)


async def measured(stack: Stack, options: Options) -> Table:
    async with Meter(stack) as meter, Memory(stack) as memory:

        def server_cpu() -> float:
            servers = [each for name, each in meter.processes.items() if name.startswith("server")]
            return sum(cpu_seconds(each) for each in servers)

        workshop = Workshop(
            stack.port,
            stack.store,
            lessons()[options.lesson],
            options,
            server_cpu=server_cpu,
            restart=stack.restart,
        )
        await workshop.run()
    title = f"workshop: {options.learners} learners, the lesson {options.lesson}, {meter.seconds:.0f} s"
    table = Table(title, CLOCK.format(think=options.think, speed=options.speed))
    table.figures = [*workshop.figures, *memory.figures()]
    meter.add_to(table)
    table.faults = workshop.faults
    for log in stack.logs:
        table.faults += [f"{log.name}: {fault[:500]}" for fault in log.faults()]
    return table


def main() -> int:
    options = parsed(sys.argv[1:])
    before = read(options.against) if options.against else None
    report = Report.new()
    print(report.machine, flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="schedviz-workshop-") as directory,
        running(Path(directory), REDIS_PORT, PASSWORD, workers=options.workers) as stack,
    ):
        for _ in range(options.rounds):
            table = uvloop.run(measured(stack, options))
            report.tables.append(table)
            print(text(table, before.tables[0] if before else None), flush=True)
            if options.json:
                report.write(options.json)
    return 1 if any(table.faults for table in report.tables) else 0


if __name__ == "__main__":
    sys.exit(main())
