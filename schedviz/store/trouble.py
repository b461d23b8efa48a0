"""Temporary states in which Redis does not serve requests, and the exceptions that show them."""

from enum import Enum
from typing import Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError


class Trouble(Enum):
    AWAY = "away"
    """Redis does not answer, or is still loading its file. It is unknown whether the last write was
    stored."""
    FULL = "full"
    """Redis has reached ``maxmemory``: it refuses writes, except deletions."""
    READ_ONLY = "read only"
    """Redis refuses writes, because it cannot write its file (the disk is full), is a replica, or has too few
    replicas."""


IN_SCRIPTS: Final = {
    "-OOM ": Trouble.FULL,
    "-MISCONF ": Trouble.READ_ONLY,
    "-READONLY ": Trouble.READ_ONLY,
    "-NOREPLICAS ": Trouble.READ_ONLY,
}
"""Error code of a command that failed in a script, as the script's error message contains it before Redis
7."""


def trouble_of(error: BaseException | None) -> Trouble | None:
    """Return the trouble that an exception or one of its causes shows; None = another kind of error."""
    while error is not None:
        match error:
            case RedisConnectionError() | RedisTimeoutError() | ConnectionError():
                return Trouble.AWAY
            case OutOfMemoryError():
                return Trouble.FULL
            case ReadOnlyError():
                return Trouble.READ_ONLY
            case ResponseError():
                text = f"-{error}"
                return next((found for quoted, found in IN_SCRIPTS.items() if quoted in text), None)
        error = error.__cause__
    return None
