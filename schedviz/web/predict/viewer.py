"""The last guess and the score of one viewer, in a signed cookie for the paths of the sandbox."""

from typing import Final

import msgspec
from django.core import signing
from django.http import HttpRequest, HttpResponse
from msgspec.structs import replace

COOKIE: Final = "predict"
KEPT_SECONDS: Final = 24 * 3600
LENGTH_AT_MOST: Final = 3500
"""Maximum length of the cookie's value. Browsers limit a cookie to 4,096 bytes, including its name and
attributes."""


class Guess(msgspec.Struct, frozen=True):
    question: str
    picks: tuple[str, ...]


class Score(msgspec.Struct, frozen=True):
    right: int = 0
    asked: int = 0
    streak: int = 0


class ViewerState(msgspec.Struct, frozen=True):
    guess: Guess | None = None
    """The last guess."""
    graded: bool = False
    """Whether the score includes the last guess."""
    score: Score = Score()
    token: str = ""
    """The token of a presenter; "" = the viewer is none."""

    def graded_as(self, right: bool) -> "ViewerState":
        old = self.score
        score = Score(old.right + right, old.asked + 1, old.streak + 1 if right else 0)
        return replace(self, graded=True, score=score)


def read_cookie(request: HttpRequest) -> ViewerState:
    try:
        return msgspec.convert(signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE), ViewerState)
    except (signing.BadSignature, msgspec.ValidationError):
        return ViewerState()


def write_cookie(response: HttpResponse, viewer_state: ViewerState, path: str) -> None:
    text = encoded(viewer_state)
    if len(text) > LENGTH_AT_MOST:
        # The names are too long for a cookie: keep only the score.
        text = encoded(replace(viewer_state, guess=None))
    response.set_cookie(COOKIE, text, max_age=KEPT_SECONDS, path=path, httponly=True, samesite="Lax")


def encoded(viewer_state: ViewerState) -> str:
    return signing.dumps(msgspec.to_builtins(viewer_state), salt=COOKIE, compress=True)
