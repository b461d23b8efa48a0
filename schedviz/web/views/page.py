"""What all pages of a sandbox share: the sandbox itself, and how a panel shows inside the live page or
alone."""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import get_language, gettext

from schedviz.store import NoSandbox, Sandbox
from schedviz.store.default import default_store
from schedviz.store.past import Past
from schedviz.web.ideas import chosen_parts
from schedviz.web.middleware import embeddable
from schedviz.web.queues import older
from schedviz.web.scenarios import told
from schedviz.web.stage import Stage, address
from schedviz.web.view import travel
from schedviz.web.view.find import IS
from schedviz.web.view.parts import Parts
from schedviz.web.view.picture import NODES, PODS, WATCHED
from schedviz.web.view.screen import Look
from schedviz.web.view.screen import look as asked_look

DRAWN_AT_ONCE = 6_000
"""Objects of which a page is drawn within its request; half a second of work."""


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def find(name: str) -> Sandbox:
    """Raises Http404 where there is none."""
    try:
        return default_store().sandbox(name)
    except NoSandbox:
        raise Http404(gettext("There is no sandbox “%(name)s”.") % {"name": name}) from None


def find_past(name: str, seq: int) -> Past:
    """Raises Http404 where there is no such sandbox, Gone where the moment is not kept."""
    return Past(find(name), seq)


def find_at(name: str, seq: int | None) -> Sandbox | Past:
    """The sandbox, or a past moment of it. Raises as both do."""
    return find(name) if seq is None else find_past(name, seq)


def live_page(
    request: HttpRequest, source: Sandbox | Past, detail: str = "", status: int = 200, subject: str = ""
) -> HttpResponse:
    """The whole page as it is now, or was; ``detail`` stands open in the inspector, and ``subject`` says of
    what. ``embed`` in the address names the parts that are to be seen in a frame (:mod:`schedviz.web.ideas`).
    """
    past = isinstance(source, Past)
    sandbox = source.sandbox if isinstance(source, Past) else source
    look = asked_look(request.GET.get("group", ""), request.GET.get("q", ""))
    embed = chosen_parts(request.GET.get("embed", ""))
    parts = drawn(source, look)
    meta = told(sandbox.meta())
    context = {
        "meta": meta,
        "older": older(meta.queue),
        "embed": embed,
        "base": address(sandbox),
        "here": address(source),
        "travel": travel.at(source) if isinstance(source, Past) else travel.live(sandbox),
        "past": past,
        "parts": parts,
        "look": look,
        "filter_states": IS,
        "socket": urlencode({"lang": get_language() or "en", "group": look.group, "q": look.query}),
        "lanes": [html for name, html in parts.items() if name.startswith("lane-")],
        "detail": detail,
        "subject": subject,
        "wall": time.time(),
        "kinds": [
            ("pod", gettext("+ Pod"), "p"),
            ("priorityclass", gettext("+ PriorityClass"), "c"),
            ("node", gettext("+ Node"), "n"),
            ("yaml", "YAML", "y"),
        ],
    }
    response = render(request, "sandbox.html", context, status=status)
    return embeddable(response) if embed else response


def drawn(source: Sandbox | Past, look: Look) -> Parts:
    """The page's parts as they are now, or were. What a large sandbox has now of nodes and pods comes by the
    socket: its hub has mostly read them already."""
    stage, language = Stage(source), get_language() or "en"
    by_socket = isinstance(source, Sandbox) and large(source)
    stage.load(set(WATCHED) - {PODS, NODES} if by_socket else WATCHED)
    stage.draw({language: [look]})
    parts = stage.whole(language, look)
    if by_socket:
        parts["nodes"] = render_to_string("parts/reading.html")
    return parts


def large(sandbox: Sandbox) -> bool:
    """Whether it takes too long to read all of it within a request."""
    return sandbox.count(PODS) + sandbox.count(NODES) > DRAWN_AT_ONCE


def panel(
    request: HttpRequest,
    sandbox: Sandbox | Past,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """A panel: by itself for htmx, else in the inspector of the whole page, whose title begins with the
    context's ``subject``. ``acted`` in the context is the kubectl line of what was just done."""
    full = {**context, "base": address(sandbox), "sandbox": sandbox.name}
    full["past"] = isinstance(sandbox, Past)
    if is_htmx(request):
        response = render(request, template, full)
        if context.get("acted"):
            response.write(acted(context["acted"]))
        return response
    detail = render_to_string(template, full, request)
    return live_page(request, sandbox, detail, status, str(context.get("subject", "")))


def acted(line: str) -> str:
    """What stands above the log after an act: the kubectl line that does the same."""
    return render_to_string("parts/acted.html", {"line": line, "oob": True})


def done(
    request: HttpRequest, sandbox: Sandbox, event: str = "schedviz:done", kubectl: str = ""
) -> HttpResponse:
    """A write went through: the live page hears it from its socket, a page without scripts is sent back to
    it."""
    if not is_htmx(request):
        return redirect("sandbox", sandbox.name)
    if not kubectl:
        return HttpResponse(status=204, headers={"HX-Trigger": event})
    # The event may take away what sent the request, and with it the page that the line is to be put into.
    return HttpResponse(acted(kubectl), headers={"HX-Trigger-After-Swap": event, "HX-Reswap": "none"})


def form_page(
    request: HttpRequest,
    sandbox: Sandbox | Past,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """A form: by itself for htmx, which puts it into the dialog, else as a page of its own."""
    full = {**context, "base": address(sandbox), "sandbox": sandbox.name}
    if is_htmx(request):
        # Fields to mend are an answer like any other here: browsers log every status from 400 on as an error.
        return render(request, template, {**full, "layout": "forms/bare.html"})
    return render(request, template, {**full, "layout": "forms/page.html"}, status=status)
