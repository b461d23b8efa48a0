"""Refuses the writes that a page of another site sends to the API by a visitor's browser."""

from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import is_same_domain

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
    site = request.headers.get("Sec-Fetch-Site", "")
    given = request.headers.get("Origin", "")
    origin = _split(given)
    if _is_trusted(origin):
        return
    if site not in ("", "same-origin", "none") or (given and origin.netloc != request.get_host()):
        raise CrossSite("pages of other origins may not write to a sandbox")


def _split(origin: str) -> SplitResult:
    """Return the parts of an origin; all are empty if it is none."""
    try:
        return urlsplit(origin)
    except ValueError:
        return urlsplit("")


def _is_trusted(origin: SplitResult) -> bool:
    """Return whether a trusted origin of the settings matches, as in Django's CsrfViewMiddleware:
    ``https://*.example.com`` is every domain below this one."""
    for each in settings.CSRF_TRUSTED_ORIGINS:
        trusted = urlsplit(each)
        domain = trusted.netloc.removeprefix("*")
        if origin.netloc and origin.scheme == trusted.scheme and is_same_domain(origin.netloc, domain):
            return True
    return False
