"""The learner's identifier in a cookie, by which a browser finds its lessons again.

The cookie is not signed: an identifier cannot be guessed, and without a SECRET_KEY of one's own signatures
end with the web process.
"""

from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.lessons.learners import KEPT_SECONDS, LEARNER, new_learner

COOKIE: Final = "learner"


def known_learner(request: HttpRequest) -> str:
    """Return the learner's identifier; "" if the browser has had no lesson."""
    given = request.COOKIES.get(COOKIE, "")
    return given if LEARNER.fullmatch(given) else ""


def learner(request: HttpRequest) -> str:
    """Return the learner's identifier; a new one if the browser has had no lesson."""
    return known_learner(request) or new_learner()


def write_learner(request: HttpRequest, response: HttpResponse, identifier: str) -> None:
    response.set_cookie(
        COOKIE,
        identifier,
        max_age=KEPT_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )
