"""The work of a played workload, as its job runner begins it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from django.conf import settings

from schedviz.jobs.job_store import JobStore
from schedviz.jobs.job_turns import JobTurns
from schedviz.jobs.played_job import PLAYED, PlayedJob, PlayedRequest, unpack
from schedviz.store import Store
from simulator.arrivals.play_run import Played, PlayRun, workload_of
from simulator.arrivals.read import ReadArrivals, read_file, read_nodes_file
from simulator.scheduler.extender_http import HttpTransport

MAX_SECONDS: Final = 180.0
"""Maximum seconds of work for one workload; then what was played until then is shown. 8,000 pods on 1,500
nodes take half a minute."""
SHOWN_AFTER: Final = 5.0
"""Seconds of work after which what was played is shown while it goes on, and between two times of that."""


class _PlayedWork:
    """The files are read by the first step, so that the job is seen to run."""

    def __init__(self, job: PlayedJob) -> None:
        self._request = job.request
        self._playing: PlayRun | None = None

    def run(self) -> Iterator[float]:
        yield 0.0
        self._playing = _begin(self._request)
        yield from self._playing.run()

    def result(self) -> Played | None:
        return self._playing.result() if self._playing else None


def played_turns(store: Store) -> JobTurns[PlayedJob]:
    return JobTurns(JobStore(store, PLAYED), _PlayedWork, MAX_SECONDS, SHOWN_AFTER)


def _begin(request: PlayedRequest) -> PlayRun:
    """Raises ArrivalError, ManifestError, ConfigError."""
    sides = [each.side() for each in request.sides]
    nodes = read_nodes_file(unpack(request.nodes)) if request.nodes else []
    workload = workload_of(_read(request.arrivals), nodes, request.title, request.pace, sides[0])
    duration = request.duration or workload.duration
    return PlayRun(workload, sides, duration, HttpTransport(settings.EXTENDER_HOSTS))


def _read(packed: bytes) -> ReadArrivals:
    """Read a file of arrivals, by its path, as SQLite needs one."""
    with TemporaryDirectory(prefix="schedviz-played-") as folder:
        path = Path(folder) / "arrivals"
        path.write_bytes(unpack(packed))
        return read_file(path)
