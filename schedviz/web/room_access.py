"""Middleware: only a room's teacher and learners open its sandboxes, and only rooms create sandboxes of such
names. It looks at every request for a path of a sandbox, before its view is known."""

import re
from typing import Final
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from schedviz.api.body import refusal
from schedviz.body_limit import API
from schedviz.rooms.access import find_visitor
from schedviz.rooms.room import is_reserved
from schedviz.rooms.room_store import Rooms
from schedviz.store.default import default_store
from simulator.apiserver.status import Forbidden

PATH: Final = re.compile(r"/s/([^/]+)(?:/.*)?", re.DOTALL)
NAMED: Final = {"create-sandbox": "name", "bring": "name", "branch": "name", "compare": "workload"}
"""URL names whose POST requests name a sandbox -> the field."""


class RoomAccess(MiddlewareMixin):
    """Responds 403 to strangers: a page, or a Status of the API."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        match = PATH.fullmatch(request.path_info)
        return self._refusal(request, match[1]) if match else None

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        match = request.resolver_match
        if request.method != "POST" or match is None or match.url_name not in NAMED:
            return None
        name = str(request.POST.get(NAMED[match.url_name], "")).strip().removeprefix("sandbox:")
        return self._refusal(request, name)

    def _refusal(self, request: HttpRequest, name: str) -> HttpResponse | None:
        """None if the visitor may use the sandbox."""
        if not is_reserved(name) or find_visitor(Rooms(default_store()), name, request.COOKIES) != "stranger":
            return None
        if API.fullmatch(request.path):
            return refusal(
                Forbidden("sandboxes", name, "only its learner and the teacher of its room may use it")
            )
        return refuse(request)


def refuse(request: HttpRequest) -> HttpResponse:
    """The page for those who may not see what they asked for."""
    response = render(request, "rooms/forbidden.html", status=403)
    response.headers["X-Trouble"] = quote(gettext("You are not in this room."))
    return response
