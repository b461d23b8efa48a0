"""The visitor's act in a sandbox: the pod that the visitor created where the page proposed it.

It is kept in a signed cookie for the paths of the sandbox, so it is known again after a reload, and each of
several viewers of a sandbox has an act of their own. The cookie is deleted when the visitor does something
else, or closes the text about the act.
"""

from typing import Final

import msgspec
from django.core import signing
from django.http import HttpRequest, HttpResponse

from simulator.kernel.prepared_types import prepared

COOKIE: Final = "act"
CLOSED_COOKIE: Final = "closed"
"""The cookie of a visitor who has closed the text at the end of a scenario."""
KEPT_SECONDS: Final = 24 * 3600
QUERY: Final = "act"
"""The query parameter of the form whose pod is the visitor's act."""


class Act(msgspec.Struct, frozen=True):
    created: float
    """The value of ``Meta.created`` of the sandbox: a later sandbox may have the same name."""
    pod: str = ""
    """The key of the pod; "" = the visitor has begun a guide, and has not created the pod yet."""
    uid: str = ""
    seq: int = 0
    """The number of the last trace event before the pod was created."""


def read_act(request: HttpRequest, created: float) -> Act | None:
    """Return the visitor's act in the sandbox of the request; None if there is none."""
    try:
        act = msgspec.convert(signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE), prepared(Act))
    except (signing.BadSignature, msgspec.ValidationError):
        return None
    return act if act.created == created else None


def begin_act(response: HttpResponse, created: float, path: str) -> None:
    """Note that the visitor has begun a guide in this sandbox."""
    write_act(response, Act(created), path)


def write_act(response: HttpResponse, act: Act, path: str) -> None:
    """Write the act into its cookie. path: of the page of the sandbox."""
    text = signing.dumps(msgspec.to_builtins(act), salt=COOKIE)
    response.set_cookie(COOKIE, text, max_age=KEPT_SECONDS, path=path, httponly=True, samesite="Lax")


def end_act(request: HttpRequest, response: HttpResponse, path: str) -> None:
    if COOKIE in request.COOKIES:
        response.delete_cookie(COOKIE, path=path, samesite="Lax")


def close_ending(response: HttpResponse, created: float, path: str) -> None:
    """Note that the visitor does not want to read that the scenario of the sandbox has ended."""
    response.set_cookie(CLOSED_COOKIE, str(created), path=path, httponly=True, samesite="Lax")


def is_ending_closed(request: HttpRequest, created: float) -> bool:
    return request.COOKIES.get(CLOSED_COOKIE) == str(created)
