"""Runs comparisons in turns, so that questions and other comparisons of the same process run in between."""

import logging
import time
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from msgspec.structs import replace

from schedviz.jobs.comparison_job import RECORDED, ComparisonJob, ComparisonRequest, RequestedSide
from schedviz.jobs.job_store import JobStore
from schedviz.store import Gone, Store
from schedviz.store.recording import recording_lines
from simulator.api import SECOND
from simulator.commands.run import START
from simulator.compare.comparison_run import ComparisonRun, Side
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

log = logging.getLogger(__name__)

TURN_SECONDS: Final = 0.4
"""The length of a turn, and so the longest wait of a question for each comparison, and of a request to
stop."""

MAX_SECONDS: Final = 60.0
"""Maximum seconds of work for one comparison; then its result so far is shown. A bundled scenario takes a
second or two."""


class ComparisonTurns:
    """The comparisons that run in this process. Used by one thread."""

    def __init__(self, store: Store, jobs: JobStore[ComparisonJob]) -> None:
        self._store = store
        self._jobs = jobs
        self._running: dict[str, _RunningComparison] = {}

    def run_turn(self, key: str) -> ComparisonJob | None:
        """Run one turn of a comparison. Returns the job if it needs another turn."""
        job = self._jobs.read(key, asks_again=False)
        if job is not None and job.state == "running" and key not in self._running:
            return None  # another process runs it, and this message was one too many
        if job is not None and not job.finished:
            try:
                job = self._advance(job)
            except Exception as error:  # a bad object of the user, or an extender that does not answer
                log.warning("comparison of %s %s", job.request.source, job.request.name, exc_info=error)
                job = replace(job, state="failed", trouble=f"{type(error).__name__}: {error}")
            self._jobs.save(job)
        if job is None or job.finished:
            self._running.pop(key, None)
            return None
        return job

    def _advance(self, job: ComparisonJob) -> ComparisonJob:
        running = self._running.get(job.key)
        if running is None:
            if self._jobs.is_stop_requested(job):
                return replace(job, state="stopped")
            running = self._running[job.key] = _RunningComparison(self._store, job.request)
        done = running.work()
        if done == 1.0:
            return replace(job, state="done", done=done, result=running.comparison_run.result())
        if self._jobs.is_stop_requested(job):
            return replace(job, state="stopped", done=done, result=running.comparison_run.result())
        if running.seconds > MAX_SECONDS:
            return replace(job, state="late", done=done, result=running.comparison_run.result())
        return replace(job, state="running", done=done)


class _RunningComparison:
    def __init__(self, store: Store, request: ComparisonRequest) -> None:
        transport = HttpTransport(settings.EXTENDER_HOSTS)
        duration = request.seconds * SECOND
        self.comparison_run: ComparisonRun | PlayedHistory
        if request.a.preset == RECORDED:
            history = read_history(_records(store, request.name))
            outside = OutsideComparison(history, _side(request.b), duration or None, transport)
            second = SecondScheduler(_side(request.b).settings, transport)
            self.comparison_run = PlayedHistory(outside, _records(store, request.name), second)
        else:
            workload = _workload(store, request)
            if request.place_again:
                workload = place_pods_again(workload)
            self.comparison_run = ComparisonRun(
                workload, _side(request.a), _side(request.b), duration, transport
            )
        self.seconds = 0.0
        """Seconds of work so far."""
        self._progress: Iterator[float] = self.comparison_run.run()

    def work(self) -> float:
        """Work for one turn. Return how much of the comparison is done, 1.0 = all."""
        began, done = time.monotonic(), 1.0
        while time.monotonic() - began < TURN_SECONDS:
            done = next(self._progress, 1.0)
            if done == 1.0:
                break
        self.seconds += time.monotonic() - began
        return done


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


def _side(side: RequestedSide) -> Side:
    return Side(side.config, side.queue, side.seed, side.features())
