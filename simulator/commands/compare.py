"""Run a scenario under two schedulers and compare what becomes of it.

``--a`` and ``--b`` are KubeSchedulerConfigurations; without one a side has the scenario's own. Both run the
same objects from the same time on, until ``--until`` or until nothing more is due."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

import msgspec

from simulator.api import Micros
from simulator.apiserver.manifest import ManifestError, manifests
from simulator.apiserver.status import StatusError
from simulator.commands.explain import ExplainError, aligned, one
from simulator.commands.run import DEFAULT_UNTIL, START
from simulator.compare.answer import Comparison, Curve, Difference, Waits
from simulator.compare.comparing import Comparing, Side, chosen, victims
from simulator.compare.workload import of_scenario
from simulator.decision import Decision
from simulator.objects import durations
from simulator.queueing.versions import QUEUES
from simulator.scenario import Scenario, ScenarioError, load
from simulator.scheduler import extender_http


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the scenario, a YAML file")
    for side in ("a", "b"):
        parser.add_argument(f"--{side}", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
        parser.add_argument(f"--queue-{side}", choices=QUEUES, help="by default the scenario's own")
        parser.add_argument(f"--seed-{side}", type=int, help="by default that of --seed")
    parser.add_argument("--until", default=DEFAULT_UNTIL, help="simulated time to stop at, e.g. 90s or 5m")
    parser.add_argument("--seed", type=int, help="settles ties; by default the scenario's own")
    extender_http.add_argument(parser)
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def run(options: Namespace) -> int:
    try:
        scenario = load(options.file.read_text())
        seed = scenario.seed if options.seed is None else options.seed
        a = _side(scenario, options.a, options.queue_a, seed if options.seed_a is None else options.seed_a)
        b = _side(scenario, options.b, options.queue_b, seed if options.seed_b is None else options.seed_b)
        transport = extender_http.HttpTransport(options.allow_extender_host)
        workload = of_scenario(scenario, START)
        comparing = Comparing(workload, a, b, durations.parse(options.until), transport)
        for done in comparing.run():
            if sys.stderr.isatty():
                print(f"\r{done:.0%}", end="\r", file=sys.stderr)
    except (OSError, ScenarioError, ManifestError, ExplainError, StatusError, ValueError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    found = comparing.result()
    if options.output == "json":
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print("\n".join(report(found)))
    return 0


def _side(scenario: Scenario, path: Path | None, queue: str | None, seed: int) -> Side:
    config = scenario.config
    if path is not None:
        config = one(manifests(path.read_bytes()), "KubeSchedulerConfiguration", path)
    return Side(config, next((known for known in QUEUES if known == queue), scenario.queue), seed)


# For people


def report(found: Comparison) -> Iterator[str]:
    yield f"{durations.text(found.end)} of simulated time"
    yield ""
    rows = [["", "A", "B", "B - A"]]
    rows += [
        _counted(name, getattr(found.a, field), getattr(found.b, field))
        for name, field in (("cycles", "cycles"), ("pods bound", "bound"), ("pods preempted", "preempted"))
    ]
    for curve in found.a.curves:
        if curve.name != "preempted":
            rows += _measured(curve, found.b.curve(curve.name))
    yield from aligned(rows)
    yield ""
    rows = [["PRIORITY", "SIDE", "BOUND", "MEDIAN", "P90", "PENDING", "LONGEST"]]
    for priority in sorted({each.priority for each in (*found.a.waits, *found.b.waits)}, reverse=True):
        for name, side in (("A", found.a), ("B", found.b)):
            rows += [_waits(name, each) for each in side.waits if each.priority == priority]
    yield from aligned(rows)
    yield ""
    if found.reference:
        requests = ", ".join(f"{name} {amount}" for name, amount in found.reference.items())
        yield f"fragmentation: free cpu and memory on nodes that would not take one more pod of {requests}"
    yield first_difference(found.difference)


def _counted(name: str, a: int, b: int) -> list[str]:
    return [name, str(a), str(b), f"{b - a:+d}"]


UNITS = {"pods": "", "percent": "%", "points": " points"}


def _measured(a: Curve, b: Curve | None) -> Iterator[list[str]]:
    unit = UNITS[a.unit]
    for name in ("mean", "peak"):
        first = getattr(a, name)
        second = getattr(b, name) if b else 0.0
        yield [
            f"{a.name}, {name}",
            f"{first:.4g}{unit}",
            f"{second:.4g}{unit}" if b else "-",
            f"{second - first:+.4g}" if b else "-",
        ]


def _waits(side: str, each: Waits) -> list[str]:
    return [
        str(each.priority),
        side,
        str(each.bound),
        _time(each.median),
        _time(each.p90),
        str(each.pending),
        _time(each.longest_pending) if each.pending else "-",
    ]


def _time(duration: Micros | None) -> str:
    return "-" if duration is None else durations.text(duration)


def first_difference(found: Difference | None) -> str:
    if found is None:
        return "no cycle differs"
    return f"first difference: cycle {found.cycle}: A {_decided(found.a)}; B {_decided(found.b)}"


def _decided(decision: Decision | None) -> str:
    if decision is None:
        return "has no such cycle"
    where = f" {chosen(decision)}" if chosen(decision) else ""
    gone = f", evicting {', '.join(victims(decision))}" if victims(decision) else ""
    return f"{decision.pod} {decision.outcome}{where}{gone}"
