"""Refuses the writes that a page of another site sends to the API by a visitor's browser."""

from typing import Final

from django.http import HttpRequest

from schedviz.access.own_origin import is_own_origin
from simulator.apiserver.status import StatusError

SAFE_METHODS: Final = ("GET", "HEAD")


class CrossSite(StatusError):
    code, reason = 403, "Forbidden"


def refuse_cross_site(request: HttpRequest) -> None:
    """Raise CrossSite for a write whose headers say that a page of another origin sent it, if
    CSRF_TRUSTED_ORIGINS does not have that origin.

    Browsers set these headers; kubectl, curl and the client libraries do not."""
    if request.method in SAFE_METHODS:
        return
    if "Origin" in request.headers:
        own = is_own_origin(request)
    else:
        own = request.headers.get("Sec-Fetch-Site", "") in ("", "same-origin", "none")
    if not own:
        raise CrossSite("pages of other origins may not write to a sandbox")
