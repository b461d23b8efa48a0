"""The jobs in Redis: their state, progress and results, requests to stop them, and their bounds."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, Generic, cast

import msgspec
from msgspec.structs import replace
from redis.exceptions import RedisError

from schedviz.celery import app
from schedviz.jobs.job import J, JobKind
from schedviz.processes.message_queues import JOBS_QUEUE
from schedviz.store import Store
from schedviz.store.keys import PREFIX
from schedviz.store.places import Places, Share
from simulator.decision_columns import decision_decoder, stored_encoder

RUNNER_LOST: Final = "the process that ran it has ended"


class JobStore(Generic[J]):
    """The jobs of one kind. Web processes and job runners read and write them here."""

    def __init__(self, store: Store, kind: JobKind[J]) -> None:
        self._redis = store.redis
        self._wall = store.wall
        self._kind = kind
        self._prefix = f"{PREFIX}:jobs:{kind.name}"
        # A sorted set: see Places.
        self._places = Places(store, f"{self._prefix}:places")
        # A sorted set: key of a finished job -> when it finished.
        self._finished_key = f"{self._prefix}:finished"
        self._decoder = _decoder_of(kind.job_type)

    def submit(self, job: J, shares: Sequence[Share] = ()) -> J:
        """Store a new job and send its task. If the same work is waiting or running, returns that job.

        shares: of the pool of these jobs. Raises LimitExceeded, and kombu's OperationalError where Redis does
        not serve; then nothing is stored.
        """
        known = self.read(job.key)
        if known is not None and not known.finished:
            return known
        self._places.take(job.key, self._kind.waiting_seconds, shares)
        try:
            self.save(job)
            self.send_task(job, JOBS_QUEUE, expires=self._kind.waiting_seconds)
        except BaseException:
            with suppress(RedisError):
                self.forget(job)
            raise
        return job

    def send_task(self, job: J, queue: Any, **options: Any) -> None:
        """Ask for the job to be run. queue: a name or a Queue, which Celery's type stubs do not allow."""
        app.send_task(self._kind.task, (job.key, job.id), queue=queue, **options)

    def read(self, key: str, *, asks_again: bool = True) -> J | None:
        """Return the job with this key; None if there is no such job, or no longer. asks_again: one whose job
        runner has died is asked for again, and has failed after ``tries_at_most``."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.get(self._job_key(key))
            pipe.pttl(self._job_key(key))
            stored, milliseconds = pipe.execute()
        if stored is None:
            return None
        job: J = self._decoder.decode(stored)
        if job.finished or not asks_again:
            return job
        silent = self._stored_seconds(job) - milliseconds / 1000
        return job if silent < self._kind.silent_seconds else self._ask_again(job)

    def _ask_again(self, job: J) -> J:
        if job.tries < self._kind.tries_at_most:
            job = replace(job, state="waiting", tries=job.tries + 1)
            self.save(job)
            self.send_task(job, JOBS_QUEUE, expires=self._kind.waiting_seconds)
        elif job.state == "running":
            job = replace(self._kind.without_result(job), state="failed", trouble=RUNNER_LOST)
            self.save(job)
        return job

    def _stored_seconds(self, job: J) -> int:
        """Return the time for which a job is stored after a save."""
        kind = self._kind
        seconds = {"waiting": kind.waiting_seconds, "running": kind.silent_seconds + kind.waiting_seconds}
        return seconds.get(job.state, kind.kept_seconds)

    def save(self, job: J) -> None:
        """Store the state, the progress and the result of a job. A job that is too large fails."""
        data = stored_encoder.encode(job)
        if len(data) > self._kind.bytes_at_most:
            job = replace(self._kind.without_result(job), state="failed", trouble=self._kind.too_large)
            data = stored_encoder.encode(job)
        seconds = self._stored_seconds(job)
        self._redis.set(self._job_key(job.key), data, ex=seconds)
        if job.state in self._kind.counted_states:
            self._places.take(job.key, seconds)
        else:
            self._places.leave(job.key)
        if job.finished:
            now = self._wall()
            self._redis.zadd(self._finished_key, {job.key: now})
            self._delete_oldest(now)

    def request_stop(self, job: J) -> None:
        """Request that the job runner stops the job, unless it is finished. It reads this soon, and saves
        what it has found until then."""
        if job.finished:
            return
        self._redis.set(self._stop_key(job), b"1", ex=self._kind.waiting_seconds)

    def is_stop_requested(self, job: J) -> bool:
        return bool(self._redis.exists(self._stop_key(job)))

    def forget(self, job: J) -> None:
        self._delete(job.key)

    def _delete_oldest(self, now: float) -> None:
        self._redis.zremrangebyscore(self._finished_key, 0, now - self._kind.kept_seconds)
        oldest = cast("list[bytes]", self._redis.zrange(self._finished_key, 0, -self._kind.kept_at_most - 1))
        for key in oldest:
            self._delete(key.decode())

    def _delete(self, key: str) -> None:
        self._redis.delete(self._job_key(key))
        self._redis.zrem(self._finished_key, key)
        self._places.leave(key)

    def _job_key(self, key: str) -> str:
        return f"{self._prefix}:job:{key}"

    def _stop_key(self, job: J) -> str:
        return f"{self._prefix}:stop:{job.id}"


@cache
def _decoder_of(job_type: type[J]) -> msgspec.json.Decoder[J]:
    return decision_decoder(job_type)
