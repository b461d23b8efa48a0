"""The health of the whole server: ``/healthz`` and ``/readyz``, with lines as kube-apiserver writes them."""

import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedviz.celery import app
from schedviz.loop.leadership import living_workers
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.message_queues import backlogs
from schedviz.store import Store, Trouble, trouble_of
from schedviz.store.default import default_store
from schedviz.store.server import Server

log = logging.getLogger(__name__)

FAILING_NAMED: Final = 20
"""Maximum number of failing sandboxes that /readyz names."""

TROUBLE: Final = {
    Trouble.AWAY: "Redis does not answer, or is still reading its file",
    Trouble.FULL: "Redis is out of memory (its maxmemory) and stores nothing",
    Trouble.READ_ONLY: "Redis stores nothing: it cannot write its file, or is a replica",
}


class HealthCheck(NamedTuple):
    name: str
    find_problem: Callable[[Store], str]
    """Returns the problem in words, "" where there is none. Raises what redis-py raises."""
    required: bool = True
    """Whether the server is not ready without it."""


def healthz(request: HttpRequest) -> HttpResponse:
    """Answer the liveness check: this process responds."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Answer the readiness check: 200 if sandboxes run, otherwise 503, with one line per check: ``[+]`` it
    passed, ``[-]`` it failed, ``[!]`` it failed but the sandboxes run."""
    store = default_store()
    ready = True
    lines = []
    away = False
    for check in CHECKS:
        try:
            problem = "not checked, as Redis does not answer" if away else check.find_problem(store)
        except RedisError as error:
            log.warning("readyz: %s: %s", check.name, error)
            trouble = trouble_of(error)
            away = trouble is Trouble.AWAY
            problem = TROUBLE[trouble] if trouble else type(error).__name__
        if not problem:
            lines.append(f"[+]{check.name} ok")
        else:
            lines.append(f"[{'-' if check.required else '!'}]{check.name} failed: {problem}")
            ready &= not check.required
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain", status=200 if ready else 503)


def _redis(store: Store) -> str:
    store.redis.ping()
    return ""


def _redis_writes(store: Store) -> str:
    _, trouble = store.probe()
    return TROUBLE[trouble] if trouble else ""


def _redis_cluster(store: Store) -> str:
    """Return the masters of the Redis Cluster that do not serve."""
    if not store.has_cluster:
        return ""
    try:
        found = [(server.label, _find_trouble(server)) for server in store.servers.all]
    except RedisError as error:
        log.warning("readyz: redis-cluster: %s", error)
        return "no node answers"
    return "; ".join(f"{label}: {TROUBLE[trouble]}" for label, trouble in found if trouble)


def _find_trouble(server: Server) -> Trouble | None:
    try:
        return server.probe()[1]
    except RedisError as error:
        log.warning("readyz: %s: %s", server.label, error)
        return trouble_of(error) or Trouble.AWAY


def _broker(store: Store) -> str:
    """Check Celery's broker. It is the same Redis, but is reached by Kombu."""
    try:
        with app.connection_for_write() as connection:
            connection.connect()
    except (RedisError, OperationalError) as error:
        log.warning("readyz: broker: %s", error)
        return "Celery's broker does not answer"
    return ""


def _queues(store: Store) -> str:
    waiting = backlogs(store.redis)
    return ", ".join(f"{count} messages wait in the queue {queue}" for queue, count in waiting.items())


def _worker(store: Store) -> str:
    return "" if living_workers(store) else "no worker is alive, so the sandboxes stand still"


def _job_runner(store: Store) -> str:
    living = Heartbeats(store.redis, "job-runner").living()
    return "" if living else "no job runner is alive, so what-if questions and comparisons wait"


def _sandboxes(store: Store) -> str:
    """Return the names of the sandboxes whose loop failed; how many, where strangers may not know names."""
    failing = store.failing()
    if failing and settings.ACCESS != "open":
        return f"{len(failing)} stand still; manage.py doctor names them"
    rest = len(failing) - FAILING_NAMED
    return ", ".join(failing[:FAILING_NAMED]) + (f" and {rest} more" if rest > 0 else "")


CHECKS: Final = (
    HealthCheck("redis", _redis),
    HealthCheck("redis-writes", _redis_writes),
    HealthCheck("redis-cluster", _redis_cluster, required=False),
    HealthCheck("broker", _broker),
    HealthCheck("worker", _worker),
    HealthCheck("job-runner", _job_runner, required=False),
    HealthCheck("queues", _queues, required=False),
    HealthCheck("sandboxes", _sandboxes, required=False),
)
