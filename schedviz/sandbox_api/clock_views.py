"""The views that move the time of a sandbox."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.access.asker import asker_of
from schedviz.loop import clock
from schedviz.sandbox_api.describe import describe
from schedviz.sandbox_api.operations import operation
from schedviz.sandbox_api.requests import answer
from schedviz.sandbox_documents import Request, RunRequest, SandboxAnswer, SpeedRequest, StepRequest
from schedviz.store import Clock, Sandbox
from schedviz.store.default import default_store
from simulator.api import Micros
from simulator.apiserver.status import BadRequest
from simulator.objects.durations import parse_duration
from simulator.scheduler.stepping import run_condition

RUN_AT_MOST: Final = "1h"
"""The simulated time of a run for whose condition none is given."""

_FOLLOWS: Final = "Answered at once; the worker follows."


@operation("pauseSandbox", f"Stop simulated time. {_FOLLOWS}", SandboxAnswer, body=Request)
def pause(request: HttpRequest, asked: Request, name: str) -> HttpResponse:
    return _moved(request, name, clock.pause)


@operation("resumeSandbox", f"Let simulated time run on. {_FOLLOWS}", SandboxAnswer, body=Request)
def resume(request: HttpRequest, asked: Request, name: str) -> HttpResponse:
    return _moved(request, name, clock.resume)


@operation(
    "setSpeed", "Set the ratio of simulated time to wall time, or max", SandboxAnswer, body=SpeedRequest
)
def set_speed(request: HttpRequest, asked: SpeedRequest, name: str) -> HttpResponse:
    return _moved(request, name, lambda sandbox: clock.set_speed(sandbox, asked.speed))


@operation("stepSandbox", f"Pause, and take steps. {_FOLLOWS}", SandboxAnswer, body=StepRequest)
def step(request: HttpRequest, asked: StepRequest, name: str) -> HttpResponse:
    return _moved(request, name, lambda sandbox: clock.step(sandbox, asked.unit, asked.count))


@operation(
    "runSandbox",
    f"Let simulated time run until a condition holds, then pause. {_FOLLOWS}",
    SandboxAnswer,
    body=RunRequest,
)
def run(request: HttpRequest, asked: RunRequest, name: str) -> HttpResponse:
    def begin(sandbox: Sandbox) -> Clock:
        return clock.run_until(sandbox, run_condition(asked.until, end_of_run(sandbox, asked), asked.pod))

    return _moved(request, name, begin)


def end_of_run(sandbox: Sandbox, asked: RunRequest) -> Micros:
    """Return the time at which a run ends. Raises BadRequest, NoSandbox."""
    if (asked.until == "bound") != bool(asked.pod):
        raise BadRequest("pod: the condition bound, and no other, has a pod")
    if asked.until == "time" and (asked.time is None) == (asked.duration is None):
        raise BadRequest("either time or for is wanted")
    if asked.until != "time" and asked.time is not None:
        raise BadRequest(f"time: the condition {asked.until} has none")
    set_clock, wall = sandbox.read_clock()
    now = set_clock.now(wall)
    if asked.time is not None:
        if asked.time < now:
            raise BadRequest(f"time: the sandbox is already at {now}")
        return asked.time
    try:
        return now + parse_duration(asked.duration or RUN_AT_MOST)
    except ValueError as error:
        raise BadRequest(f"for: {error}") from None


def _moved(request: HttpRequest, name: str, move: clock.Move) -> HttpResponse:
    sandbox = default_store().sandbox(name)
    try:
        move(sandbox)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    return answer(describe(sandbox, asker_of(request).right))
