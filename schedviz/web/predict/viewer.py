"""What one browser has guessed, and its score: in a signed cookie of the sandbox's paths."""

from typing import Final

import msgspec
from django.core import signing
from django.http import HttpRequest, HttpResponse
from msgspec.structs import replace

COOKIE: Final = "predict"
KEPT_SECONDS: Final = 24 * 3600
LENGTH_AT_MOST: Final = 3500
"""Browsers keep 4,096 bytes of a cookie, its name and attributes among them."""


class Guess(msgspec.Struct, frozen=True):
    question: str
    picks: tuple[str, ...]


class Score(msgspec.Struct, frozen=True):
    right: int = 0
    asked: int = 0
    streak: int = 0


class Mine(msgspec.Struct, frozen=True):
    guess: Guess | None = None
    """The last one."""
    graded: bool = False
    """It is in the score."""
    score: Score = Score()
    token: str = ""
    """A presenter's."""

    def graded_as(self, right: bool) -> "Mine":
        was = self.score
        score = Score(was.right + right, was.asked + 1, was.streak + 1 if right else 0)
        return replace(self, graded=True, score=score)


def read(request: HttpRequest) -> Mine:
    try:
        return msgspec.convert(signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE), Mine)
    except (signing.BadSignature, msgspec.ValidationError):
        return Mine()


def write(response: HttpResponse, mine: Mine, path: str) -> None:
    text = packed(mine)
    if len(text) > LENGTH_AT_MOST:
        # Names so long that they do not fit: the score stays, the guess is given up.
        text = packed(replace(mine, guess=None))
    response.set_cookie(COOKIE, text, max_age=KEPT_SECONDS, path=path, httponly=True, samesite="Lax")


def packed(mine: Mine) -> str:
    return signing.dumps(msgspec.to_builtins(mine), salt=COOKIE, compress=True)
