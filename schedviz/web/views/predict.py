"""Predict, then reveal: a panel that asks before each decision, and takes the step that decides."""

from typing import cast, get_args

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods
from msgspec.structs import replace

from schedviz.loop.clock import pause, step
from schedviz.store import Clock, Sandbox
from schedviz.store.default import default_store
from schedviz.web.predict import viewer
from schedviz.web.predict.grade import Grade, World, grade
from schedviz.web.predict.question import Kind, Question, answer, asked
from schedviz.web.predict.room import Room
from schedviz.web.predict.viewer import Guess, Mine
from schedviz.web.stage import address
from schedviz.web.view.load import load
from schedviz.web.view.picture import Picture
from schedviz.web.view.prediction import AnswerView, PredictView, answer_view, picked, question_view
from schedviz.web.views.page import find, is_htmx, large, panel
from simulator.decision import Decision


class Stand(msgspec.Struct):
    """Where a sandbox and its room stand."""

    sandbox: Sandbox
    room: Room
    clock: Clock
    picture: Picture
    last_cycle: int
    held: str
    """The presenter's token."""
    asked: str
    """The id of the question asked last."""

    @property
    def question(self) -> Question | None:
        """What is to be asked now."""
        return asked(self.picture, self.last_cycle) if self.clock.paused and not self.clock.steps else None


def room_of(sandbox: Sandbox) -> Room:
    return Room(default_store().redis, sandbox.name, sandbox.meta().created)


def kept_back_from(request: HttpRequest, sandbox: Sandbox) -> bool:
    """Whether a presenter holds the answers back, and this is somebody else: who may not move time."""
    held, _ = room_of(sandbox).state()
    return bool(held) and viewer.read(request).token != held


@require_http_methods(["GET", "HEAD", "POST"])
def predict(request: HttpRequest, name: str) -> HttpResponse:
    """The panel; with ``seen``, nothing where that is still so. POST ``do``: begin, guess (with ``question``
    and ``pick``), go (take the step that decides; it reveals), hold and release the answers, reset the
    score."""
    sandbox = find(name)
    if large(sandbox):
        message = gettext("This sandbox is too large to predict: try one of some dozen nodes.")
        return panel(request, sandbox, "panels/missing.html", {"message": message})
    mine, room = viewer.read(request), room_of(sandbox)
    before = mine
    if request.method == "POST":
        was = stand(sandbox, room)
        moved = act(request, was, settled(was, mine))
        if moved is None:
            return HttpResponseBadRequest(gettext("That cannot be chosen."), content_type="text/plain")
        mine = moved
        if not is_htmx(request):
            response: HttpResponse = redirect("predict", name)
            viewer.write(response, mine, address(sandbox))
            return response
    seen = fingerprint(sandbox, room, mine)
    if request.method != "POST" and request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    now = stand(sandbox, room)
    mine = settled(now, mine)
    context = {"view": view(now, mine, seen), "subject": gettext("Predict")}
    response = panel(request, sandbox, "panels/predict.html", context)
    # An answer that was under way longer must not bring back an older cookie.
    if mine != before:
        viewer.write(response, mine, address(sandbox))
    return response


def stand(sandbox: Sandbox, room: Room) -> Stand:
    held, last = room.state()
    clock = sandbox.clock()
    _, _, cycle = sandbox.progress()
    return Stand(sandbox, room, clock, load(sandbox), cycle, held, last)


def fingerprint(sandbox: Sandbox, room: Room, mine: Mine) -> str:
    """Of all that the panel shows, at the cost of a few reads."""
    clock, under_way = sandbox.clock(), sandbox.under_way()
    held, last = room.state()
    if not clock.paused:
        return f"runs.{held[:4]}"
    _, _, cycle = sandbox.progress()
    where = f"{under_way.cycle}{under_way.point}" if under_way else ""
    # Who still chooses is not disturbed by others' guesses.
    waits = held and (mine.token == held or (mine.guess and mine.guess.question == last))
    parts = (sandbox.version(), sandbox.trace_head(), cycle, where, clock.paused, bool(clock.steps), held[:4])
    return ".".join(
        str(part) for part in (*parts, last if waits else "", room.guesses(last) if waits else "")
    )


