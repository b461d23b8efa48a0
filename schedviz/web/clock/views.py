"""The controls of a sandbox's clock."""

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict

from schedviz.loop.clock import MAX, pause, resume, run_until, set_speed, step
from schedviz.store import Sandbox
from schedviz.web.answers import CLOCK, done
from schedviz.web.sources import find_present


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
