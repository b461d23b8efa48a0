"""Run a scenario under two schedulers and compare the results.

``--a`` and ``--b`` are KubeSchedulerConfigurations; the default is the scenario's own. Both sides run the
same objects from the same start time, until ``--until`` or until nothing more is due."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.api import Micros
from simulator.command_line.files import (
    InputError,
    faults_of,
    read_configuration,
    read_duration,
    read_scenario,
)
from simulator.command_line.output import print_failure, print_json, print_lines, print_progress
from simulator.command_line.queue_option import add_queue_option
from simulator.command_line.tables import align_columns
from simulator.command_line.version_options import add_version_options, features_of
from simulator.commands.run import DEFAULT_UNTIL, START
from simulator.commands.upgrade import LISTED, cause_lines, decision_text
from simulator.compare.answer import Comparison, Curve, Difference, RunOutcome, WaitTimes
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.observer import curve_names
from simulator.compare.second_scheduler import RunDecisions
from simulator.compare.workload import workload_of_scenario
from simulator.decision import Decision
from simulator.decision_columns import plain_encoder
from simulator.objects import durations
from simulator.plugins.registry import load
from simulator.scenario import Scenario
from simulator.scheduler import extender_http
from simulator.words import CHANGED


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the scenario, a YAML file")
    add_side_options(parser)
    parser.add_argument("--until", default=DEFAULT_UNTIL, help="simulated time to stop at, e.g. 90s or 5m")
    parser.add_argument("--seed", type=int, help="settles ties; by default the scenario's own")
    extender_http.add_argument(parser)
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")


def add_side_options(parser: ArgumentParser) -> None:
    """Add the options of both sides, which :func:`side_of` reads."""
    for side in ("a", "b"):
        parser.add_argument(f"--{side}", type=Path, help="a KubeSchedulerConfiguration, YAML or JSON")
        add_queue_option(parser, f"-{side}")
        parser.add_argument(f"--seed-{side}", type=int, help="by default that of --seed")
        add_version_options(parser, f"-{side}")


def run(options: Namespace) -> int:
    try:
        scenario = read_scenario(options.file)
        a, b = (side_of(scenario, vars(options), side) for side in ("_a", "_b"))
        transport = extender_http.HttpTransport(options.allow_extender_host)
        until = read_duration("--until", options.until)
        with faults_of(options.file):
            comparing = ComparisonRun(workload_of_scenario(scenario, START), a, b, until, transport)
            for done in comparing.run():
                print_progress(f"{done:.0%}")
    except InputError as error:
        print_failure("compare", error)
        return 1
    found = comparing.result()
    if options.output == "json":
        print_json(plain_encoder.encode(found))
    else:
        print_lines(report_lines(found))
    return 0


def side_of(scenario: Scenario, options: Mapping[str, Any], side: str) -> Side:
    """Return a side as the options that end with ``_a`` or ``_b`` say."""
    seeds = options[f"seed{side}"], options["seed"], scenario.seed
    features = features_of(
        options[f"kubernetes{side}"], options[f"feature_gates{side}"], default=scenario.features
    )
    config, path = scenario.config, options[side[1:]]
    if path is not None:
        config = read_configuration(path)
        with faults_of(path):
            load(config, features=features)
    seed = next(each for each in seeds if each is not None)
    return Side(config, options[f"queue{side}"] or scenario.queue, seed, features)


# Output as text


def report_lines(found: Comparison) -> Iterator[str]:
    yield f"{durations.format_duration(found.end)} of simulated time"
    yield ""
    yield from figure_lines({"A": found.a, "B": found.b})
    yield ""
    if found.reference:
        requests = ", ".join(f"{name} {amount}" for name, amount in found.reference.items())
        yield f"fragmentation: free cpu and memory on nodes that would not take one more pod of {requests}"
    yield first_difference_text(found.difference)
    if found.decided_again is not None:
        yield ""
        yield from decided_again_lines(found.decided_again)


def figure_lines(sides: Mapping[str, RunOutcome]) -> Iterator[str]:
    """Yield the figures of one side or two, and their waits by priority. sides: by name."""
    names, outcomes = [*sides], [*sides.values()]
    rows = [["", *names, *([f"{names[1]} - {names[0]}"] if len(names) == 2 else [])]]
    for title, field in (("cycles", "cycles"), ("pods bound", "bound"), ("pods preempted", "preempted")):
        rows.append(_count_row(title, [getattr(outcome, field) for outcome in outcomes]))
    for name in curve_names(outcomes):
        if name != "preempted":
            rows += _curve_rows([outcome.curve(name) for outcome in outcomes])
    yield from align_columns(rows)
    yield ""
    rows = [["PRIORITY", "SIDE", "BOUND", "MEDIAN", "P90", "PENDING", "LONGEST"]]
    for priority in sorted({each.priority for outcome in outcomes for each in outcome.waits}, reverse=True):
        for name, outcome in sides.items():
            rows += [_wait_row(name, each) for each in outcome.waits if each.priority == priority]
    yield from align_columns(rows)


def decided_again_lines(found: RunDecisions) -> Iterator[str]:
    yield (
        f"decisions of A that change with the scheduler of B: {found.changed} of {found.decided}"
        + ("" if found.complete else ", the first ones; the others were not decided again")
    )
    if found.changed:
        yield from cause_lines("DECISIONS", found.causes, found.changes)
    for each in found.decisions[:LISTED]:
        yield f"  cycle {each.cycle}: {each.pod} {CHANGED[each.effect]}: {', '.join(each.causes)}"
        yield f"    A: {decision_text(each.before)}"
        yield f"    B: {decision_text(each.after)}"
    if found.changed > LISTED:
        yield f"  and {found.changed - LISTED} more"


def _count_row(name: str, counts: Sequence[int]) -> list[str]:
    difference = [f"{counts[1] - counts[0]:+d}"] if len(counts) == 2 else []
    return [name, *map(str, counts), *difference]


UNITS = {"pods": "", "percent": "%", "points": " points"}


def _curve_rows(curves: Sequence[Curve | None]) -> Iterator[list[str]]:
    known = next(curve for curve in curves if curve is not None)
    unit = UNITS[known.unit]
    for name in ("mean", "peak"):
        values: list[float | None] = [None if curve is None else getattr(curve, name) for curve in curves]
        texts = ["-" if value is None else f"{value:.4g}{unit}" for value in values]
        if len(values) == 2:
            a, b = values
            texts.append("-" if a is None or b is None else f"{b - a:+.4g}")
        yield [f"{known.name}, {name}", *texts]


def _wait_row(side: str, each: WaitTimes) -> list[str]:
    return [
        str(each.priority),
        side,
        str(each.bound),
        _format_wait(each.median),
        _format_wait(each.p90),
        str(each.pending),
        _format_wait(each.longest_pending) if each.pending else "-",
    ]


def _format_wait(duration: Micros | None) -> str:
    return "-" if duration is None else durations.format_duration(duration)


def first_difference_text(found: Difference | None) -> str:
    if found is None:
        return "no cycle differs"
    return f"first difference: cycle {found.cycle}: A {_decision_text(found.a)}; B {_decision_text(found.b)}"


def _decision_text(decision: Decision | None) -> str:
    if decision is None:
        return "has no such cycle"
    where = f" {decision.chosen_node}" if decision.chosen_node else ""
    gone = f", evicting {', '.join(each.pod for each in decision.victims)}" if decision.victims else ""
    return f"{decision.pod} {decision.outcome}{where}{gone}"
