"""The visitor: a random number in a session cookie, by which a browser finds its examples again."""

import secrets
from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.web.examples import VISITOR

COOKIE: Final = "visitor"


def known_visitor(request: HttpRequest) -> str:
    """Return the visitor's identifier; "" if the visitor has had no example."""
    given = request.COOKIES.get(COOKIE, "")
    return given if VISITOR.fullmatch(given) else ""


def visitor(request: HttpRequest) -> str:
    """Return the visitor's identifier; a new one if the visitor has had no example."""
    return known_visitor(request) or secrets.token_hex(6)


def write_visitor(response: HttpResponse, identifier: str) -> None:
    response.set_cookie(COOKIE, identifier, httponly=True, samesite="Lax")
