"""Functions that all pages of a sandbox use: they find the sandbox, and render a panel alone or inside the
live page."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import get_language, gettext
from django_htmx.http import reswap, retarget

from schedviz.access.asker import asker_of
from schedviz.access.rights import Right
from schedviz.cache import Current, Present, default_caches
from schedviz.rooms.access import find_visitor, may_replace
from schedviz.rooms.notice import Notice, room_notice
from schedviz.rooms.room import room_of
from schedviz.rooms.room_store import Rooms
from schedviz.store import Gone, Meta, NoSandbox, Sandbox, Unreadable
from schedviz.store.default import default_store
from schedviz.store.past import Past, Readable
from schedviz.web.act import end_act, is_ending_closed, read_act
from schedviz.web.endings import EndingView, can_end, present_ending
from schedviz.web.examples import can_start_over, is_example
from schedviz.web.ideas.texts import chosen_parts
from schedviz.web.lesson_visit import find_visit, look_at_lesson
from schedviz.web.lifetime import hours_left
from schedviz.web.presenters import node_names, travel
from schedviz.web.presenters.filter_query import IS
from schedviz.web.presenters.guide_box import GuideBox, present_box
from schedviz.web.presenters.load import load
from schedviz.web.presenters.parts import Parts, digests
from schedviz.web.presenters.picture import NODES, OF_NODES, PODS, WATCHED, Picture
from schedviz.web.presenters.screen import Look
from schedviz.web.presenters.screen import look as asked_look
from schedviz.web.queues import older_queue
from schedviz.web.scenarios import translated_meta
from schedviz.web.screens import SandboxScreens, address, followed_screens, screens_of
from schedviz.web.security_headers import embeddable

Source = Current | Past
"""The source of the values of a page."""

CLOCK = "schedviz:clock"
"""The event of a change of the clock. It does not end the visitor's act, as other writes do."""

DRAWN_AT_ONCE = 6_000
"""Maximum number of objects that are drawn within a request, in half a second."""


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def find_sandbox(name: str) -> Sandbox:
    """Return the handle of a sandbox, for a request that writes and reads nothing else; others call
    :func:`find_present`. Raises Http404."""
    try:
        return default_store().sandbox(name)
    except NoSandbox:
        raise Http404(gettext("There is no sandbox “%(name)s”.") % {"name": name}) from None


def find_past(name: str, seq: int) -> Past:
    """Return a past moment of a sandbox. Raises Http404 for an unknown sandbox; Gone if the moment is not
    stored any more, or was never reached."""
    sandbox = find_sandbox(name)
    if seq < 1:
        raise Gone(seq)
    return _open_past(sandbox, seq)


def find_end_of_cycle(name: str, cycle: int) -> Past | None:
    """Return the moment at which a scheduling cycle ended; None if the history does not reach it. Raises
    Http404."""
    sandbox = find_sandbox(name)
    try:
        seq = sandbox.history().end_of_cycle(cycle)
        return _open_past(sandbox, seq) if seq is not None else None
    except Gone:
        return None


def _open_past(sandbox: Sandbox, seq: int) -> Past:
    past = Past(sandbox, seq)
    _use_node_names(past)
    return past


def find_present(name: str) -> Current:
    """Return the sandbox from its cache, or from the store if it has too many objects to read all of them
    within a request. All that was written before the call is in it: a request that writes calls it again
    before it shows what there is now. Raises Http404."""
    found = read_present(name)
    _use_node_names(found)
    return found


def read_present(name: str) -> Current:
    """Return the present sandbox for a page of a past moment, which continues to use the short node names of
    that moment."""
    caches = default_caches()
    try:
        found: Current | None = caches.held(name)
        if found is None:
            sandbox = default_store().sandbox(name)
            found = sandbox if sandbox.size() > DRAWN_AT_ONCE else caches.read(name)
    except NoSandbox:
        raise Http404(gettext("There is no sandbox “%(name)s”.") % {"name": name}) from None
    return found


def _use_node_names(source: Source) -> None:
    """Shorten the names of nodes, for the rest of the request, as the nodes of this source are named."""
    node_names.activate(lambda: node_names.names_of(tuple(source.names(NODES))))


def find_at(name: str, seq: int | None) -> Source:
    """Return the sandbox, or its past moment ``seq``. Raises Http404, Gone."""
    return find_present(name) if seq is None else find_past(name, seq)


