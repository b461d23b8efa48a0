"""The migrations of what is stored, oldest first."""

from collections.abc import Iterator
from typing import cast

from redis import Redis


def remove_old_jobs(redis: Redis) -> Iterator[None]:
    """Migrate from version 1 to 2. Questions and comparisons moved to the keys of :mod:`schedviz.jobs`, and
    the heartbeats to the names of the roles. Comparisons of the last day are lost; they are made again in
    seconds."""
    broker = "schedviz:celery:"
    for processes, queue in (("workers", "slices"), ("thinkers", "questions")):
        heartbeats = f"schedviz:heartbeats:{processes}"
        names = [name.decode() for name in cast("list[bytes]", redis.hkeys(heartbeats))]
        redis.delete(heartbeats, *(f"{broker}{queue}.{name}" for name in names))
    redis.delete(f"{broker}questions", f"{broker}_kombu.binding.questions", "schedviz:questions:waiting")
    for key in redis.scan_iter("schedviz:comparisons:*", count=1000):
        redis.delete(key)
    yield


def rename_queue(redis: Redis) -> Iterator[None]:
    """Migrate from version 2 to 3. Processes of before cannot read a value of QueueVersion. What is stored
    stays as it is, as its older name is still read."""
    yield


def compress_objects(redis: Redis) -> Iterator[None]:
    """Migrate from version 3 to 4. Processes of before cannot read compressed objects. What is stored stays
    as it is: the others are still read, and each is compressed when it is written again."""
    yield
