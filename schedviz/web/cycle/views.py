"""The panels of scheduling cycles."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from schedviz.store.changes import TRACE_READ
from schedviz.web.answers import is_htmx, missing_panel, panel
from schedviz.web.cycle import cycle as cycle_view
from schedviz.web.cycle import play, score_table
from schedviz.web.cycle.later import later_turn
from schedviz.web.cycle.play_tiles import with_tiles
from schedviz.web.cycle.why import present_why
from schedviz.web.devices.reasons import device_reasons
from schedviz.web.explain import arithmetic
from schedviz.web.log.about import events_of_pod
from schedviz.web.picture.load import ranks
from schedviz.web.pod_groups.cycle import present_group_cycle
from schedviz.web.pod_groups.cycles import group_cycles
from schedviz.web.sources import Source, address, find_at, find_end_of_cycle, find_present, read_present


def cycle_panel(
    request: HttpRequest, name: str, number: int | None = None, seq: int | None = None
) -> HttpResponse:
    """Render the panel of one scheduling cycle, with its decision, on the page of the moment at which the
    cycle ended; without ``number``, of the last cycle. If the history does not reach that moment, the panel
    says so on the live page. The query parameters ``plugin`` and ``node`` choose a score whose arithmetic is
    shown; ``place``, the column of the live page, may stand for ``node``. ``why``: with the explanation why
    the node was chosen, and not ``other``. ``moment``: with the parts of the page."""
    if number is None:
        last = find_at(name, seq).last_decision()
        number = last.cycle if last else 1
    moment = find_end_of_cycle(name, number)
    whole = is_htmx(request) and "moment" in request.GET
    if moment is not None and moment.seq != seq and not whole:
        query = request.GET.urlencode()
        return redirect(f"{address(moment)}cycles/{number}/{f'?{query}' if query else ''}")
    source = moment or find_present(name)
    decision = source.decision(number)
    if decision is None:
        return cycle_of_group(request, source, number, with_moment=whole and moment is not None)
    view = cycle_view.present_cycle(decision, ranks(source), entry=source.queue_place(decision.pod))
    present = read_present(name) if moment else source
    asks_why = "why" in request.GET and bool(decision.selected)
    node = request.GET.get("node") or score_table.node_at(decision, request.GET.get("place", ""))
    context = {
        "view": view,
        "subject": gettext("Scheduling cycle %(n)s") % {"n": decision.cycle},
        "pinned": True,
        "arithmetic": arithmetic(decision, request.GET.get("plugin", ""), node),
        "scenes": with_tiles(play.play_steps(decision), source),
        "later": later_turn(decision, events_of_pod(present, decision.pod), present.decision),
        "open": "play" in request.GET,
        "device_reasons": device_reasons(moment, decision) if moment else [],
        "why": present_why(decision, request.GET.get("other", "")) if asks_why else None,
    }
    return panel(request, source, "cycle/page.html", context, with_moment=whole and moment is not None)


def cycle_of_group(request: HttpRequest, source: Source, number: int, *, with_moment: bool) -> HttpResponse:
    """Render the panel of the cycle of a pod group, which has no decision of its own."""
    events = (event for _, event in source.trace_tail(TRACE_READ))
    found = next((each for each in group_cycles(events) if each.number == number), None)
    if found is None:
        return missing_cycle(request, source, number)
    view = present_group_cycle(found)
    context = {"view": view, "subject": gettext("Cycle %(n)s, of a group") % {"n": number}, "pinned": True}
    return panel(request, source, "pod_groups/page.html", context, with_moment=with_moment)


def missing_cycle(request: HttpRequest, source: Source, number: int) -> HttpResponse:
    message = gettext("Cycle %(number)s is no longer stored, or has not happened yet.") % {"number": number}
    return missing_panel(request, source, message)
