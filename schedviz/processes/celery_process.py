"""A Celery process with a role. It takes messages from the queue of its role and from a queue of its own."""

import faulthandler
import logging
import os
import signal
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from celery import Celery
from celery.signals import task_postrun, task_prerun
from redis import Redis
from redis.exceptions import RedisError

from schedviz.processes.heartbeats import BEAT_SECONDS, Heartbeats
from schedviz.processes.message_check import MessageCheck
from schedviz.processes.message_queues import KEY_PREFIX, QUEUES, list_key, own_queue, own_queue_name
from schedviz.processes.periodic import PeriodicCall, PeriodicThread
from schedviz.processes.role import Role
from schedviz.processes.schema_check import SchemaCheck
from schedviz.processes.shared_metrics import WRITE_SECONDS, SharedMetrics
from schedviz.store import Store

log = logging.getLogger(__name__)

REMOVE_DEAD_SECONDS: Final = 2.0
"""Seconds between two removals of the keys of dead processes."""

SHUTDOWN_SECONDS: Final = 5.0
"""Seconds for the warm shutdown of a process that takes no messages; then it ends at once. In a warm shutdown
Celery waits for a reply of the broker, which never comes on a connection that was lost without notice."""

STDERR: Final = 2
"""The file descriptor of the standard error, because Celery replaces sys.stderr by a logger."""

UNACKED: Final = (f"{KEY_PREFIX}unacked", f"{KEY_PREFIX}unacked_index")
"""The keys in which kombu stores messages between their delivery and their acknowledgement: a hash of
``[message, exchange, routing key]``, and a sorted set. It would deliver them again an hour later."""


class CeleryProcess:
    """Sends the heartbeats of this process, shuts it down when it takes no messages any more (others do its
    work until it is started again), and removes what dead processes of its role left in Redis."""

    def __init__(
        self,
        store: Store,
        role: Role,
        name: str,
        beat: Callable[[], object] | None = None,
        calls: Sequence[PeriodicCall] = (),
    ) -> None:
        """beat: sends the heartbeat, if that is more than :meth:`Heartbeats.beat`. calls: further calls."""
        self.name = name
        self.role: Role = role
        self.queue = own_queue(QUEUES[role], name)
        self._heartbeats = Heartbeats(store.redis, role)
        self._metrics = SharedMetrics(store.redis, role, name)
        self._message_check = MessageCheck(
            store.redis, [list_key(queue) for queue in (QUEUES[role], self.queue.name)]
        )
        own_calls = [
            PeriodicCall(BEAT_SECONDS, beat or (lambda: self._heartbeats.beat(name))),
            PeriodicCall(BEAT_SECONDS, self._check_messages),
            PeriodicCall(REMOVE_DEAD_SECONDS, lambda: remove_dead(store.redis, role)),
            SchemaCheck(store.redis).call(),
            PeriodicCall(WRITE_SECONDS, self._metrics.write),
        ]
        self._periodic = PeriodicThread([*own_calls, *calls], self._message_check.reset)

    def start(self, app: Celery) -> None:
        """Start the threads of the process, before it consumes messages."""
        app.amqp.queues.select([QUEUES[self.role]])
        app.amqp.queues.select_add(self.queue)
        task_prerun.connect(self._task_began)
        task_postrun.connect(self._task_ended)
        self._periodic.start()

    def stop(self) -> None:
        self._periodic.stop()
        self._metrics.stop()
        self._stop_heartbeats()

    def _task_began(self, **_: object) -> None:
        self._message_check.task_began()

    def _task_ended(self, **_: object) -> None:
        self._message_check.task_ended()

    def _stop_heartbeats(self) -> None:
        try:
            self._heartbeats.stop(self.name)
        except RedisError as error:
            log.warning("could not write that %s stops: %s", self.name, error)

    def _check_messages(self) -> None:
        if not self._message_check.run():
            log.critical("messages wait, and this process does not take them: it shuts down")
            self._periodic.request_stop()
            self._stop_heartbeats()
            faulthandler.dump_traceback_later(SHUTDOWN_SECONDS, exit=True, file=STDERR)
            os.kill(os.getpid(), signal.SIGTERM)


def remove_dead(redis: Redis, role: Role) -> None:
    """Remove the queues of dead processes, with the messages in them, and then their heartbeats: if this
    process dies in between, another one removes the rest.

    The work that was requested is in the store, from which it is requested again of other workers.
    """
    heartbeats = Heartbeats(redis, role)
    dead = heartbeats.dead()
    if not dead:
        return
    queues = {own_queue_name(QUEUES[role], name) for name in dead}
    redis.delete(*map(list_key, queues))
    hash_key, index_key = UNACKED
    for tag, stored in redis.hscan_iter(hash_key):
        _message, _exchange, routing_key = msgspec.json.decode(stored)
        if routing_key in queues:
            redis.zrem(index_key, tag)
            redis.hdel(hash_key, tag)
    heartbeats.forget(dead)
