"""A random number in a session cookie, by which a browser finds its examples again."""

import secrets
from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.web.examples import BROWSER_ID

COOKIE: Final = "visitor"


def read_browser_id(request: HttpRequest) -> str:
    """Return the identifier; "" if the browser has had no example."""
    given = request.COOKIES.get(COOKIE, "")
    return given if BROWSER_ID.fullmatch(given) else ""


def browser_id_of(request: HttpRequest) -> str:
    """Return the identifier; a new one if the browser has had no example."""
    return read_browser_id(request) or secrets.token_hex(6)


def write_browser_id(response: HttpResponse, identifier: str) -> None:
    response.set_cookie(COOKIE, identifier, httponly=True, samesite="Lax")
