"""The state in Redis that all viewers of the prediction mode of a sandbox share: whether a presenter hides
the answers, the last question, and the number of guesses for each choice."""

from typing import Final, cast

from redis import Redis

from schedviz.store.hold import HELD_SECONDS, Hold
from schedviz.store.keys import PREFIX

ASKED: Final = "asked"


class SharedPrediction:
    """The state of the prediction mode that the viewers of a sandbox share. It expires with the hold: so long
    after the last guess."""

    def __init__(self, redis: Redis, sandbox: str, born: float) -> None:
        """redis: the server of the sandbox. born: its creation time, which distinguishes it from an older one
        of the same name."""
        self._redis = redis
        self._key = f"{PREFIX}:{{{sandbox}}}:predict:{born}"
        self.hold = Hold(redis, sandbox, lambda: born)

    def state(self) -> tuple[str, str]:
        """Return the token of the presenter, and the id of the last question; both may be ""."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.get(self.hold.key)
            pipe.hget(self._key, ASKED)
            held, question = pipe.execute()
        return self.hold.token_in(held), (question or b"").decode()

    def ask(self, question: str) -> None:
        """Store the id of the last question."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(self._key, ASKED, question)
            pipe.expire(self._key, HELD_SECONDS)
            pipe.expire(self.hold.key, HELD_SECONDS)
            pipe.execute()

    def count(self, question: str, picks: frozenset[str]) -> None:
        """Count a guess. ``picks`` must be choices of the question, which bounds the size of the state."""
        self.ask(question)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.hincrby(self._tally(question), "", 1)
            for pick in picks:
                pipe.hincrby(self._tally(question), pick, 1)
            pipe.expire(self._tally(question), HELD_SECONDS)
            pipe.execute()

    def guesses(self, question: str) -> int:
        return int(cast("bytes | None", self._redis.hget(self._tally(question), "")) or 0)

    def tally(self, question: str) -> dict[str, int]:
        """Return a mapping: choice -> number of guesses with it; "" -> number of all guesses."""
        stored = cast("dict[bytes, bytes]", self._redis.hgetall(self._tally(question)))
        return {choice.decode(): int(count) for choice, count in stored.items()}

    def _tally(self, question: str) -> str:
        return f"{self._key}:{question}"
