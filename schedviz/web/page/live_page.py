"""The live page of a sandbox, or of a past moment: whole, or around a panel."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from schedviz.access.asker import asker_of
from schedviz.access.rights import Right
from schedviz.cache import Present, default_caches
from schedviz.loop.mirror_silence import is_silent
from schedviz.rooms.access import find_participant, may_replace
from schedviz.rooms.notice import Notice, room_notice
from schedviz.rooms.room import room_of
from schedviz.rooms.room_store import Rooms
from schedviz.store import Meta, NoSandbox, Sandbox, Unreadable
from schedviz.store.connected_mirrors import ConnectedMirrors
from schedviz.store.default import default_store
from schedviz.store.past import Past
from schedviz.web.answers import Panel, is_htmx
from schedviz.web.examples import can_start_over, is_example
from schedviz.web.guide.endings import can_end
from schedviz.web.guide.find_box import find_box
from schedviz.web.ideas.texts import chosen_parts
from schedviz.web.lessons.visit import find_visit, look_at_lesson
from schedviz.web.lifetime import hours_left
from schedviz.web.nodes.filter_query import IS
from schedviz.web.page.screen import Look
from schedviz.web.page.screen import look as asked_look
from schedviz.web.page.screens import SandboxScreens, screens_of
from schedviz.web.parts.parts import Parts, digests, swap, trusted
from schedviz.web.past import travel
from schedviz.web.picture.live_picture import is_large
from schedviz.web.picture.picture import OF_NODES, WATCHED
from schedviz.web.queues import older_queue
from schedviz.web.scenarios import translated_meta
from schedviz.web.security_headers import embeddable
from schedviz.web.sources import Source, address, find_present, read_present
from simulator.versions.feature_gates import GENERIC_WORKLOAD

MOMENT = "X-Moment"
"""The header with the number of the moment whose parts a response has."""


class PanelsInPage(MiddlewareMixin):
    """Middleware: draws the page around a panel."""

    def process_template_response(self, request: HttpRequest, response: TemplateResponse) -> TemplateResponse:
        if isinstance(response, Panel):
            response.in_page = draw_around
        return response


def draw_around(panel: Panel) -> SafeString:
    """Return the whole page with a panel. htmx, which has a page, gets what changes in it at the panel's
    moment."""
    request, source = panel.request, panel.source
    if isinstance(source, Past) and is_htmx(request):
        panel.headers[MOMENT] = str(source.seq)
        return trusted(moment_html(request, source) + swap("innerHTML:#detail", panel.detail))
    if is_embedded(request):
        embeddable(panel)
    return page_html(request, source, panel.detail, panel.subject)


def live_page(request: HttpRequest, source: Source) -> HttpResponse:
    """Return the whole page of a sandbox, or of a past moment, without a panel."""
    response = HttpResponse(page_html(request, source))
    return embeddable(response) if is_embedded(request) else response


def is_embedded(request: HttpRequest) -> bool:
    """Whether a page of an idea shows the page in a frame."""
    return bool(chosen_parts(request.GET.get("embed", "")))


def page_html(request: HttpRequest, source: Source, detail: str = "", subject: str = "") -> SafeString:
    """Render the whole page.

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
    meta = translated_meta(source.meta())
    right, features = asker_of(request).right, meta.features()
    context = {
        **connection_context(meta, right),
        "meta": meta,
        "right": right.name,
        "view_only": right < Right.EDIT or meta.mirror is not None,
        "can_share": right == Right.OWN,
        "features": features,
        "older": older_queue(meta.queue),
        "origin_deleted": is_origin_deleted(meta),
        "example_title": meta.title if is_example(meta) else "",
        "has_pod_groups": features.enabled(GENERIC_WORKLOAD),
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
    return render_to_string("page/sandbox.html", context, request)


def connection_context(meta: Meta, right: Right) -> dict[str, bool]:
    """Return whether a mirror is connected, and can be disconnected, by its page; or could be again."""
    if meta.mirror is None or right < Right.OWN:
        return {}
    mirrors = ConnectedMirrors(default_store().redis)
    if mirrors.find(meta.name):
        return {"connection": True}
    offered = mirrors.offered()
    is_offered = offered is not None and meta.mirror.context in offered.contexts
    return {"connects_again": is_offered and is_silent(default_store().handle(meta.name))}


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
    return room_notice(rooms, name, find_participant(rooms, name, request.COOKIES))


def draw_parts(source: Source, look: Look) -> Parts:
    """Return the parts of the page. The nodes and pods of a large sandbox are left out: the socket sends
    them, as its hub has usually read them already."""
    language = get_language() or "en"
    by_socket = is_large(source)
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
        parts["nodes"] = render_to_string("past/reading.html")
    return parts


def moment_html(request: HttpRequest, past: Past) -> str:
    """Return a past moment for htmx: its parts, as in a frame of the socket, and the bar."""
    parts = draw_parts(past, asked_look(request.GET.get("group", ""), request.GET.get("q", "")))
    banner = render_to_string("past/past.html", {"travel": travel.past_travel(past), "base": address(past)})
    return "".join([banner, *parts.values()])
