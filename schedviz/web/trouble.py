"""The texts of the pages while Redis does not serve, and the page of a request that comes then."""

from typing import Final, NamedTuple
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from schedviz.api.body import refusal
from schedviz.api.views import TROUBLE
from schedviz.routes import is_of_api
from schedviz.store import Trouble, trouble_of
from simulator.apiserver.status import ServiceUnavailable

RETRY_SECONDS: Final = 2
"""Time after which the error page of a Redis that does not serve is reloaded."""


class TroubleText(NamedTuple):
    title: str
    heading: str
    text: str
    """The text of the error page."""
    banner: str
    """The text of the banner on a live page."""


def trouble_text(trouble: Trouble) -> TroubleText:
    """Return the texts for a trouble, in the active language."""
    match trouble:
        case Trouble.AWAY:
            return TroubleText(
                gettext("Redis is unavailable"),
                gettext("Redis does not answer"),
                gettext("All sandboxes are stored in Redis."),
                gettext("Redis does not answer. This page continues automatically when Redis answers again."),
            )
        case Trouble.FULL:
            return TroubleText(
                gettext("Redis is out of memory"),
                gettext("Redis is out of memory"),
                gettext(
                    "Nothing was stored. Delete sandboxes that are not needed, or give Redis more "
                    "memory (its setting maxmemory). The sandboxes then continue automatically."
                ),
                gettext(
                    "Redis is out of memory. Until it has memory again, nothing is stored and "
                    "simulated time is stopped in all sandboxes. Then they continue automatically."
                ),
            )
        case Trouble.READ_ONLY:
            return TroubleText(
                gettext("Redis cannot store data"),
                gettext("Redis cannot store data"),
                gettext(
                    "Nothing was stored: Redis cannot write its file (is the disk full?), or it is a "
                    "replica. When Redis can store data again, the sandboxes continue automatically."
                ),
                gettext(
                    "Redis cannot store data: it cannot write its file, or it is a replica. Until it "
                    "can, simulated time is stopped in all sandboxes. Then they continue automatically."
                ),
            )


def trouble_response(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """Return the response to a request that failed as Redis does not serve: a page, or a Status of the API.
    None for another error."""
    trouble = trouble_of(error)
    if trouble is None:
        return None
    if is_of_api(request):
        return refusal(ServiceUnavailable(TROUBLE[trouble]))
    words = trouble_text(trouble)
    context = {"trouble": words, "again": request.method in ("GET", "HEAD"), "seconds": RETRY_SECONDS}
    response = render(request, "503.html", context, status=503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    # The live page shows it when one of its own requests fails.
    response.headers["X-Trouble"] = quote(f"{words.heading}. {words.text}")
    return response
