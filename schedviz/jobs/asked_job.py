"""The job of a question about a whole cluster."""

from typing import Final

from schedviz.jobs.job import LongJob, long_job_kind
from simulator.questions.ask import AnyAnswer
from simulator.questions.fields import QuestionFields


class AskedJob(LongJob, frozen=True, kw_only=True):
    sandbox: str
    fields: QuestionFields
    manifests: str = ""
    """The manifests as they were written, for the form."""
    time: int = 0
    """The simulated time at which it was asked."""
    result: AnyAnswer | None = None


ASKED: Final = long_job_kind("asked", AskedJob, "schedviz.jobs.run_asked_turn", "the answer is too large")
