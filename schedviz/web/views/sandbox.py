"""The live page, its clock, and the receipts of single cycles."""

from urllib.parse import quote

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from schedviz.loop.clock import pause, resume, run_until, set_speed, step
from schedviz.store import Sandbox
from schedviz.web.explain import arithmetic
from schedviz.web.view import cycle as cycle_view
from schedviz.web.view import play
from schedviz.web.view.load import ranks
from schedviz.web.views.page import done, find, find_at, live_page, panel
from schedviz.web.views.predict import kept_back_from


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponse:
    return live_page(request, find(name))


@require_POST
def clock(request: HttpRequest, name: str) -> HttpResponse:
    """``do`` is pause, resume, point or cycle (a step), or until (with ``until``, and ``pod`` for "bound");
    without any of these ``speed`` is a factor."""
    sandbox = find(name)
    if kept_back_from(request, sandbox):
        text = gettext("A presenter hides the answers here, and moves time.")
        return HttpResponse(text, "text/plain", status=423, headers={"X-Trouble": quote(text)})
    try:
        command(sandbox, request.POST)
    except ValueError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain")
    return done(request, sandbox, "schedviz:clock")


def command(sandbox: Sandbox, data: QueryDict) -> None:
    """Raises ValueError."""
    match data.get("do"):
        case "pause":
            pause(sandbox)
        case "resume":
            resume(sandbox)
        case "point":
            step(sandbox, "point")
        case "cycle":
            step(sandbox, "cycle")
        case "until":
            run_until(sandbox, condition(data))
        case _:
            set_speed(sandbox, float(data.get("speed", "")))


def condition(data: QueryDict) -> str:
    """As :class:`simulator.scheduler.stepping.Until` reads it; a pod without a namespace is of the default
    one."""
    kind, pod = data.get("until", ""), data.get("pod", "").strip()
    if kind != "bound":
        return kind
    return f"{kind} {pod if '/' in pod else f'default/{pod}'}"


@require_safe
def cycle(request: HttpRequest, name: str, number: int, seq: int | None = None) -> HttpResponse:
    """The receipt of one attempt: what it decided, as it was. ``plugin`` and ``node``, if given, name a score
    whose arithmetic is written out."""
    sandbox = find_at(name, seq)
    decision = sandbox.decision(number)
    if decision is None:
        message = gettext("Cycle %(number)s is not kept any more, or has not been yet.") % {"number": number}
        if request.headers.get("HX-Request") != "true":
            raise Http404(message)
        return panel(request, sandbox, "panels/missing.html", {"message": message})
    view = cycle_view.read(decision, ranks(sandbox), entry=sandbox.lane(decision.pod))
    shown = arithmetic(decision, request.GET.get("plugin", ""), request.GET.get("node", ""))
    context = {
        "view": view,
        "subject": gettext("Scheduling cycle %(n)s") % {"n": number},
        "pinned": True,
        "arithmetic": shown,
        "scenes": play.scenes(decision),
        "open": "play" in request.GET,
    }
    return panel(request, sandbox, "panels/receipt.html", context)
