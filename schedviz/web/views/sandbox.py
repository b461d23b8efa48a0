"""The live page of a sandbox, the controls of its clock, and the panels of scheduling cycles."""

from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext

from schedviz.loop.clock import MAX, pause, resume, run_until, set_speed, step
from schedviz.store import Sandbox
from schedviz.web.explain import arithmetic
from schedviz.web.page import (
    CLOCK,
    Source,
    done,
    find_at,
    find_end_of_cycle,
    find_present,
    is_htmx,
    live_page,
    missing_panel,
    moment_html,
    panel,
    read_present,
)
from schedviz.web.presenters import cycle as cycle_view
from schedviz.web.presenters import play, score_table
from schedviz.web.presenters.details import events_of_pod
from schedviz.web.presenters.device_reasons import device_reasons
from schedviz.web.presenters.later import later_turn
from schedviz.web.presenters.load import ranks
from schedviz.web.presenters.parts import swap, trusted
from schedviz.web.presenters.play_tiles import with_tiles
from schedviz.web.presenters.why import present_why
from schedviz.web.screens import address

MOMENT: Final = "X-Moment"
"""The header with the number of the moment whose parts a response has."""


def sandbox_page(request: HttpRequest, name: str) -> HttpResponse:
    return live_page(request, find_present(name))


def clock_action(request: HttpRequest, name: str) -> HttpResponse:
    """Change the clock. Fields: ``do`` = pause, resume, event, point or cycle (a step), or until (with
    ``until``, and ``pod`` for "bound"); otherwise ``speed``, a factor or max."""
    source = find_present(name)
    try:
        change_clock(source.sandbox, request.POST)
    except ValueError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain")
    return done(request, source, CLOCK)


def change_clock(sandbox: Sandbox, data: QueryDict) -> None:
    """Change the clock. Raises ValueError."""
    match data.get("do"):
        case "pause":
            pause(sandbox)
        case "resume":
            resume(sandbox)
        case "event" | "point" | "cycle" as unit:
            step(sandbox, unit)
        case "until":
            run_until(sandbox, run_condition(data))
        case _:
            speed = data.get("speed", "")
            set_speed(sandbox, MAX if speed == MAX else float(speed))


def run_condition(data: QueryDict) -> str:
    """Return the condition for :class:`simulator.scheduler.stepping.Until`. A pod without a namespace is in
    the default namespace."""
    kind, pod = data.get("until", ""), data.get("pod", "").strip()
    if kind != "bound":
        return kind
    return f"{kind} {pod if '/' in pod else f'default/{pod}'}"


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
        return missing_cycle(request, source, number)
    view = cycle_view.present_cycle(decision, ranks(source), entry=source.lane(decision.pod))
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
    response = panel(request, source, "panels/cycle_page.html", context)
    if not whole or moment is None:
        return response
    shown = trusted(response.content.decode())
    html = moment_html(request, moment) + swap("innerHTML:#detail", shown)
    return HttpResponse(html, headers={MOMENT: str(moment.seq)})


def missing_cycle(request: HttpRequest, source: Source, number: int) -> HttpResponse:
    message = gettext("Cycle %(number)s is no longer stored, or has not happened yet.") % {"number": number}
    return missing_panel(request, source, message)
