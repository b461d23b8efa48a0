"""The job of a question about a pod: what would let it run, or what would have saved it from an eviction."""

from typing import Final, Literal

import msgspec

from schedviz.jobs.job import Job, JobKind
from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.eviction import Prevention

QuestionKind = Literal["what-if", "saved"]


def question_key(kind: QuestionKind, sandbox: str, pod: str, *, uid: str = "", cycle: int = 0) -> str:
    """Return the key of a question about a pod; see :class:`Question` for the arguments."""
    return f"{kind}:{sandbox}:{pod}:{uid}:{cycle}"


class Question(Job, frozen=True, kw_only=True):
    """A question about a pod. ``what-if``: which changes would let this pending pod run? ``saved``: which
    changes would have prevented the eviction of this pod in ``cycle``? All visitors who look at the pod get
    the same question."""

    kind: QuestionKind
    sandbox: str
    pod: str
    uid: str = ""
    """The uid of the pod, as a later pod of the same name has a question of its own. "" for an evicted
    pod."""
    cycle: int = 0
    doing: str = ""
    """The stage of the search, and how much of it is done."""
    done: int = 0
    total: int = 0
    tried: int = 0
    """Changes that were tried so far."""
    version: int = 0
    """The version of the cluster that was searched: the resourceVersion of its last write."""
    suggestions: list[Suggestion] = []
    """The suggestions in the order in which they were found. In the answer they are ranked."""
    answer: WhatIfAnswer | None = None
    savings: list[Prevention] = []

    @property
    def key(self) -> str:
        return question_key(self.kind, self.sandbox, self.pod, uid=self.uid, cycle=self.cycle)


QUESTIONS: Final = JobKind(
    name="question",
    job_type=Question,
    task="schedviz.jobs.answer_question",
    # A job runner answers one question after the other.
    counted_states={"waiting"},
    waiting_seconds=120,
    # To read 50,000 pods takes some three.
    silent_seconds=20,
    tries_at_most=2,
    # An answer is about one moment, and out of date soon.
    kept_seconds=600,
    # A usual one is some kilobytes.
    kept_at_most=500,
    # Fifty suggestions with a large pod each.
    bytes_at_most=4_000_000,
    without_result=lambda job: msgspec.structs.replace(job, suggestions=[], answer=None, savings=[]),
    too_large="the answer is too large",
)
