"""Middleware: lets through what the routes allow (:mod:`schedviz.routes`), and refuses the rest with a page,
a message for htmx, or a Status of the API."""

from collections.abc import Awaitable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from schedviz.access.account import Role, account_of, role_of
from schedviz.access.asker import Asker, note_asker
from schedviz.access.identity import write_identity
from schedviz.access.rights import Right
from schedviz.access.sandbox_path import path_below_sandbox
from schedviz.access.visitor import Visitor, find_visitor
from schedviz.api.body import refusal
from schedviz.api.refused import NotPermitted, is_review, refusal_of
from schedviz.cache import reading_ahead
from schedviz.rooms import access as room_access
from schedviz.rooms.room import is_reserved, read_code
from schedviz.rooms.room_store import NoRoom, Rooms
from schedviz.routes import Route, is_of_api, route_of
from schedviz.store import Held
from schedviz.store.default import default_store
from schedviz.store.hold import acting_as
from schedviz.web.mirrored import find_mirror_refusal
from schedviz.web.predict.hold import find_refusal, refusal_text
from schedviz.web.predict.viewer import read_holds
from schedviz.web.trouble import trouble_response
from simulator.apiserver.status import NotFound

ADMIN: Final = "admin"
"""The namespace of the URLs of Django's admin."""


class Access(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        with acting_as(read_holds(request)), reading_ahead():
            return super().__call__(request)

    def process_view(
        self, request: HttpRequest, view: object, arguments: object, named: dict[str, Any]
    ) -> HttpResponse | None:
        match = request.resolver_match
        if match and match.namespaces == [ADMIN]:
            return check_role(request, Role.ADMINISTRATOR)
        route = route_of(request)
        if route is None:
            return refuse(request, gettext("This page is not allowed."))
        try:
            if refused := check(request, route, named):
                return refused
            if held := find_refusal(request, route, named):
                return refuse(request, held, HTTPStatus.LOCKED)
            if mirrored := find_mirror_refusal(request, route, named):
                return refuse(request, mirrored)
            return None
        except Exception as error:
            if response := trouble_response(request, error):
                return response
            raise

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Refuse a request that would replace a held sandbox which its path does not name."""
        if not isinstance(exception, Held):
            return None
        return refuse(request, refusal_text(request, exception.name), HTTPStatus.LOCKED)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        write_identity(request, response)
        return response


def check(request: HttpRequest, route: Route, named: dict[str, Any]) -> HttpResponse | None:
    """Return the response to a request that is not allowed; None = it is allowed."""
    if settings.ACCOUNTS and (refused := check_role(request, route.least_role(request))):
        return refused
    if route.teacher and not _is_teacher(request, named["code"]):
        return refuse_room(request)
    visitor = find_visitor(request.COOKIES, request.headers.get("Authorization", ""), account_of(request))
    if needed := _needed(request, route, named):
        asker = _find_asker(request, named["name"], visitor)
        if asker is None:
            return _not_found(request, named["name"])
        if asker.right < needed:
            return _refusal(request, named["name"], asker)
        note_asker(request, asker)
    if request.method == "POST" and (other := _other_sandbox(request, route)):
        name, needed = other
        asker = _find_asker(request, name, visitor)
        # Where there is none, there is nothing to protect.
        if asker and asker.right < needed:
            return _refusal(request, name, asker)
        if asker and route.creates and not room_access.may_create(name, asker.right):
            return refuse(request, gettext("Only the teacher starts over a sandbox that all share."))
    return None


def check_role(request: HttpRequest, needed: Role) -> HttpResponse | None:
    """Return the response if the role of the visitor is not enough; None = it is. A visitor who has not
    logged in is redirected to the login."""
    if needed == Role.GUEST or (role := role_of(request)) >= needed:
        return None
    if role == Role.GUEST:
        if request.method == "GET":
            return redirect(f"{reverse('log-in')}?{urlencode({'next': request.get_full_path()})}")
        return refuse(request, gettext("Log in first."))
    if needed == Role.TEACHER:
        return refuse(request, gettext("Only teachers may do this. Ask an administrator to make you one."))
    return refuse(request, gettext("Only administrators may do this."))


def _needed(request: HttpRequest, route: Route, named: dict[str, Any]) -> Right:
    """Return the right that the request needs on the sandbox in its path; NONE = there is none in it."""
    if "path" in named and is_review(request, named["path"]):
        return Right.VIEW
    return route.right(request)


def _other_sandbox(request: HttpRequest, route: Route) -> tuple[str, Right] | None:
    """Return the sandbox that a field names, and the right that the request needs on it."""
    if route.creates:
        name = str(request.POST.get(route.creates, "")).strip()
        return (name, Right.EDIT) if is_reserved(name) else None
    if route.copies:
        kind, _, name = str(request.POST.get(route.copies, "")).partition(":")
        return (name.strip(), Right.VIEW) if kind == "sandbox" else None
    return None


def _find_asker(request: HttpRequest, sandbox: str, visitor: Visitor) -> Asker | None:
    return room_access.find_asker(default_store(), sandbox, visitor, request.COOKIES)


def _is_teacher(request: HttpRequest, code: str) -> bool:
    """Return whether the visitor is the teacher of the room. A room that does not exist has no teacher; its
    pages then say so."""
    try:
        room = Rooms(default_store()).find(read_code(code))
    except NoRoom:
        return True
    return room_access.is_teacher(room, request.COOKIES)


def _not_found(request: HttpRequest, sandbox: str) -> HttpResponse:
    """Return a response 404. The view does not look for the sandbox again, as it may have been created
    meanwhile."""
    if is_of_api(request):
        return refusal(NotFound("sandboxes", sandbox))
    raise Http404(gettext("There is no sandbox “%(name)s”.") % {"name": sandbox})


def _refusal(request: HttpRequest, sandbox: str, asker: Asker) -> HttpResponse:
    if is_of_api(request):
        return refusal(refusal_of(request, path_below_sandbox(request.path_info), asker.user))
    if asker.right >= Right.VIEW:
        return refuse(request, gettext("You can view this sandbox, not change it."))
    if is_reserved(sandbox):
        return refuse_room(request)
    return refuse(request, gettext("This sandbox is not shared with you. Ask its owner for a link."))


def refuse(request: HttpRequest, text: str, status: int = HTTPStatus.FORBIDDEN) -> HttpResponse:
    """Return a refusal: a page, for htmx a message, which the live page shows, or a Status of the API, which
    is 403 in any case."""
    if is_of_api(request):
        return refusal(NotPermitted(text))
    if request.headers.get("HX-Request") == "true":
        response = HttpResponse(text, "text/plain", status=status)
    else:
        response = render(request, "403.html", {"text": text}, status=status)
    response.headers["X-Trouble"] = quote(text)
    return response


def refuse_room(request: HttpRequest) -> HttpResponse:
    """Return a response 403: the page for those who are not in a room, or not its teacher."""
    response = render(request, "rooms/forbidden.html", status=HTTPStatus.FORBIDDEN)
    response.headers["X-Trouble"] = quote(gettext("You may not open this page of the room."))
    return response
