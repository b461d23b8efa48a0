"""Runs long jobs in turns, so that questions and other jobs of the same process run in between."""

import logging
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, Final, Generic, Protocol

from msgspec.structs import replace

from schedviz.jobs.job import J
from schedviz.jobs.job_store import JobStore

log = logging.getLogger(__name__)

TURN_SECONDS: Final = 0.4
"""The length of a turn, and so the longest wait of a question for each long job, and of a request to
stop."""


class Work(Protocol):
    """What a job does."""

    def run(self) -> Iterator[float]:
        """Do the work, and yield often how much of it is done; 1.0 = all."""
        ...

    def result(self) -> Any:
        """Return what was found until now."""
        ...


class JobTurns(Generic[J]):
    """The long jobs of one kind that run in this process. Used by one thread."""

    def __init__(
        self, jobs: JobStore[J], begin: Callable[[J], Work], max_seconds: float, shown_after: float = inf
    ) -> None:
        """max_seconds: the seconds of work after which a job ends with its result so far. shown_after: those
        between two times at which a job that runs shows its result so far."""
        self._jobs = jobs
        self._begin = begin
        self._max_seconds = max_seconds
        self._shown_after = shown_after
        self._running: dict[str, _RunningWork] = {}

    def run_turn(self, key: str) -> J | None:
        """Run one turn of a job. Returns the job if it needs another turn."""
        job = self._jobs.read(key, asks_again=False)
        if job is not None and job.state == "running" and key not in self._running:
            return None  # another process runs it, and this message was one too many
        if job is not None and not job.finished:
            try:
                job = self._advance(job)
            except Exception as error:  # a bad object of the user, or an extender that does not answer
                log.warning("%s %s", type(job).__name__, job.key, exc_info=error)
                job = replace(job, state="failed", trouble=f"{type(error).__name__}: {error}")
            self._jobs.save(job)
        if job is None or job.finished:
            self._running.pop(key, None)
            return None
        return job

    def _advance(self, job: J) -> J:
        running = self._running.get(job.key)
        if running is None:
            if self._jobs.is_stop_requested(job):
                return replace(job, state="stopped")
            running = self._running[job.key] = _RunningWork(self._begin(job))
        done = running.work_for_a_turn()
        if done == 1.0:
            return replace(job, state="done", done=done, result=running.work.result())
        if self._jobs.is_stop_requested(job):
            return replace(job, state="stopped", done=done, result=running.work.result())
        if running.seconds > self._max_seconds:
            return replace(job, state="late", done=done, result=running.work.result())
        if running.seconds >= running.shown_at + self._shown_after:
            running.shown_at = running.seconds
            job = replace(job, result=running.work.result())
        return replace(job, state="running", done=done)


class _RunningWork:
    def __init__(self, work: Work) -> None:
        self.work = work
        self.seconds = 0.0
        """Seconds of work so far."""
        self.shown_at = 0.0
        """Those at which its result was shown last."""
        self._progress = work.run()

    def work_for_a_turn(self) -> float:
        """Return how much of the work is done, 1.0 = all."""
        began, done = time.monotonic(), 1.0
        while time.monotonic() - began < TURN_SECONDS:
            done = next(self._progress, 1.0)
            if done == 1.0:
                break
        self.seconds += time.monotonic() - began
        return done
