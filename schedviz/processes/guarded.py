"""A Celery process that takes the messages of the queue of its kind, and those of a queue of its own."""

import logging
import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from celery.signals import task_postrun, task_prerun
from redis import Redis
from redis.exceptions import RedisError

from schedviz.celery import COMMON_QUEUE, KEY_PREFIX, QUESTIONS_QUEUE, own_queue
from schedviz.processes.consumer import Consumer
from schedviz.processes.heartbeats import BEAT_SECONDS, Heartbeats, Kind
from schedviz.processes.pulse import Job, Pulse
from schedviz.store import Store

log = logging.getLogger(__name__)

QUEUES: Final[dict[Kind, str]] = {"workers": COMMON_QUEUE, "thinkers": QUESTIONS_QUEUE}

SWEEP_SECONDS: Final = 2.0
"""Between two looks for what dead processes left."""

UNACKED: Final = (f"{KEY_PREFIX}unacked", f"{KEY_PREFIX}unacked_index")
"""Where kombu keeps messages between their delivery and their acknowledgement: a hash of ``[message,
exchange, routing key]``, and a sorted set. It would deliver them again an hour later."""


class Guarded:
    """Says that the process lives, ends it when it takes no messages any more (another takes over, a
    supervisor starts it again), and removes what dead processes of its kind left in Redis."""

    def __init__(
        self,
        store: Store,
        kind: Kind,
        name: str,
        beat: Callable[[], object] | None = None,
        jobs: Sequence[Job] = (),
    ) -> None:
        """beat: what says that it lives, if that is more than its heartbeat. jobs: done beside all this."""
        self.name = name
        self.kind: Kind = kind
        self.queue = own_queue(QUEUES[kind], name)
        self._redis = store.redis
        self._heartbeats = Heartbeats(store.redis, kind)
        self._consumer = Consumer(
            store.redis, [f"{KEY_PREFIX}{queue}" for queue in (QUEUES[kind], self.queue.name)]
        )
        first = [
            Job(BEAT_SECONDS, beat or (lambda: self._heartbeats.beat(name))),
            Job(BEAT_SECONDS, self._check_consumer),
            Job(SWEEP_SECONDS, lambda: remove_dead(store.redis, kind)),
        ]
        self._pulse = Pulse([*first, *jobs], self._consumer.interrupted)

    def start(self, instance: Any) -> None:
        """instance: the Celery worker, which is about to consume."""
        instance.app.amqp.queues.select_add(self.queue)
        task_prerun.connect(self._begin)
        task_postrun.connect(self._end)
        self._pulse.start()

    def stop(self) -> None:
        self._pulse.stop()
        self._leave()

    def _begin(self, **_: Any) -> None:
        self._consumer.begin()

    def _end(self, **_: Any) -> None:
        self._consumer.end()

    def _leave(self) -> None:
        try:
            self._heartbeats.stop(self.name)
        except RedisError as error:
            log.warning("could not say that %s stops: %s", self.name, error)

    def _check_consumer(self) -> None:
        if self._consumer.is_stuck():
            log.critical("messages wait, and this process does not take them: it ends, to be started again")
            self._leave()
            os._exit(1)


def remove_dead(redis: Redis, kind: Kind) -> None:
    """Remove the queues of dead processes, with the messages in them, and then their heartbeats: a process
    that dies in between leaves the rest to another.

    What workers were asked to do is in the store as well, and goes to other queues from there.
    """
    heartbeats = Heartbeats(redis, kind)
    dead = heartbeats.dead()
    if not dead:
        return
    queues = {own_queue(QUEUES[kind], name).name for name in dead}
    redis.delete(*(f"{KEY_PREFIX}{queue}" for queue in queues))
    hash_key, index_key = UNACKED
    for tag, stored in redis.hscan_iter(hash_key):
        _message, _exchange, routing_key = msgspec.json.decode(stored)
        if routing_key in queues:
            redis.zrem(index_key, tag)
            redis.hdel(hash_key, tag)
    heartbeats.forget(dead)
