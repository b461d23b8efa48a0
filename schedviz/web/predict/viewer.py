"""What the browser of a viewer keeps: the last guess and the score, in a signed cookie for the paths of the
sandbox; and the tokens of a presenter, in a cookie for all paths, as other pages create sandboxes again."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.core import signing
from django.http import HttpRequest, HttpResponse
from msgspec.structs import replace

from simulator.kernel.prepared_types import prepared

COOKIE: Final = "predict"
KEPT_SECONDS: Final = 24 * 3600
HOLDS_COOKIE: Final = "holds"
HOLDS_AT_MOST: Final = 20
"""Maximum number of sandboxes that one browser holds: the tokens of the last ones are kept."""
LENGTH_AT_MOST: Final = 3500
"""Maximum length of the cookie's value. Browsers limit a cookie to 4,096 bytes, including its name and
attributes."""


class ViewerGuess(msgspec.Struct, frozen=True):
    question: str
    picks: tuple[str, ...]


class Score(msgspec.Struct, frozen=True):
    right: int = 0
    asked: int = 0
    streak: int = 0


class ViewerState(msgspec.Struct, frozen=True):
    guess: ViewerGuess | None = None
    """The last guess."""
    graded: bool = False
    """Whether the score includes the last guess."""
    score: Score = Score()

    def graded_as(self, right: bool) -> "ViewerState":
        old = self.score
        score = Score(old.right + right, old.asked + 1, old.streak + 1 if right else 0)
        return replace(self, graded=True, score=score)


def read_cookie(request: HttpRequest) -> ViewerState:
    try:
        return msgspec.convert(
            signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE), prepared(ViewerState)
        )
    except (signing.BadSignature, msgspec.ValidationError):
        return ViewerState()


def write_cookie(response: HttpResponse, viewer_state: ViewerState, path: str) -> None:
    text = encoded(viewer_state)
    if len(text) > LENGTH_AT_MOST:
        # The names are too long for a cookie: keep only the score.
        text = encoded(replace(viewer_state, guess=None))
    response.set_cookie(COOKIE, text, max_age=KEPT_SECONDS, path=path, httponly=True, samesite="Lax")


def read_holds(request: HttpRequest) -> tuple[str, ...]:
    """Return the tokens of the sandboxes that the viewer holds as a presenter. They are random, and not
    signed."""
    return tuple(each for each in request.COOKIES.get(HOLDS_COOKIE, "").split(".") if each)[-HOLDS_AT_MOST:]


def write_holds(request: HttpRequest, response: HttpResponse, holds: Sequence[str]) -> None:
    response.set_cookie(
        HOLDS_COOKIE,
        ".".join(holds[-HOLDS_AT_MOST:]),
        max_age=KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def encoded(viewer_state: ViewerState) -> str:
    return signing.dumps(msgspec.to_builtins(viewer_state), salt=COOKIE, compress=True)
