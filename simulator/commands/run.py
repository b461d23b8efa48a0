"""Run a scenario without a server, and print what happens.

Simulated time starts at 2025-01-01T00:00:00Z and advances to the next due time. The run ends after
``--until`` (by default one hour), or when nothing more is due. The output is a line for each event with the
time since the start, and at the end the pods by node and the reason of each pod that has none. ``-o json``
prints the trace as JSON Lines instead."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from simulator.api import SECOND, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.resources import PODS
from simulator.apiserver.server import ApiServer
from simulator.command_line.files import InputError, faults_of, read_duration, read_scenario
from simulator.command_line.output import print_failure, print_lines, write_json_line
from simulator.command_line.queue_option import add_queue_option
from simulator.command_line.tables import align_columns, join_names
from simulator.command_line.trace_text import trace_lines
from simulator.command_line.version_options import add_version_options, features_of
from simulator.framework.extender import Transport
from simulator.memory import MemoryStorage
from simulator.objects import durations
from simulator.pod_reason import find_pod_reason
from simulator.scenario import Scenario
from simulator.scheduler import extender_http
from simulator.simulation import Options, Simulation
from simulator.trace import Event, QueuePlace
from simulator.versions.features import Features

START: Micros = 1_735_689_600 * SECOND
DEFAULT_UNTIL = "1h"
PENDING_AT_MOST: Final = 20
"""Maximum number of pods without a node whose reason is printed at the end; the others are counted."""


class FinishedRun(NamedTuple):
    trace: list[Event]
    api: MemoryStorage
    queue: dict[str, QueuePlace]
    """The queue place of each pod that has one at the end."""
    now: Micros
    due: Micros | None
    """The time at which there is something to do after the end; None = nothing more is due."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the scenario, a YAML file; - is standard input")
    parser.add_argument("--until", default=DEFAULT_UNTIL, help="simulated time to stop at, e.g. 90s or 5m")
    extender_http.add_argument(parser)
    parser.add_argument("--seed", type=int, help="settles ties; by default the scenario's own")
    add_queue_option(parser)
    add_version_options(parser)
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text", help="json: JSON Lines")


def run(options: Namespace) -> int:
    try:
        scenario = read_scenario(options.file)
        if options.seed is not None:
            scenario = msgspec.structs.replace(scenario, seed=options.seed)
        if options.queue is not None:
            scenario = msgspec.structs.replace(scenario, queue=options.queue)
        transport = extender_http.HttpTransport(options.allow_extender_host)
        until = read_duration("--until", options.until)
        features = features_of(options.kubernetes, options.feature_gates, default=scenario.features)
        with faults_of(options.file):
            finished = finish_scenario(scenario, until, transport, features)
    except InputError as error:
        print_failure("run", error)
        return 1
    if options.output == "json":
        for event in finished.trace:
            write_json_line(sys.stdout.buffer, msgspec.json.encode(event))
    else:
        print_lines(report_lines(finished))
    return 0


def finish_scenario(
    scenario: Scenario,
    duration: Micros,
    transport: Transport | None = None,
    features: Features | None = None,
) -> FinishedRun:
    """Run a scenario for ``duration``. features: None = the scenario's. Raises StatusError for a manifest
    that admission refuses."""
    api = MemoryStorage()
    features = features or scenario.features
    api.commit(new_cluster(scenario.manifests, START, features))
    options = Options(
        seed=scenario.seed,
        pace=scenario.pace,
        config=scenario.config,
        queue=scenario.queue,
        kubernetes=features.version.patch,
        feature_gates=features.gates,
    )
    simulation = Simulation(api, ApiServer, options, transport=transport)
    simulation.make_no_decisions()
    trace = run_simulation(simulation, api, START, START + duration)
    queue = {pod: entry for pod, entry in simulation.take_queue_places().items() if entry is not None}
    due = simulation.next_due()
    return FinishedRun(trace, api, queue, simulation.now if due is None else START + duration, due)


def run_simulation(simulation: Simulation, api: MemoryStorage, start: Micros, end: Micros) -> list[Event]:
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


# Output as text


def report_lines(finished: FinishedRun) -> Iterator[str]:
    yield from trace_lines(finished.trace, START)
    yield ""
    end = durations.format_duration(finished.now - START)
    yield f"Nothing more is due after {end}." if finished.due is None else f"Stopped at {end}."
    pods = finished.api.objects.get(PODS.id, {})
    by_node: dict[str, list[str]] = {}
    for key in sorted(pods):
        by_node.setdefault(pods[key]["spec"].get("nodeName") or "", []).append(key)
    pending = by_node.pop("", [])
    if by_node:
        yield ""
        yield from align_columns(
            [["NODE", "PODS"], *([node, join_names(keys)] for node, keys in sorted(by_node.items()))]
        )
    if pending:
        yield ""
    for key in pending[:PENDING_AT_MOST]:
        own = [event for event in finished.trace if getattr(event, "pod", "") == key]
        reason = find_pod_reason(pods[key], finished.queue.get(key), own, finished.api.get, finished.now)
        yield f"{key} has no node. {reason.sentence(finished.now)}"
    if len(pending) > PENDING_AT_MOST:
        yield f"{len(pending) - PENDING_AT_MOST:,} more pods have no node."
