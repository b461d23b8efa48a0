"""Counts what is sent to Redis: a pipeline is sent once, and so is one round trip."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from redis.connection import AbstractConnection


@contextmanager
def round_trips() -> Iterator[Callable[[], int]]:
    """How often this process has sent something over connections that are not asyncio's, in all threads."""
    sent = 0
    send = AbstractConnection.send_packed_command

    def counted(connection: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal sent
        sent += 1
        return send(connection, *args, **kwargs)

    with patch.object(AbstractConnection, "send_packed_command", counted):
        yield lambda: sent
