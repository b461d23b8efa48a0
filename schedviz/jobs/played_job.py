"""The job of a played workload: the arrivals of a file on the nodes of another one, in memory."""

import zlib
from typing import Final

import msgspec

from schedviz.jobs.comparison_job import RequestedSide
from schedviz.jobs.job import LongJob, long_job_kind
from simulator.api import Micros
from simulator.arrivals.play_run import Played

PODS_AT_MOST: Final = 20_000
"""Maximum number of pods of a workload that a job plays: those of some two minutes."""
PACKED_BYTES: Final = 1_500_000
"""Maximum size of the packed files of a job, which are stored with it: about 60,000 lines."""


class PlayedRequest(msgspec.Struct, frozen=True):
    """The workload, and the schedulers that play it."""

    title: str
    """The name of the file, or of the program; "" = it has none."""
    arrivals: bytes
    """The file of arrivals, packed (:func:`pack`); so is ``nodes``, b"" = the arrivals have nodes."""
    nodes: bytes
    pace: Micros
    sides: list[RequestedSide]
    """One or two."""
    duration: Micros = 0
    """The simulated time to play; 0 = to the end of the workload."""


class PlayedJob(LongJob, frozen=True, kw_only=True):
    request: PlayedRequest
    owner: str = ""
    """The digest of the identity of the visitor who asked; "" = sandboxes have no owners."""
    notes: list[str] = []
    """What of the file is not played, or fits no node, each as a line."""
    result: Played | None = None


PLAYED: Final = long_job_kind(
    "played", PlayedJob, "schedviz.jobs.run_played_turn", "the result is too large; `schedviz play` has it"
)


def pack(data: bytes) -> bytes:
    return zlib.compress(data)


def unpack(data: bytes) -> bytes:
    return zlib.decompress(data)