def live_page(
    request: HttpRequest, source: Source, detail: str = "", status: int = 200, subject: str = ""
) -> HttpResponse:
    """Render the whole page of a sandbox, or of a past moment.

    detail: HTML of a panel that is open in the inspector. subject: its title. The query parameter ``embed``
    names the parts that a page of an idea shows in a frame (:mod:`schedviz.web.ideas.texts`).
    """
    past = isinstance(source, Past)
    if isinstance(source, Sandbox):
        source = find_present(source.name)
    look = asked_look(request.GET.get("group", ""), request.GET.get("q", ""))
    embed = chosen_parts(request.GET.get("embed", ""))
    parts = draw_parts(source, look)
    present = read_present(source.name) if isinstance(source, Past) else source
    visit = None if embed else find_visit(request, present)
    meta = translated_meta(source.sandbox.meta() if isinstance(source, Past) else source.meta())
    right = asker_of(request).right
    context = {
        "meta": meta,
        "right": right.name,
        "view_only": right < Right.EDIT,
        "can_share": right == Right.OWN,
        "older": older_queue(meta.queue),
        "origin_deleted": is_origin_deleted(meta),
        "example_title": meta.title if is_example(meta) else "",
        "can_start_over": can_start_over(meta) and may_replace(meta.name, right),
        "box": None if visit else find_box(request, present, embed),
        "lesson": look_at_lesson(visit, present) if visit else None,
        "can_end": can_end(meta),
        "notice": None if embed else find_room_notice(request, source.sandbox.name if past else meta.name),
        "hours_left": None if embed or past else hours_left(meta.name),
        "embed": embed,
        "base": address(source.sandbox),
        "here": address(source),
        "travel": travel.past_travel(source) if isinstance(source, Past) else travel.live_travel(source),
        "past": past,
        "parts": parts,
        "held": "" if past else digests(parts),
        "look": look,
        "filter_states": IS,
        "socket": urlencode(
            {"lang": get_language() or "en", "group": look.group, "q": look.query}
            | ({"embed": "1"} if embed else {})
        ),
        "lanes": [html for name, html in parts.items() if name.startswith("lane-")],
        "detail": detail,
        "subject": subject,
        "wall": source.wall.now() if isinstance(source, Present) else source.sandbox.wall(),
        "kinds": [
            ("pod", gettext("+ Pod"), "p"),
            ("priorityclass", gettext("+ PriorityClass"), "c"),
            ("node", gettext("+ Node"), "n"),
            ("yaml", "YAML", "y"),
        ],
    }
    response = render(request, "sandbox.html", context, status=status)
    return embeddable(response) if embed else response


def is_origin_deleted(meta: Meta) -> bool:
    """Whether the sandbox from which this one was branched was deleted; one that was created later has only
    its name. Only for a branch is Redis asked."""
    if meta.origin is None:
        return False
    try:
        return default_store().handle(meta.origin.sandbox).meta().created > meta.created
    except NoSandbox:
        return True
    except Unreadable:
        return False


def find_room_notice(request: HttpRequest, name: str) -> Notice | None:
    """Return the notice of the sandbox's room; None for a sandbox of no room."""
    if room_of(name) is None:
        return None
    rooms = Rooms(default_store())
    return room_notice(rooms, name, find_visitor(rooms, name, request.COOKIES))


def find_box(request: HttpRequest, source: Current, embed: object) -> GuideBox | EndingView | None:
    """Return the box above the board: about the visitor's act, or the end of the scenario. In a frame it is
    only about the end."""
    meta = source.meta()
    box = None if embed else present_box(source, meta, read_act(request, meta.created))
    if box is None and not is_ending_closed(request, meta.created):
        return present_ending(source, meta)
    return box


def draw_parts(source: Source, look: Look) -> Parts:
    """Return the parts of the page. The nodes and pods of a large sandbox are left out: the socket sends
    them, as its hub has usually read them already."""
    language = get_language() or "en"
    by_socket = not isinstance(source, Past) and is_large(source)
    cache = default_caches().held_cache(source.name) if isinstance(source, Present) else None
    if cache is not None and not by_socket:
        screens = screens_of(cache)
        with screens.lock:
            screens.update(cache)
            return screens.page(language, look)
    screens = SandboxScreens(source)
    screens.load(set(WATCHED) - {*OF_NODES} if by_socket else WATCHED)
    screens.draw({language: [look]})
    parts = screens.whole(language, look)
    if by_socket:
        parts["nodes"] = render_to_string("parts/reading.html")
    return parts


