"""The live page of a sandbox, the controls of its clock, and the panels of scheduling cycles."""

from urllib.parse import quote

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from schedviz.loop.clock import MAX, pause, resume, run_until, set_speed, step
from schedviz.store import Sandbox
from schedviz.web.explain import arithmetic
from schedviz.web.presenters import cycle as cycle_view
from schedviz.web.presenters import play, score_table
from schedviz.web.presenters.load import ranks
from schedviz.web.views.page import CLOCK, done, find_at, find_present, live_page, panel
from schedviz.web.views.predict import is_locked_by_presenter


@require_safe
def sandbox_page(request: HttpRequest, name: str) -> HttpResponse:
    return live_page(request, find_present(name))


@require_POST
def clock_action(request: HttpRequest, name: str) -> HttpResponse:
    """Change the clock. Fields: ``do`` = pause, resume, event, point or cycle (a step), or until (with
    ``until``, and ``pod`` for "bound"); otherwise ``speed``, a factor or max."""
    source = find_present(name)
    if is_locked_by_presenter(request, source):
        text = gettext("A presenter hides the answers here, and moves time.")
        return HttpResponse(text, "text/plain", status=423, headers={"X-Trouble": quote(text)})
    try:
        change_clock(source.sandbox, request.POST)
    except ValueError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain")
    return done(request, source, CLOCK)


def change_clock(sandbox: Sandbox, data: QueryDict) -> None:
    """Raises ValueError."""
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
    """The condition for :class:`simulator.scheduler.stepping.Until`. A pod without a namespace is in the
    default namespace."""
    kind, pod = data.get("until", ""), data.get("pod", "").strip()
    if kind != "bound":
        return kind
    return f"{kind} {pod if '/' in pod else f'default/{pod}'}"


@require_safe
def cycle_panel(
    request: HttpRequest, name: str, number: int | None = None, seq: int | None = None
) -> HttpResponse:
    """The panel of one scheduling cycle, with its decision; without ``number``, of the last one. The query
    parameters ``plugin`` and ``node`` choose a score whose arithmetic is shown; ``place``, the column of the
    live page, may stand for ``node``."""
    sandbox = find_at(name, seq)
    decision = sandbox.last_decision() if number is None else sandbox.decision(number)
    if decision is None:
        text = gettext("Cycle %(number)s is not kept any more, or has not been yet.")
        message = text % {"number": number or 1}
        if request.headers.get("HX-Request") != "true":
            raise Http404(message)
        return panel(request, sandbox, "panels/missing.html", {"message": message})
    view = cycle_view.present_cycle(decision, ranks(sandbox), entry=sandbox.lane(decision.pod))
    node = request.GET.get("node") or score_table.node_at(decision, request.GET.get("place", ""))
    shown = arithmetic(decision, request.GET.get("plugin", ""), node)
    context = {
        "view": view,
        "subject": gettext("Scheduling cycle %(n)s") % {"n": decision.cycle},
        "pinned": True,
        "arithmetic": shown,
        "scenes": play.play_steps(decision),
        "open": "play" in request.GET,
    }
    return panel(request, sandbox, "panels/cycle_page.html", context)
