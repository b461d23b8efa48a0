"""Middleware: the hold of a presenter, and the error pages for a body
that is too large, a Redis that does not serve, a sandbox that cannot be read, and a past moment that is not
stored any more."""

from typing import Any
from urllib.parse import quote

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from schedviz.api.body import refusal
from schedviz.body_limit import API, PAGE_BYTES, TOO_LARGE
from schedviz.store import Gone, Unreadable, trouble_of
from schedviz.store.default import default_store
from schedviz.store.hold import Hold
from schedviz.web.predict.viewer import read_cookie
from schedviz.web.trouble import trouble_response
from simulator.apiserver.request_errors import TooLarge

CHANGES = {
    "clock", "command", "kill-leader", "break-watch", "paste", "new", "scheduler", "edit",
    "delete-object", "delete-pod", "permit", "change-node", "delete-sandbox", "start-over",
}  # fmt: skip
"""The names of the URLs whose POST requests change a sandbox, or its clock."""


class BodyTooLarge(MiddlewareMixin):
    """Responds 413 to a request whose body :mod:`schedviz.body_limit` cut off, or whose form exceeds
    DATA_UPLOAD_MAX_MEMORY_SIZE. It runs after URL resolving, so a path without a view is 404 with any
    body."""

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        limit = getattr(request, "scope", {}).get(TOO_LARGE)
        if API.fullmatch(request.path):
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


class HeldByPresenter(MiddlewareMixin):
    """Responds 423 to a request that would change a sandbox while another visitor hides the answers of the
    prediction mode there: the right answer would change after the question was asked."""

    def process_view(
        self, request: HttpRequest, view: object, arguments: object, named: dict[str, Any]
    ) -> HttpResponse | None:
        match = request.resolver_match
        if request.method != "POST" or match is None:
            return None
        applies = match.url_name == "what-if" and request.POST.get("do") == "apply"
        if match.url_name not in CHANGES and not applies:
            return None
        store = default_store()
        sandbox = store.handle(named["name"])
        held = Hold(store.redis, sandbox.name, lambda: sandbox.meta().created).token()
        if not held or read_cookie(request).token == held:
            return None
        text = gettext(
            "A presenter hides the answers of Predict in this sandbox. Until they are shown, only the "
            "presenter can change the sandbox or step, pause and resume it."
        )
        return HttpResponse(text, "text/plain", status=423, headers={"X-Trouble": quote(text)})


class RedisTrouble(MiddlewareMixin):
    """Responds 503 while Redis does not serve (:mod:`schedviz.store.trouble`). The page of a GET request
    reloads itself."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        trouble = trouble_of(exception)
        return None if trouble is None else trouble_response(request, trouble)


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