def moment_html(request: HttpRequest, past: Past) -> str:
    """Return a past moment for htmx: its parts, as in a frame of the socket, and the bar."""
    parts = draw_parts(past, asked_look(request.GET.get("group", ""), request.GET.get("q", "")))
    banner = render_to_string("parts/past.html", {"travel": travel.past_travel(past), "base": address(past)})
    return "".join([banner, *parts.values()])


@contextmanager
def read_picture(source: Source) -> Iterator[Picture]:
    """Context manager: read the picture of a sandbox from its cache or the store; for a large sandbox that
    of an open live page, if there is one. It must not be changed."""
    by_socket = not isinstance(source, Past) and is_large(source)
    screens = followed_screens(source.name) if by_socket else None
    if screens is None:
        yield load(source)
        return
    with screens.lock:
        yield screens.picture


def is_large(sandbox: Current) -> bool:
    """Whether the sandbox has too many objects to parse all of them within a request."""
    return sandbox.count(PODS) + sandbox.count(NODES) > DRAWN_AT_ONCE


def panel(
    request: HttpRequest,
    sandbox: Source,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Render a panel: alone for htmx, otherwise in the inspector of the whole page, whose title begins with
    the context's ``subject``. Further values of the context: ``acted``, the kubectl command of the action
    just made; ``error``, why it was refused, of which htmx gets nothing else."""
    full = {**context, "base": address(sandbox), "sandbox": sandbox.name}
    full["past"] = isinstance(sandbox, Past)
    if is_htmx(request):
        if context.get("error"):
            return refused(str(context["error"]))
        response = render(request, template, full)
        if context.get("acted"):
            response.write(acted_html(context["acted"], address(sandbox.sandbox)))
            end_act(request, response, address(sandbox.sandbox))
        return response
    detail = render_to_string(template, full, request)
    return live_page(request, sandbox, detail, status, str(context.get("subject", "")))


def unfolded(request: HttpRequest) -> Callable[[str], bool]:
    """Return a function that says whether a fold of the panel is unfolded (static/js/panels.js). A page
    without scripts asks for all of them at once."""
    folds = (request.POST or request.GET).getlist("unfolded")
    return folds.__contains__ if is_htmx(request) else lambda _: True


def refused(message: str) -> HttpResponse:
    """Return for htmx why an action in a panel was refused. The panel stays as it is, with what was typed."""
    # Status 200, because browsers log every status from 400 on as an error.
    return reswap(retarget(HttpResponse(escape(message)), "#refused"), "innerHTML")


def acted_html(line: str, base: str) -> str:
    """Return the line above the log after an action: the kubectl command that does the same. base: the path
    of the sandbox's page."""
    return render_to_string("parts/acted.html", {"line": line, "base": base, "oob": True})


def done(
    request: HttpRequest, sandbox: Readable, event: str = "schedviz:done", kubectl: str = ""
) -> HttpResponse:
    """Return the response after a successful write. The live page gets the change by its socket; a page
    without scripts is redirected to the sandbox's page. event: triggered in the browser."""
    if not is_htmx(request):
        response: HttpResponse = redirect("sandbox", sandbox.name)
    elif not kubectl:
        response = HttpResponse(status=204, headers={"HX-Trigger": event})
    else:
        # After the swap: the event may remove the element that sent the request, and htmx swaps nothing then.
        headers = {"HX-Trigger-After-Swap": event, "HX-Reswap": "none"}
        response = HttpResponse(acted_html(kubectl, address(sandbox.sandbox)), headers=headers)
    if event != CLOCK:
        end_act(request, response, address(sandbox.sandbox))
    return response


def missing_panel(request: HttpRequest, sandbox: Source, message: str) -> HttpResponse:
    """Render the panel of what is not there, or not any more. The live page shows it when it is there
    again."""
    status = HTTPStatus.OK if is_htmx(request) else HTTPStatus.NOT_FOUND
    return panel(request, sandbox, "panels/missing.html", {"message": message}, status)


def form_page(
    request: HttpRequest,
    sandbox: Source,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Render a form: alone for htmx, which puts it into the dialog, otherwise as a page."""
    full = {**context, "base": address(sandbox), "sandbox": sandbox.name}
    if is_htmx(request):
        # Status 200 also for invalid fields, because browsers log every status from 400 on as an error.
        return render(request, template, {**full, "layout": "forms/bare.html"})
    return render(request, template, {**full, "layout": "forms/page.html"}, status=status)
