"""Questions about a sandbox that take more than a moment: what is asked and what is found, kept in Redis for
a while."""

import secrets
from contextlib import suppress
from typing import Final, Literal, cast

import msgspec
from redis.exceptions import RedisError

from schedviz.celery import QUESTIONS_QUEUE, app
from schedviz.store import Store
from schedviz.store.keys import PREFIX
from schedviz.store.places import Places
from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.eviction import Prevention

TASK: Final = "schedviz.questions.answer"

WAITING_AT_MOST: Final = 50
"""Questions in line: at 5,000 nodes the last of them would wait for minutes."""

LINE_SECONDS: Final = 120
"""A question that nobody took up until then is forgotten."""

WAITING: Final = f"{PREFIX}:questions:waiting"
"""Those in line: see :class:`Places`."""

SILENT_SECONDS: Final = 20
"""Without a word for this long, who works on it has died. Reading 50,000 pods takes some three."""

KEPT_SECONDS: Final = 600
"""An answer is about a moment, and out of date soon."""

MAX_BYTES: Final = 4_000_000
"""Of one answer: fifty suggestions with a large pod each."""

Kind = Literal["what-if", "saved"]
State = Literal["waiting", "under-way", "done", "stopped", "late", "failed"]
FINISHED: Final = ("done", "stopped", "late", "failed")


class Question(msgspec.Struct, frozen=True):
    """``what-if``: what would let this pending pod run? ``saved``: what would have saved this one from the
    eviction of ``cycle``? Everybody who looks at the pod sees the same question."""

    id: str
    kind: Kind
    sandbox: str
    pod: str
    uid: str
    """Of the pod; one of the same name that comes later has a question of its own. "" where it is gone."""
    cycle: int = 0
    state: State = "waiting"
    doing: str = ""
    done: int = 0
    total: int = 0
    tried: int = 0
    version: int = 0
    """Of the cluster that it is answered for: the resourceVersion of its last write."""
    suggestions: list[Suggestion] = []
    """In the order in which they are found; in the answer they are ranked."""
    answer: WhatIfAnswer | None = None
    savings: list[Prevention] = []
    trouble: str = ""

    @property
    def finished(self) -> bool:
        return self.state in FINISHED


class TooManyQuestions(Exception):
    """The line is full."""


class Questions:
    def __init__(self, store: Store) -> None:
        self._redis = store.redis
        self._places = Places(store, WAITING, WAITING_AT_MOST)

    def ask(self, kind: Kind, sandbox: str, pod: str, uid: str, cycle: int = 0) -> Question:
        """Put the question in line; where it is under way already, that one. Raises TooManyQuestions, and
        kombu's OperationalError where Redis does not serve; then it is in no line."""
        known = self.read(kind, sandbox, pod, uid)
        if known is not None and not known.finished:
            return known
        question = Question(secrets.token_hex(8), kind, sandbox, pod, uid, cycle)
        place = _key(kind, sandbox, pod)
        if not self._places.take(place, LINE_SECONDS):
            raise TooManyQuestions
        try:
            self.tell(question)
            arguments = (kind, sandbox, pod, question.id)
            app.send_task(TASK, arguments, queue=QUESTIONS_QUEUE, expires=LINE_SECONDS)
        except BaseException:
            with suppress(RedisError):
                self.forget(question)
                self._places.leave(place)
            raise
        return question

    def read(self, kind: Kind, sandbox: str, pod: str, uid: str = "") -> Question | None:
        """``uid``: of the pod that is asked about, if given. None where nobody asked, or long ago."""
        stored = cast("bytes | None", self._redis.get(_key(kind, sandbox, pod)))
        if stored is None:
            return None
        question = msgspec.json.decode(stored, type=Question)
        return question if not uid or question.uid == uid else None

    def tell(self, question: Question) -> None:
        """What is known of it now; until the next word, or for ten minutes."""
        data = msgspec.json.encode(question)
        if len(data) > MAX_BYTES:
            question = msgspec.structs.replace(
                question, state="failed", suggestions=[], answer=None, trouble="the answer is too large"
            )
            data = msgspec.json.encode(question)
        seconds = {"waiting": LINE_SECONDS, "under-way": SILENT_SECONDS}.get(question.state, KEPT_SECONDS)
        key = _key(question.kind, question.sandbox, question.pod)
        self._redis.set(key, data, ex=seconds)
        if question.state != "waiting":
            self._places.leave(key)

    def stop(self, question: Question) -> None:
        """Who works on it sees this at the next step, and tells what was found until then."""
        self._redis.set(_stop_key(question), b"1", ex=LINE_SECONDS)

    def forget(self, question: Question) -> None:
        """It is out of date: what it was about was changed."""
        self._redis.delete(_key(question.kind, question.sandbox, question.pod))

    def is_stopped(self, question: Question) -> bool:
        return bool(self._redis.exists(_stop_key(question)))


def _key(kind: Kind, sandbox: str, pod: str) -> str:
    return f"{PREFIX}:{{{sandbox}}}:question:{kind}:{pod}"


def _stop_key(question: Question) -> str:
    return f"{PREFIX}:{{{question.sandbox}}}:question-stop:{question.id}"
