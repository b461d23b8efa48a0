"""The pages on which a cluster is connected, which show how it goes, and end it."""

from http import HTTPStatus
from typing import Any, Final, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django_htmx.http import reselect, retarget

from schedviz.access.account import account_of
from schedviz.access.asker import asker_by
from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.record import read_record
from schedviz.access.rights import Right
from schedviz.access.visitor import find_visitor
from schedviz.limits.requester import new_record
from schedviz.store import NoSandbox, Unreadable
from schedviz.store.connected_mirrors import (
    MIRRORS_AT_MOST,
    NAMESPACES_AT_MOST,
    ConnectedMirror,
    ConnectedMirrors,
    MirrorProgress,
    mirror_name,
    split_namespaces,
)
from schedviz.store.default import default_store
from schedviz.store.store import NAME
from schedviz.web.answers import is_htmx, redirected
from schedviz.web.text.format import number
from schedviz.web.text.mirror_trouble import Trouble, say_trouble

PODS: Final = "pods"


class ConnectedView(NamedTuple):
    mirror: ConnectedMirror
    progress: MirrorProgress
    trouble: Trouble

    @property
    def read(self) -> str:
        return number(self.progress.read)

    @property
    def total(self) -> str:
        """Return how many there are, about; "" = not known."""
        return number(self.progress.total) if self.progress.total else ""

    @property
    def percent(self) -> int | None:
        """How much of the pods is read, which are most of all; None = not known."""
        now = self.progress
        if now.phase != "reading" or now.resource != PODS or not now.total:
            return None
        return min(100, 100 * now.read // now.total)


def connect_cluster(request: HttpRequest) -> HttpResponse:
    """Render the page that offers contexts. Fields: ``context``; ``name`` of the mirror, "" = that of the
    context; ``namespaces`` with commas, "" = all."""
    mirrors = ConnectedMirrors(default_store().redis)
    if request.method != "POST":
        return _page(request, mirrors)
    context = request.POST.get("context", "")
    name = request.POST.get("name", "").strip() or mirror_name(context)
    namespaces = split_namespaces(request.POST.get("namespaces", ""))
    fault, namespaces_fault = _fault(request, mirrors, context, name), _fault_of_namespaces(namespaces)
    if fault or namespaces_fault:
        return _page(request, mirrors, fault, namespaces_fault)
    store = default_store()
    if not mirrors.connect(ConnectedMirror(name, context, store.wall(), new_record(request), namespaces)):
        text = gettext("There are %(n)s connected clusters, which is the maximum: disconnect one first.")
        return _page(request, mirrors, text % {"n": MIRRORS_AT_MOST})
    return redirect("connected", name)


def _fault(request: HttpRequest, mirrors: ConnectedMirrors, context: str, name: str) -> str:
    """Return why this cannot be connected; "" = it can."""
    offered = mirrors.offered()
    if offered is None or context not in offered.contexts:
        return gettext("There is no context “%(context)s” to connect.") % {"context": context}
    if not NAME.fullmatch(name):
        return gettext(
            "A name has at most 63 of the letters a to z, digits, and hyphens between them; “%(name)s” is "
            "none."
        ) % {"name": name}
    taken = mirrors.find(name)
    mine = taken is None or _is_mine(request, name, taken.access)
    try:
        sandbox = default_store().sandbox(name)
        mine = mine and sandbox.meta().mirror is not None and _is_mine(request, name, sandbox.access() or "")
    except (NoSandbox, Unreadable):
        pass
    if mine:
        return ""
    return gettext("There is a sandbox “%(name)s” already: choose another name.") % {"name": name}


def _fault_of_namespaces(namespaces: tuple[str, ...]) -> str:
    """Return why these cannot be followed; "" = they can."""
    if len(namespaces) > NAMESPACES_AT_MOST:
        text = gettext("At most %(most)s namespaces can be followed, not %(n)s.")
        return text % {"most": NAMESPACES_AT_MOST, "n": len(namespaces)}
    for each in namespaces:
        if not NAME.fullmatch(each):
            return gettext("“%(name)s” is no name of a namespace.") % {"name": each}
    return ""


def connected_cluster(request: HttpRequest, mirror: str) -> HttpResponse:
    """Render how it goes with a mirror. One that follows leads to its page. Query of a request of htmx:
    ``ended``, whether the page shows the buttons of a mirror that has ended."""
    mirrors = ConnectedMirrors(default_store().redis)
    view = _view(mirrors, _find(request, mirrors, mirror))
    if view.progress.phase == "following":
        return redirected(request, reverse("sandbox", args=[mirror]))
    if not is_htmx(request):
        return render(request, "connect/connected.html", {"each": view})
    response = render(request, "connect/progress.html", {"each": view})
    if ("ended" in request.GET) != (view.progress.phase == "ended"):
        return reselect(retarget(response, "#progress"), "#progress")
    return response


def disconnect_cluster(request: HttpRequest, mirror: str) -> HttpResponse:
    """End a mirror. Its sandbox stays."""
    mirrors = ConnectedMirrors(default_store().redis)
    _find(request, mirrors, mirror)
    mirrors.disconnect(mirror)
    return redirect("sandbox", mirror) if default_store().exists(mirror) else redirect("connect")


def _find(request: HttpRequest, mirrors: ConnectedMirrors, name: str) -> ConnectedMirror:
    found = mirrors.find(name)
    if found is None or not _is_mine(request, name, found.access):
        raise Http404(gettext("The cluster “%(name)s” is not connected.") % {"name": name})
    return found


def _is_mine(request: HttpRequest, name: str, access: str) -> bool:
    if not sandboxes_have_owners():
        return True
    visitor = find_visitor(request.COOKIES, "", account_of(request))
    return asker_by(name, visitor, read_record(access)).right == Right.OWN


def _view(mirrors: ConnectedMirrors, mirror: ConnectedMirror) -> ConnectedView:
    progress = mirrors.progress(mirror.name)
    return ConnectedView(mirror, progress, say_trouble(progress.message))


def _page(
    request: HttpRequest, mirrors: ConnectedMirrors, error: str = "", namespaces_error: str = ""
) -> HttpResponse:
    offered = mirrors.offered()
    given = request.POST if request.method == "POST" else request.GET
    connected = [
        _view(mirrors, each)
        for each in mirrors.wanted().values()
        if _is_mine(request, each.name, each.access)
    ]
    context: dict[str, Any] = {
        "offered": offered,
        "fault": say_trouble(offered.fault) if offered else None,
        "chosen": given.get("context", "") or (offered.contexts[0] if offered and offered.contexts else ""),
        "name": given.get("name", ""),
        "namespaces": given.get("namespaces", ""),
        "namespaces_error": namespaces_error,
        "connected": connected,
        "error": error,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error or namespaces_error else HTTPStatus.OK
    return render(request, "connect/connect.html", context, status=status)
