"""Say of each decision of a real cluster's scheduler what the model would have decided.

The files have watch events, as kubectl prints them: ``kubectl get pods -A --watch --output-watch-events -o
json``, and the same for nodes, events and all else that the scheduler reads. What does not change may be a
file of ``kubectl get -o json``. ``-`` is standard input. The exit status is 0 if the model could decide so
each time, 1 if not, and 2 if there is no answer.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from simulator.api import SECOND
from simulator.apiserver.served_features import serving
from simulator.command_line.files import InputError, faults_of, read_configuration, read_file
from simulator.command_line.output import print_failure, print_json, print_lines
from simulator.command_line.version_options import add_version_options, features_of
from simulator.objects.timestamps import timestamp
from simulator.scheduler import extender_http
from simulator.trace import AnyEvent, Event
from simulator.verdict_words import AnyVerdict, in_english
from simulator.verdicts.judge import Judge
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.verdicts.recorded_watch import RecordedWatch
from simulator.verdicts.report import GOOD, Report, ReportMaker, count_lines, decision_text, markdown_lines
from simulator.versions.features import DEFAULT_FEATURES

NO_ANSWER: Final = 2
BAD: Final = ("differs", "impossible")


class JudgeAnswer(msgspec.Struct):
    report: Report
    trace: list[AnyEvent]
    """What the scheduler did, and the verdicts."""
    left_out: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="watch events, or lists")
    parser.add_argument("--config", type=Path, help="the scheduler's KubeSchedulerConfiguration")
    add_version_options(parser, default=DEFAULT_FEATURES.version.name)
    extender_http.add_argument(parser)
    parser.add_argument("-o", "--output", choices=["table", "json", "markdown"], default="table")


def run(options: argparse.Namespace) -> int:
    try:
        features = features_of(options.kubernetes, options.feature_gates)
        with serving(features):
            watch = _read(options.files)
            transport = extender_http.HttpTransport(options.allow_extender_host)
            with faults_of(options.config or Path("--config")):
                configuration = read_configuration(options.config)
                scheduler = JudgedScheduler(features, configuration, transport=transport)
            trace, report = judge(watch, scheduler)
    except InputError as failure:
        print_failure("judge", failure)
        return NO_ANSWER
    match options.output:
        case "json":
            print_json(msgspec.json.encode(JudgeAnswer(report, trace, watch.left_out)))  # type: ignore[arg-type]
        case "markdown":
            print_lines(markdown_lines(report))
        case _:
            print_lines(_report_lines(trace, report, watch.left_out))
    return 1 if any(isinstance(each, AnyVerdict) and each.verdict in BAD for each in trace) else 0


def _read(files: Sequence[Path]) -> RecordedWatch:
    """Return what the files have, of the kinds that are served. Raises InputError."""
    watch = RecordedWatch()
    for path in files:
        data = read_file(path)
        with faults_of(path):
            watch.take(data)
    return watch


def judge(watch: RecordedWatch, scheduler: JudgedScheduler) -> tuple[list[Event], Report]:
    """Return the trace, and the report of it."""
    judging = Judge(scheduler)
    trace: list[Event] = []
    now = watch.begin()
    for event in watch.listed:
        judging.observe(event, now)
    judging.listed()
    report = ReportMaker(now)
    for event, now in watch.timed_changes():
        trace += [*judging.observe(event, now), *judging.settle(now)]
    trace += judging.settle(now + 60 * SECOND)
    report.add(trace)
    places = {key: place for key, place in judging.take_queue_places().items() if place is not None}
    return trace, report.report(now, places)


def _report_lines(trace: list[Event], report: Report, left_out: int) -> Iterator[str]:
    for event in trace:
        if not isinstance(event, AnyVerdict):
            continue
        yield f"{timestamp(event.t)}  {event.verdict:<10}  {event.pod}: {decision_text(event)}"
        if event.verdict not in GOOD or event.state.age or event.state.assumed or event.state.undone:
            yield f"    {in_english(event)}"
    yield ""
    yield from count_lines(report)
    if left_out:
        yield f"{left_out} entries are no changes of built-in kinds."
