"""What all who predict in one sandbox share, in Redis: whether a presenter holds the answers back, what was
asked last, and how many guessed what."""

import secrets
from typing import Final, cast

from redis import Redis

from schedviz.store.keys import PREFIX

KEPT_SECONDS: Final = 3 * 3600
"""After the last guess: a lecture and its break. A presenter who left without a word holds nobody longer."""
ASKED: Final = "asked"
HELD: Final = "held"


class Room:
    """``born`` tells a sandbox from an older one of the same name."""

    def __init__(self, redis: Redis, sandbox: str, born: float) -> None:
        self._redis = redis
        self._key = f"{PREFIX}:{{{sandbox}}}:predict:{born}"

    def state(self) -> tuple[str, str]:
        """The presenter's token, and the id of the question asked last; both may be empty."""
        held, question = cast("list[bytes | None]", self._redis.hmget(self._key, [HELD, ASKED]))
        return (held or b"").decode(), (question or b"").decode()

    def hold(self) -> str:
        """Hold the answers back; the token of who may reveal them, "" where somebody else holds already."""
        token = secrets.token_urlsafe(12)
        won = self._redis.hsetnx(self._key, HELD, token)
        self._redis.expire(self._key, KEPT_SECONDS)
        return token if won else ""

    def let_go(self) -> None:
        self._redis.hdel(self._key, HELD)

    def ask(self, question: str) -> None:
        """It is what was asked last, whether or not somebody guesses."""
        self._redis.hset(self._key, ASKED, question)
        self._redis.expire(self._key, KEPT_SECONDS)

    def count(self, question: str, picks: frozenset[str]) -> None:
        """Count a guess. The choices are the question's: they bound what is kept."""
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
        """How many chose what; under "" how many guessed."""
        stored = cast("dict[bytes, bytes]", self._redis.hgetall(self._tally(question)))
        return {choice.decode(): int(count) for choice, count in stored.items()}

    def _tally(self, question: str) -> str:
        return f"{self._key}:{question}"
