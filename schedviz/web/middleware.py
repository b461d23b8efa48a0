"""Middleware: the error pages for a body that is too large, a Redis that does not serve, a sandbox that
cannot be read, and a past moment that is not stored any more."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from schedviz.api.body import refusal
from schedviz.body_limit import TOO_LARGE
from schedviz.routes import PAGE_BYTES, is_of_api
from schedviz.store import Gone, Unreadable
from schedviz.web.trouble import trouble_response
from simulator.apiserver.request_errors import TooLarge


class BodyTooLarge(MiddlewareMixin):
    """Responds 413 to a request whose body :mod:`schedviz.body_limit` cut off, or whose form exceeds
    DATA_UPLOAD_MAX_MEMORY_SIZE. It runs after URL resolving, so a path without a view is 404 with any
    body."""

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        limit = getattr(request, "scope", {}).get(TOO_LARGE)
        if is_of_api(request):
            return refusal(TooLarge(f"Request entity too large: limit is {limit}")) if limit else None
        if limit is None:
            try:
                request.POST  # noqa: B018 (the attribute parses the body)
            except RequestDataTooBig:
                limit = PAGE_BYTES
        if limit is None:
            return None
        text = gettext("More than %(mib)s MiB cannot be sent here.") % {"mib": limit >> 20}
        template = "parts/alert.html" if request.headers.get("HX-Request") == "true" else "413.html"
        return render(request, template, {"text": text}, status=413)


class RedisTrouble(MiddlewareMixin):
    """Responds 503 while Redis does not serve (:mod:`schedviz.store.trouble`). The page of a GET request
    reloads itself."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return trouble_response(request, exception)


class SandboxUnreadable(MiddlewareMixin):
    """Responds with a page that offers to delete a sandbox that cannot be read."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Unreadable):
            return None
        context = {"name": exception.name, "problem": str(exception)}
        return render(request, "unreadable.html", context, status=500)


class TooOld(MiddlewareMixin):
    """Middleware: responds 410 for a past moment that is not stored any more, or was never reached."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Gone) or request.resolver_match is None:
            return None
        live = reverse("sandbox", args=[request.resolver_match.kwargs["name"]])
        return render(request, "410.html", {"live": live}, status=410)
