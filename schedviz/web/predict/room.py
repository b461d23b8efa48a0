"""The state in Redis that all viewers of the prediction mode of a sandbox share: whether a presenter hides
the answers, the last question, and the number of guesses for each choice."""

import secrets
from typing import Final, cast

from redis import Redis

from schedviz.store.keys import PREFIX

KEPT_SECONDS: Final = 3 * 3600
"""The state expires so long after the last guess: longer than a lecture. It also ends the hiding of a
presenter who has left."""
ASKED: Final = "asked"
HELD: Final = "held"


class Room:
    """``born``: the creation time of the sandbox, which distinguishes it from an older one of the same
    name."""

    def __init__(self, redis: Redis, sandbox: str, born: float) -> None:
        self._redis = redis
        self._key = f"{PREFIX}:{{{sandbox}}}:predict:{born}"

    def state(self) -> tuple[str, str]:
        """The token of the presenter, and the id of the last question; both may be ""."""
        held, question = cast("list[bytes | None]", self._redis.hmget(self._key, [HELD, ASKED]))
        return (held or b"").decode(), (question or b"").decode()

    def hold(self) -> str:
        """Hide the answers, and return the token of the presenter; "" if there is another presenter."""
        token = secrets.token_urlsafe(12)
        won = self._redis.hsetnx(self._key, HELD, token)
        self._redis.expire(self._key, KEPT_SECONDS)
        return token if won else ""

    def release(self) -> None:
        self._redis.hdel(self._key, HELD)

    def ask(self, question: str) -> None:
        """Store the id of the last question."""
        self._redis.hset(self._key, ASKED, question)
        self._redis.expire(self._key, KEPT_SECONDS)

    def count(self, question: str, picks: frozenset[str]) -> None:
        """Count a guess. ``picks`` must be choices of the question, which bounds the size of the state."""
        self.ask(question)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.hincrby(self._tally(question), "", 1)
            for pick in picks:
                pipe.hincrby(self._tally(question), pick, 1)
            pipe.expire(self._tally(question), KEPT_SECONDS)
            pipe.execute()

    def guesses(self, question: str) -> int:
        return int(cast("bytes | None", self._redis.hget(self._tally(question), "")) or 0)

    def tally(self, question: str) -> dict[str, int]:
        """Choice -> number of guesses with it; "" -> number of all guesses."""
        stored = cast("dict[bytes, bytes]", self._redis.hgetall(self._tally(question)))
        return {choice.decode(): int(count) for choice, count in stored.items()}

    def _tally(self, question: str) -> str:
        return f"{self._key}:{question}"