def act(request: HttpRequest, now: Stand, mine: Mine) -> Mine | None:
    """What the viewer did; None for a guess that is none."""
    presenter = bool(now.held) and mine.token == now.held
    match request.POST.get("do"):
        case "begin":
            if not now.held:
                pause(now.sandbox)
        case "guess":
            return guess(request, now, mine)
        case "go" if (presenter or not now.held) and not now.clock.steps:
            if now.question:
                now.room.ask(now.question.id)
            step(now.sandbox, "decision")
        case "hold":
            token = now.room.hold()
            if token:
                pause(now.sandbox)
                return replace(mine, token=token)
        case "release" if presenter:
            now.room.let_go()
        case "reset":
            return Mine(guess=mine.guess, graded=True, token=mine.token)
    return mine


def guess(request: HttpRequest, now: Stand, mine: Mine) -> Mine | None:
    """None for a choice that is none. Too late, or the second time, it does nothing."""
    question, picks = now.question, frozenset(request.POST.getlist("pick"))
    if question is None or request.POST.get("question") != question.id:
        return mine
    if mine.guess and mine.guess.question == question.id:
        return mine
    if not picks <= {*question.choices} or (not question.many and len(picks) != 1):
        return None
    now.room.count(question.id, picks)
    if not now.held:
        step(now.sandbox, "decision")
    return replace(mine, guess=Guess(question.id, tuple(sorted(picks))), graded=False)


def decided(now: Stand, question_id: str) -> tuple[Kind, Decision, str] | None:
    """The kind, the Decision and where its cycle stands; None while it is open, or not kept any more."""
    number, _, kind = question_id.partition("-")
    if kind not in get_args(Kind):
        return None
    under_way = now.picture.under_way
    if under_way and under_way.decision and under_way.cycle == int(number):
        decision, point = under_way.decision, under_way.point
    else:
        known = now.sandbox.decision(int(number))
        if known is None:
            return None
        decision, point = known, ""
    told = cast(Kind, kind)
    open_still = answer(told, decision, point) is None and not decision.outcome
    return None if open_still else (told, decision, point)


def graded(now: Stand, mine: Mine) -> Grade | None:
    found = decided(now, mine.guess.question) if mine.guess else None
    if not mine.guess or not found:
        return None
    picture = now.picture
    world = World(picture.lanes, picture.pods, picture.nodes, picture.by_node)
    return grade(found[0], frozenset(mine.guess.picks), found[1], world)


def settled(now: Stand, mine: Mine) -> Mine:
    """With the last guess in the score, once it can be told."""
    if mine.guess is None or mine.graded:
        return mine
    told = graded(now, mine)
    return mine if told is None else mine.graded_as(told.right)


def view(now: Stand, mine: Mine, seen: str) -> PredictView:
    question = now.question
    waiting = bool(question and mine.guess and mine.guess.question == question.id)
    presenter = bool(now.held) and mine.token == now.held
    return PredictView(
        running=not now.clock.paused,
        busy=bool(now.clock.steps),
        score=mine.score,
        answer=None if waiting else told(now, mine),
        question=question_view(question, now.picture) if question else None,
        guessed=picked(mine.guess.picks) if waiting and mine.guess else "",
        guesses=now.room.guesses(question.id) if question and presenter else 0,
        held=bool(now.held),
        presenter=presenter,
        idle="" if question else idle(now),
        seen=seen,
    )


def told(now: Stand, mine: Mine) -> AnswerView | None:
    """The answer to what was asked last, where it is known."""
    found = decided(now, now.asked)
    if found is None:
        return None
    kind, decision, point = found
    worth = graded(now, mine) if mine.guess and mine.guess.question == now.asked else None
    own = (mine.guess.picks, worth) if mine.guess and worth else None
    return answer_view(kind, decision, point, now.room.tally(now.asked), own)


def idle(now: Stand) -> str:
    under_way = now.picture.under_way
    if under_way is not None:
        return gettext("Nothing is to be chosen here: %(point)s is next.") % {"point": under_way.point}
    waiting = {entry.lane for entry in now.picture.lanes.values()}
    if waiting & {"activeQ", "backoffQ"}:
        return gettext("There is nothing to choose between.")
    return gettext("No pod waits in activeQ. Create one, or let time run.")
