"""The job of a question about a whole cluster."""

from typing import Final

import msgspec

from schedviz.jobs.job import Job, JobKind
from simulator.questions.ask import AnyAnswer
from simulator.questions.fields import QuestionFields


class AskedJob(Job, frozen=True, kw_only=True):
    sandbox: str
    fields: QuestionFields
    manifests: str = ""
    """The manifests as they were written, for the form."""
    time: int = 0
    """The simulated time at which it was asked."""
    done: float = 0.0
    """How much of the work is done, 1.0 = all."""
    result: AnyAnswer | None = None


ASKED: Final = JobKind(
    name="asked",
    job_type=AskedJob,
    task="schedviz.jobs.run_asked_turn",
    # Each holds a cluster in the memory of one process.
    counted_states={"waiting", "running"},
    # Others of two minutes each may run before it.
    waiting_seconds=420,
    # To read 50,000 pods takes some five.
    silent_seconds=60,
    # Its cluster was in the memory of the job runner: it begins again.
    tries_at_most=1,
    # An answer has an address that people share for a day.
    kept_seconds=24 * 3600,
    kept_at_most=100,
    # Five thousand pods in two lists are two megabytes.
    bytes_at_most=4_000_000,
    without_result=lambda job: msgspec.structs.replace(job, result=None),
    too_large="the answer is too large",
)
