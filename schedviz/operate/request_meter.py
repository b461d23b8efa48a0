"""Middleware: counts and times all requests."""

import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.metrics.registry import OTHER
from schedviz.metrics.server import REQUEST_SECONDS, REQUESTS

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestMeter:
    """Counts and times all requests. The middleware comes before all middleware that does work, so that it
    measures them, too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        response = self._get_response(request)
        view = view_label(request)
        method = request.method if request.method in METHODS else OTHER
        REQUEST_SECONDS.labels(view).observe(time.monotonic() - began)
        REQUESTS.labels(view, method, str(response.status_code)).inc()
        return response


def view_label(request: HttpRequest) -> str:
    """Return the name of the URL pattern, or of the function of a pattern without one: these are bounded in
    number, as paths are not."""
    match = request.resolver_match
    if match is not None:
        return match.view_name if match.url_name else match.func.__name__
    return "static" if request.path.startswith(settings.STATIC_URL) else "none"
