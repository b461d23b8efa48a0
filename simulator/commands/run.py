"""Run a scenario without a server and print its trace as JSON Lines.

Simulated time starts at 2025-01-01T00:00:00Z and advances to the next due time. The run ends after
``--until`` (by default one hour), or when nothing more is due."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import msgspec

from simulator.api import SECOND, Micros
from simulator.apiserver.admission import new_cluster
from simulator.apiserver.manifest import ManifestError
from simulator.apiserver.status import StatusError
from simulator.config import ConfigError
from simulator.framework.extender import Transport
from simulator.memory import MemoryApi
from simulator.objects import durations
from simulator.queueing.versions import QUEUES
from simulator.scenario import Scenario, ScenarioError, load_scenario
from simulator.scheduler import extender_http
from simulator.simulation import Options, Simulation
from simulator.trace import Event

START: Micros = 1_735_689_600 * SECOND
DEFAULT_UNTIL = "1h"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the scenario, a YAML file")
    parser.add_argument("--until", default=DEFAULT_UNTIL, help="simulated time to stop at, e.g. 90s or 5m")
    extender_http.add_argument(parser)
    parser.add_argument("--seed", type=int, help="settles ties; by default the scenario's own")
    parser.add_argument("--queue", choices=QUEUES, help="the scheduling queue; by default the scenario's own")


def run(options: Namespace) -> int:
    try:
        scenario = load_scenario(options.file.read_text())
        if options.seed is not None:
            scenario = msgspec.structs.replace(scenario, seed=options.seed)
        if options.queue is not None:
            scenario = msgspec.structs.replace(scenario, queue=options.queue)
        transport = extender_http.HttpTransport(options.allow_extender_host)
        for event in run_scenario(scenario, durations.parse_duration(options.until), transport):
            sys.stdout.write(msgspec.json.encode(event).decode() + "\n")
    except (OSError, ScenarioError, ManifestError, ConfigError, StatusError, ValueError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 1
    return 0


def run_scenario(scenario: Scenario, duration: Micros, transport: Transport | None = None) -> list[Event]:
    """Run a scenario for ``duration`` and return its trace. Raises StatusError for a manifest that admission
    refuses."""
    api = MemoryApi()
    api.commit(new_cluster(scenario.manifests, START))
    options = Options(seed=scenario.seed, pace=scenario.pace, config=scenario.config, queue=scenario.queue)
    simulation = Simulation(api, options, transport=transport)
    simulation.make_no_decisions()
    return run_simulation(simulation, api, START, START + duration)


def run_simulation(simulation: Simulation, api: MemoryApi, start: Micros, end: Micros) -> list[Event]:
    """Run a simulation from ``start`` until ``end``, or until nothing more is due, and return its trace."""
    trace: list[Event] = []
    now = start
    simulation.observe(api.take_events())
    while True:
        while simulation.step(now):
            trace += simulation.take_trace()
            simulation.observe(api.take_events())
        due = simulation.next_due()
        if due is None or due > end:
            return trace
        now = due
