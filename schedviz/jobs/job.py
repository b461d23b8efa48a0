"""The types and errors that all kinds of jobs share."""

import secrets
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

import msgspec

JobState = Literal["waiting", "running", "done", "stopped", "late", "failed"]
"""The states of a job. ``late``: it took longer than a job of its kind may take."""

FINISHED: Final[Set[JobState]] = {"done", "stopped", "late", "failed"}


def _new_id() -> str:
    return secrets.token_hex(8)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job, its progress and its result, as they are stored. Each kind has a subclass."""

    id: str = msgspec.field(default_factory=_new_id)
    state: JobState = "waiting"
    trouble: str = ""
    """The reason of a failure; "" = the job has not failed."""
    tries: int = 0
    """How often the job was asked for again, because its job runner or its message was lost."""

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def key(self) -> str:
        """The name under which it is stored. Jobs with the same key ask for the same work."""
        return self.id


J = TypeVar("J", bound=Job)


@dataclass(frozen=True)
class JobKind(Generic[J]):
    """A kind of jobs, and its bounds."""

    name: str
    """The name of the kind in the keys of Redis."""
    job_type: type[J]
    task: str
    """The name of the Celery task that runs such a job. Its arguments are the key and the id of the job."""
    counted_states: Set[JobState]
    """The states in which a job has a place of its pool (:mod:`schedviz.limits.pools`)."""
    waiting_seconds: int
    """Seconds after which a job that no job runner has begun is deleted."""
    silent_seconds: int
    """Seconds without a save after which a job that is read is asked for again: the job runner that ran it,
    or had its message, has died."""
    tries_at_most: int
    """How often a job is asked for again; then it has failed. It may be the job that ends the job runner."""
    kept_seconds: int
    """Seconds for which a finished job is kept."""
    kept_at_most: int
    """Finished jobs; the oldest are deleted first."""
    bytes_at_most: int
    """The maximum size of a stored job."""
    without_result: Callable[[J], J]
    """Returns the same job without all that may be large."""
    too_large: str
    """The reason of the failure of a job with more bytes than that."""


class LongJob(Job, frozen=True, kw_only=True):
    """A job that runs in turns (:mod:`schedviz.jobs.job_turns`). Its subclasses have a ``result``."""

    done: float = 0.0
    """How much of the work is done, 1.0 = all."""


def long_job_kind(name: str, job_type: type[J], task: str, too_large: str) -> JobKind[J]:
    """Return a kind of long jobs. All have the same bounds, as they share the job runner."""
    return JobKind(
        name=name,
        job_type=job_type,
        task=task,
        # Each holds its clusters in the memory of one process.
        counted_states={"waiting", "running"},
        # Others of a minute or two each may run before it.
        waiting_seconds=420,
        # To read 50,000 pods twice takes some ten.
        silent_seconds=60,
        # Its clusters were in the memory of the job runner: it begins again.
        tries_at_most=1,
        # A result has an address that people share for a day; it is computed again in seconds.
        kept_seconds=24 * 3600,
        # A large one is a megabyte.
        kept_at_most=100,
        # Two decisions on 5,000 nodes are a tenth of it; 5,000 pods in two lists are half of it.
        bytes_at_most=4_000_000,
        without_result=lambda job: msgspec.structs.replace(job, result=None),
        too_large=too_large,
    )
