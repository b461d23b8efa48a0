"""The page on which an owner shares a sandbox, what it does, and the address of a link."""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from schedviz.access.identity import KEPT_SECONDS
from schedviz.access.links import TooManyLinks, make_link, withdraw_link
from schedviz.access.record import LABEL_AT_MOST, LINKS_AT_MOST, RIGHTS, AccessRecord, LinkRight, read_record
from schedviz.access.visitor import SHARED_COOKIE, read_shared, with_shared
from schedviz.rooms.access import has_rights
from schedviz.store import Sandbox
from schedviz.web.access import refuse
from schedviz.web.answers import panel
from schedviz.web.share.kubeconfig import kubeconfig
from schedviz.web.sources import find_present, find_sandbox


def share(request: HttpRequest, name: str) -> HttpResponse:
    """Render the page. POST ``do``: ``make`` a link, with ``right`` and ``label``; or ``withdraw`` the link
    with the id ``link``."""
    sandbox, made, error = find_sandbox(name), "", ""
    match request.POST.get("do"):
        case None:
            pass
        case "make":
            try:
                _, token = make_link(sandbox, _right(request), request.POST.get("label", ""))
            except TooManyLinks:
                error = _too_many()
            else:
                made = request.build_absolute_uri(reverse("open-link", args=[name, token]))
        case "withdraw":
            withdraw_link(sandbox, request.POST.get("link", ""))
    return _page(request, name, made, error)


def download_kubeconfig(request: HttpRequest, name: str) -> HttpResponse:
    """Return a kubeconfig with a token of its own, whose right is ``right``; without one in open mode."""
    sandbox, token = find_sandbox(name), ""
    if has_rights(name):
        try:
            _, token = make_link(sandbox, _right(request), request.POST.get("label", "") or "kubeconfig")
        except TooManyLinks:
            return _page(request, name, "", _too_many())
    server = request.build_absolute_uri(reverse("sandbox", args=[name])).rstrip("/")
    response = HttpResponse(kubeconfig(name, server, token), "application/yaml")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.kubeconfig"'
    response.headers["Cache-Control"] = "no-store"
    return response


def open_link(request: HttpRequest, name: str, token: str) -> HttpResponse:
    """Keep the token of a link in the browser's cookie, and redirect to the sandbox, whose address has
    none."""
    sandbox = find_sandbox(name)
    record = read_record(sandbox.access() or "")
    link = record.link_of(token)
    if link is None and has_rights(name):
        return refuse(request, gettext("This link was withdrawn, or is incomplete. Ask for another one."))
    response = redirect("sandbox", name)
    if link and not _has_better(request, sandbox, record, RIGHTS[link.right]):
        response.set_cookie(
            SHARED_COOKIE,
            with_shared(request.COOKIES, name, token),
            max_age=KEPT_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure() or settings.SESSION_COOKIE_SECURE,
        )
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    return response


def _page(request: HttpRequest, name: str, made: str, error: str) -> HttpResponse:
    source = find_present(name)
    record = read_record(source.sandbox.access() or "")
    now = source.sandbox.wall()
    context: dict[str, Any] = {
        "subject": gettext("Share"),
        "has_rights": has_rights(name),
        "links": [(each, ago(now - each.created)) for each in reversed(record.links)],
        "typed": request.POST.get("label", "") if error else "",
        "outcome": "share/made_link.html" if made else "",
        "made": made,
        "made_right": request.POST.get("right", ""),
        "error": error,
        "label_at_most": LABEL_AT_MOST,
        "address": request.build_absolute_uri(reverse("sandbox", args=[name])),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    response = panel(request, source, "share/share.html", context, status)
    response.headers["Cache-Control"] = "no-store"
    return response


def _has_better(request: HttpRequest, sandbox: Sandbox, record: AccessRecord, right: int) -> bool:
    """Whether the browser has a link to the sandbox already, which gives more."""
    known = record.link_of(read_shared(request.COOKIES).get(sandbox.name, ""))
    return known is not None and RIGHTS[known.right] > right


def _right(request: HttpRequest) -> LinkRight:
    return "edit" if request.POST.get("right") == "edit" else "view"


def _too_many() -> str:
    return gettext("A sandbox has at most %(n)s links. Withdraw one first.") % {"n": LINKS_AT_MOST}


def ago(seconds: float) -> str:
    """Return how long ago a time was, in the largest whole unit."""
    minutes = int(max(0.0, seconds)) // 60
    if minutes < 1:
        return gettext("just now")
    if minutes < 60:
        return ngettext("%(n)s minute ago", "%(n)s minutes ago", minutes) % {"n": minutes}
    hours = minutes // 60
    if hours < 48:
        return ngettext("%(n)s hour ago", "%(n)s hours ago", hours) % {"n": hours}
    return ngettext("%(n)s day ago", "%(n)s days ago", hours // 24) % {"n": hours // 24}
