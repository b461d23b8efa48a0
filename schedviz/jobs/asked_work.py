"""The work of a question about a whole cluster, as its job runner begins it."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from schedviz.jobs.asked_job import ASKED, AskedJob
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.job_turns import JobTurns, Work
from schedviz.store import Sandbox, Store
from schedviz.store.bounds import TRACE_LENGTH
from simulator.api import Manifest
from simulator.objects.metadata import key_of
from simulator.questions.answer import Answer, AskedCluster, AskedQuestion
from simulator.questions.ask import AnyAnswer
from simulator.questions.evictions import EvictionsAnswer, evictions_of_trace, owners_of, sum_evictions
from simulator.questions.fields import begin_question

MAX_SECONDS: Final = 120.0
"""Maximum seconds of work for one question; then what was found until then is shown. With 5,000 nodes and
50,000 pods the first figures take some ten."""


SHOWN_AFTER: Final = 4.0
"""Seconds of work after which what is found is shown while a question runs, and between two times of that. To
put an answer together takes some tenths of a second at 5,000 nodes."""


READ_AT_ONCE: Final = 500
"""Objects that are read between two times at which the work can be stopped."""


class _AskedWork:
    """The objects are read by the first steps, so that the job is seen to run and can be stopped."""

    def __init__(self, sandbox: Sandbox, job: AskedJob) -> None:
        self._sandbox, self._fields = sandbox, job.fields
        self._question: AskedQuestion[AnyAnswer] | None = None

    def run(self) -> Iterator[float]:
        """Raises BadQuestion, ConfigError."""
        meta, now = self._sandbox.meta(), self._sandbox.now()
        objects: dict[str, dict[str, Manifest]] = {}
        for resource, found in self._sandbox.iterate_all().items():
            read = objects[resource] = {}
            for manifest in found:
                read[key_of(manifest)] = manifest
                if len(read) % READ_AT_ONCE == 0:
                    yield 0.0
        cluster = AskedCluster(objects, meta.config, meta.features(), meta.seed, now)
        self._question = begin_question(cluster, self._fields)
        yield from self._question.run()

    def result(self) -> Answer | None:
        """None: the objects are still read."""
        return None if self._question is None else self._question.answer()


class _SummedEvictions:
    """The evictions that the trace of a sandbox has."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def run(self) -> Iterator[float]:
        yield 1.0

    def result(self) -> EvictionsAnswer:
        events = (event for _, event in self._sandbox.trace_tail(TRACE_LENGTH))
        objects, _ = self._sandbox.list_all()
        return sum_evictions(*evictions_of_trace(events), owners_of(objects))


def asked_turns(store: Store) -> JobTurns[AskedJob]:
    return JobTurns(JobStore(store, ASKED), partial(begin_asked, store), MAX_SECONDS, SHOWN_AFTER)


def begin_asked(store: Store, job: AskedJob) -> Work:
    """Raises NoSandbox."""
    sandbox = store.sandbox(job.sandbox)
    if job.fields.question == "evictions":
        return _SummedEvictions(sandbox)
    return _AskedWork(sandbox, job)
