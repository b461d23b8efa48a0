"""Middleware: the number of a request, in its response and in all that is logged while it is answered."""

import re
import secrets
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.access.sandbox_path import sandbox_of_path
from schedviz.log_context import log_context
from schedviz.operate.request_meter import view_label
from schedviz.tracing import HEADER as TRACE
from schedviz.tracing import describe, trace_root

HEADER: Final = "X-Request-ID"

GIVEN: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
"""The form of a request's id from a proxy or a client: UUIDs and the numbers of proxies. Any other id could
add text to the log."""


class RequestContext:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        number = given if GIVEN.fullmatch(given) else secrets.token_hex(8)
        parent = request.headers.get(TRACE, "")
        with (
            log_context(request=number, sandbox=sandbox_of_path(request.path)),
            trace_root(f"{request.method} request", parent, request=number),
        ):
            response = self._get_response(request)
            # Not the path, which has the tokens of links.
            describe(view=view_label(request), status=response.status_code)
        response.headers[HEADER] = number
        return response
