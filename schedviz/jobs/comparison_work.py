"""The work of a comparison, as its job runner begins it."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from django.conf import settings

from schedviz.jobs.comparison_job import COMPARISONS, RECORDED, ComparisonJob, ComparisonRequest
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.job_turns import JobTurns, Work
from schedviz.store import Gone, Store
from schedviz.store.recording import recording_lines
from simulator.api import SECOND
from simulator.commands.run import START
from simulator.compare.comparison_run import ComparisonRun
from simulator.compare.outside_comparison import OutsideComparison
from simulator.compare.place_again import place_pods_again
from simulator.compare.played_history import PlayedHistory
from simulator.compare.recorded_history import read_history
from simulator.compare.second_scheduler import SecondScheduler
from simulator.compare.workload import ComparedWorkload, workload_of_objects, workload_of_scenario
from simulator.recording import Record, record_decoder
from simulator.replay import RecordingError
from simulator.scenario import load_scenario
from simulator.scheduler.extender_http import HttpTransport

MAX_SECONDS: Final = 60.0
"""Maximum seconds of work for one comparison; then its result so far is shown. A bundled scenario takes a
second or two."""


def comparison_turns(store: Store) -> JobTurns[ComparisonJob]:
    return JobTurns(JobStore(store, COMPARISONS), partial(begin_comparison, store), MAX_SECONDS)


def begin_comparison(store: Store, job: ComparisonJob) -> Work:
    """Raises RecordingError."""
    request = job.request
    transport = HttpTransport(settings.EXTENDER_HOSTS)
    duration = request.seconds * SECOND
    if request.a.preset == RECORDED:
        history = read_history(_records(store, request.name))
        outside = OutsideComparison(history, request.b.side(), duration or None, transport)
        second = SecondScheduler(request.b.side().settings, transport)
        return PlayedHistory(outside, _records(store, request.name), second)
    workload = _workload(store, request)
    if request.place_again:
        workload = place_pods_again(workload)
    return ComparisonRun(workload, request.a.side(), request.b.side(), duration, transport)


def _workload(store: Store, request: ComparisonRequest) -> ComparedWorkload:
    if request.source != "sandbox":
        return workload_of_scenario(load_scenario(request.text), START)
    sandbox = store.sandbox(request.name)
    objects, _ = sandbox.list_all()
    _, _, cycle = sandbox.progress()
    return workload_of_objects(objects, sandbox.now(), sandbox.meta().pace, cycle + 1)


def _records(store: Store, name: str) -> Iterator[Record]:
    """Yield the records of the sandbox's recording. Raises RecordingError."""
    try:
        for line in recording_lines(store.sandbox(name)):
            yield record_decoder.decode(line)
    except Gone:
        raise RecordingError(
            f"sandbox {name} has no recording now; one begins when its leader is killed"
        ) from None
