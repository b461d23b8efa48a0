"""The jobs that play workloads in memory: their checks, and who may see them."""

from pathlib import Path

from django.http import HttpRequest
from django.utils.translation import gettext

from schedviz.access.account import account_of
from schedviz.access.identity import owner_of
from schedviz.access.visitor import find_visitor
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.played_job import PACKED_BYTES, PLAYED, PODS_AT_MOST, PlayedJob, PlayedRequest, pack
from schedviz.limits.pools import IMPORTS
from schedviz.limits.requester import requester_of
from schedviz.routes import shares_of
from schedviz.store.default import default_store
from schedviz.web.imports.take import ImportFailed
from schedviz.web.imports.workload import read_workload
from simulator.commands.play import WorkloadHeader


def check_workload(request: HttpRequest, arrivals: Path, nodes: Path | None) -> WorkloadHeader:
    """Return what is known of a workload before it is played. Raises LimitExceeded, and ImportFailed for a
    file that cannot be read, and for a workload that is too large for a job."""
    with read_workload(default_store(), arrivals, nodes, IMPORTS.shares(requester_of(request))) as read:
        header = read.header
    if header.pods > PODS_AT_MOST:
        raise ImportFailed(
            gettext(
                "The workload has %(pods)s pods; at most %(most)s are played here. "
                "The command schedviz play plays more."
            )
            % {"pods": f"{header.pods:,}", "most": f"{PODS_AT_MOST:,}"}
        )
    return header


def packed(path: Path | None) -> bytes:
    """Return a file as a job stores it; b"" = there is none. Raises ImportFailed."""
    if path is None:
        return b""
    data = pack(path.read_bytes())
    if len(data) > PACKED_BYTES:
        raise ImportFailed(
            gettext("The file is too large to be played here. The command schedviz play plays it.")
        )
    return data


def submit(request: HttpRequest, played: PlayedRequest, header: WorkloadHeader) -> PlayedJob:
    """Submit the job of a workload that was checked. Raises LimitExceeded."""
    job = PlayedJob(request=played, owner=owner_of(request), notes=header.lines())
    return jobs().submit(job, shares_of(request))


def jobs() -> JobStore[PlayedJob]:
    return JobStore(default_store(), PLAYED)


def find_played(request: HttpRequest, number: str) -> PlayedJob | None:
    """Return the job of a workload, for those who asked for it; None = there is none."""
    job = jobs().read(number)
    visitor = find_visitor(request.COOKIES, "", account_of(request))
    return job if job is not None and job.owner == visitor.owner else None
