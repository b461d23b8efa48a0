"""Middleware: refuses requests beyond the limits (:mod:`schedviz.limits`) with a page, a message for htmx, or
a Status of the API."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from schedviz.access.sandbox_path import sandbox_of_path
from schedviz.api.body import refusal
from schedviz.limit_settings import LimitName
from schedviz.limits.rates import check_codes, count_request, count_wrong_code
from schedviz.limits.requester import requester_of
from schedviz.request_handler import WAITING
from schedviz.rooms.access import is_in_room
from schedviz.rooms.room import read_code
from schedviz.rooms.room_store import Rooms
from schedviz.routes import SAFE_METHODS, is_of_api, route_of
from schedviz.store import trouble_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.trouble import trouble_response
from simulator.kernel.work import Abandoned, limit_work

DISCONNECTED: Final = 499
"""The status that proxies note for a request whose client did not wait for the response."""


class Limits(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        try:
            count_request(requester_of(request), sandbox_of_path(request.path_info))
        except LimitExceeded as exceeded:
            return refuse(request, exceeded)
        return None

    def process_view(
        self, request: HttpRequest, view: object, arguments: object, named: dict[str, Any]
    ) -> HttpResponse | None:
        route = route_of(request)
        given = request.GET.get(route.code, "") if route and route.code else named.get("code", "")
        code = read_code(str(given))
        try:
            if code:
                count_code(request, code)
        except LimitExceeded as exceeded:
            return refuse(request, exceeded)
        except Exception as error:
            if trouble_of(error) is None:
                raise
            # Then the view says so, too.
        return None


class RequestWork:
    """Middleware: bounds the work of one request, of all objects and rules in it together, and ends it when
    the client has disconnected. An act of a page is carried out whole: its visitor has perhaps only gone to
    the next page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._respond = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        ends = request.method in SAFE_METHODS or ((route := route_of(request)) is not None and route.ends)
        scope: dict[str, Any] = getattr(request, "scope", {})
        with limit_work(waiting=scope.get(WAITING) if ends else None):
            return self._respond(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return a response that nobody gets, which the metrics count."""
        return HttpResponse(status=DISCONNECTED) if isinstance(exception, Abandoned) else None


class ActionLimits(MiddlewareMixin):
    """Middleware: counts the actions of requesters. It comes after the middleware that refuses what is not
    allowed."""

    def process_view(
        self, request: HttpRequest, view: object, arguments: object, named: dict[str, Any]
    ) -> HttpResponse | None:
        route = route_of(request)
        try:
            if route and (count := route.count(request)):
                count.rate(request)
        except LimitExceeded as exceeded:
            return refuse(request, exceeded)
        except Exception as error:
            if response := trouble_response(request, error):
                return response
            raise
        return None


def count_code(request: HttpRequest, code: str) -> None:
    """Count the code of a room if there is no such room. Whoever is in the room is not refused."""
    requester, rooms = requester_of(request), Rooms(default_store())
    try:
        check_codes(requester)
        if not rooms.exists(code):
            count_wrong_code(requester)
    except LimitExceeded:
        if not is_in_room(rooms, code, request.COOKIES):
            raise


def refuse(request: HttpRequest, exceeded: LimitExceeded) -> HttpResponse:
    """Return a response 429 with Retry-After."""
    if is_of_api(request):
        return refusal(exceeded)
    text = text_of(exceeded.limit, exceeded.retry_after_seconds)
    if request.headers.get("HX-Request") == "true":
        response = HttpResponse(text, "text/plain", status=HTTPStatus.TOO_MANY_REQUESTS)
    else:
        response = render(request, "429.html", {"text": text}, status=HTTPStatus.TOO_MANY_REQUESTS)
    # The live page shows it.
    response.headers["X-Trouble"] = quote(text)
    return with_time(response, exceeded)


def with_time(response: HttpResponse, exceeded: LimitExceeded) -> HttpResponse:
    """Say in a header when to try again, if that is known."""
    if exceeded.retry_after_seconds:
        response.headers["Retry-After"] = str(exceeded.retry_after_seconds)
    return response


def text_of(limit: LimitName, seconds: int) -> str:
    """Return what is full, and when to try again. seconds: 0 = that is not known."""
    full = _what_is_full(limit)
    if not seconds:
        return full
    return gettext("%(full)s %(when)s") % {"full": full, "when": _when(seconds)}


def _what_is_full(limit: LimitName) -> str:
    if found := next((text for name, text in _texts().items() if limit.startswith(name)), ""):
        return found
    return gettext("There are too many requests.")


def _texts() -> dict[str, str]:
    """Return the beginning of the names of limits -> the text; the longer ones are first."""
    return {
        "MAX_UPLOADS": gettext("Too many lessons were uploaded today."),
        "MAX_LOGINS": gettext("Too many attempts to log in within a minute."),
        "MAX_WRONG_CODES": gettext("Too many wrong codes of rooms within a minute."),
        "MAX_QUESTIONS": gettext("Too many questions were asked within a minute."),
        "MAX_SANDBOXES_PER_MINUTE": gettext("Too many sandboxes were created within a minute."),
        "MAX_SANDBOXES_PER_OWNER": gettext(
            "You have as many sandboxes as one person may have. Delete one first."
        ),
        "MAX_SANDBOXES_PER_ADDRESS": gettext(
            "There are as many sandboxes as one network address may have. Delete one first."
        ),
        "MAX_SANDBOXES": gettext("There are as many sandboxes as this server may have. Delete one first."),
        "MAX_ROOMS_PER_OWNER": gettext("You have as many rooms as one person may have."),
        "MAX_ROOMS_PER_ADDRESS": gettext("There are as many rooms as one network address may have."),
        "MAX_ROOMS": gettext("There are as many rooms as this server may have."),
        "MAX_COMPARISONS_PER_OWNER": gettext("You have as many comparisons running as one person may have."),
        "MAX_COMPARISONS": gettext("Too many comparisons are running."),
        "MAX_WAITING_QUESTIONS_PER_OWNER": gettext(
            "You have as many questions waiting as one person may have."
        ),
        "MAX_WAITING_QUESTIONS": gettext("Too many questions are waiting."),
        "MAX_IMPORTS_PER_OWNER": gettext("Another cluster of yours is being imported."),
        "MAX_IMPORTS": gettext("Other clusters are being imported."),
    }


def _when(seconds: int) -> str:
    """Say when to try again, rounded up to the unit of its size."""
    if seconds < 120:
        return gettext("Try again in %(seconds)s s.") % {"seconds": seconds}
    if seconds < 48 * 3600:
        return gettext("Try again in %(n)s min.") % {"n": -(-seconds // 60)}
    return gettext("Try again in %(n)s days.") % {"n": -(-seconds // 86_400)}
