"""The panel of the prediction mode: asks before each decision, and takes the deciding step after a guess."""

from collections.abc import Collection
from typing import cast, get_args

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.access.asker import asker_of
from schedviz.access.rights import Right
from schedviz.cache import Current
from schedviz.loop.clock import pause, step
from schedviz.store import Clock
from schedviz.store.default import default_store
from schedviz.web.answers import is_htmx, panel
from schedviz.web.picture.live_picture import is_large
from schedviz.web.picture.load import load
from schedviz.web.picture.picture import PODS, Picture
from schedviz.web.predict import viewer
from schedviz.web.predict.grade import ClusterState, Grade, grade
from schedviz.web.predict.hold import may_end_hold
from schedviz.web.predict.panel import AnswerView, PredictView, answer_view, picked, question_view
from schedviz.web.predict.question import GuessKind, GuessQuestion, answer, find_popped, next_question
from schedviz.web.predict.shared_prediction import SharedPrediction
from schedviz.web.predict.viewer import ViewerGuess, ViewerState
from schedviz.web.sources import address, find_present
from simulator.decision import Decision


class PredictState(msgspec.Struct):
    """The state of a sandbox and the shared prediction state that a request needs."""

    source: Current
    shared: SharedPrediction
    clock: Clock
    picture: Picture
    last_cycle: int
    held: str
    """The token of the presenter; "" = there is none."""
    presents: bool
    """Whether the viewer is the presenter."""
    asked: str
    """The id of the last question."""

    @property
    def question(self) -> GuessQuestion | None:
        """The current question; None if nothing is to be asked."""
        return (
            next_question(self.picture, self.last_cycle)
            if self.clock.paused and not self.clock.steps
            else None
        )


def shared_prediction_of(source: Current) -> SharedPrediction:
    return SharedPrediction(default_store().servers.of(source.name).redis, source.name, source.meta().created)


def predict(request: HttpRequest, name: str) -> HttpResponse:
    """Render the panel. GET with ``seen``: 204 if the panel has not changed since. POST ``do``: begin; guess
    (with ``question`` and ``pick``); go (take the deciding step, which reveals the answer); hold and release
    the answers; reset the score."""
    source = find_present(name)
    if is_large(source):
        message = gettext("This sandbox is too large for Predict. Try one with a few dozen nodes.")
        return panel(request, source, "parts/missing.html", {"message": message})
    if source.meta().stands_down:
        return panel(request, source, "parts/missing.html", {"message": nothing_to_predict()})
    viewer_state, shared = viewer.read_cookie(request), shared_prediction_of(source)
    before, holds = viewer_state, viewer.read_holds(request)
    taken = ""
    if request.method == "POST":
        earlier = predict_state(source, shared, holds)
        if request.POST.get("do") == "hold" and (taken := shared.hold.take(asker_of(request).user)):
            pause(source.sandbox)
            holds = (*holds, taken)
        changed = act(request, earlier, with_last_grade(earlier, viewer_state))
        if changed is None:
            return HttpResponseBadRequest(gettext("This choice is not possible."), content_type="text/plain")
        viewer_state = changed
        if not is_htmx(request):
            response: HttpResponse = redirect("predict", name)
            viewer.write_cookie(response, viewer_state, address(source))
            if taken:
                viewer.write_holds(request, response, holds)
            return response
        source = find_present(name)
    seen = fingerprint(source, shared, viewer_state, holds)
    if request.method != "POST" and request.GET.get("seen") == seen:
        return HttpResponse(status=204)
    state = predict_state(source, shared, holds)
    viewer_state = with_last_grade(state, viewer_state)
    guessed = request.POST.get("question", "") if request.POST.get("do") == "guess" else ""
    shown = view(state, viewer_state, seen, guessed, may_release=may_end_hold(request, name))
    context = {"view": shown, "subject": gettext("Predict")}
    response = panel(request, source, "predict/predict.html", context)
    # Not in every response: responses may arrive in another order and would restore an older cookie.
    if viewer_state != before:
        viewer.write_cookie(response, viewer_state, address(source))
    if taken:
        viewer.write_holds(request, response, holds)
    return response


def predict_state(source: Current, shared: SharedPrediction, holds: Collection[str]) -> PredictState:
    held, last = shared.state()
    return PredictState(
        source, shared, source.clock(), load(source), source.last_cycle(), held, held in holds, last
    )


def fingerprint(
    source: Current, shared: SharedPrediction, viewer_state: ViewerState, holds: Collection[str]
) -> str:
    """Return a text that changes when the panel changes. Of the store it needs only the shared state."""
    clock, under_way = source.clock(), source.under_way()
    held, last = shared.state()
    if not clock.paused:
        return f"runs.{held[:4]}"
    where = f"{under_way.cycle}{under_way.point}" if under_way else ""
    # The number of guesses does not count for a viewer who has not guessed yet: the panel is not replaced
    # while the viewer chooses.
    last_guess = viewer_state.guess
    waits = held and (held in holds or (last_guess and last_guess.question == last))
    numbers = source.version(), source.trace_head(), source.last_cycle()
    parts = (*numbers, where, clock.paused, bool(clock.steps), held[:4])
    return ".".join(
        str(part) for part in (*parts, last if waits else "", shared.guesses(last) if waits else "")
    )


def act(request: HttpRequest, state: PredictState, viewer_state: ViewerState) -> ViewerState | None:
    """Do the posted action, and return the new state of the viewer; None for an invalid guess."""
    match request.POST.get("do"):
        case "begin":
            pause(state.source.sandbox)
        case "guess":
            return guess(request, state, viewer_state)
        case "go" if not state.clock.steps:
            if state.question:
                state.shared.ask(state.question.id)
            step(state.source.sandbox, "decision")
        case "release" if state.presents or may_end_hold(request, state.source.name):
            state.shared.hold.release()
        case "reset":
            return ViewerState(guess=viewer_state.guess, graded=True)
    return viewer_state


def guess(request: HttpRequest, state: PredictState, viewer_state: ViewerState) -> ViewerState | None:
    """Store a guess, and take the deciding step, if the visitor may do that; None for an invalid choice. A
    guess that is late or repeated changes nothing."""
    question, picks = state.question, frozenset(request.POST.getlist("pick"))
    if question is None or request.POST.get("question") != question.id:
        return viewer_state
    if viewer_state.guess and viewer_state.guess.question == question.id:
        return viewer_state
    if not picks <= {*question.choices} or (not question.many and len(picks) != 1):
        return None
    state.shared.count(question.id, picks)
    if not state.held and asker_of(request).right >= Right.EDIT:
        step(state.source.sandbox, "decision")
    return replace(viewer_state, guess=ViewerGuess(question.id, tuple(sorted(picks))), graded=False)


def decision_of(state: PredictState, question_id: str) -> tuple[GuessKind, Decision, str] | None:
    """Return the kind of a question, its Decision, and the next extension point of the cycle ("" = it has
    ended); None if it is not decided yet, or the decision is not stored any more."""
    number, _, rest = question_id.partition("-")
    kind = rest.partition("-")[0]
    if kind not in get_args(GuessKind):
        return None
    under_way = state.picture.under_way
    if under_way and under_way.decision and under_way.cycle == int(number):
        decision, point = under_way.decision, under_way.point
    else:
        known = state.source.decision(int(number))
        if known is None:
            return None
        decision, point = known, ""
    asked_kind = cast(GuessKind, kind)
    undecided = answer(asked_kind, decision, point) is None and not decision.outcome
    return None if undecided else (asked_kind, decision, point)


def grade_of(state: PredictState, viewer_state: ViewerState) -> Grade | None:
    found = decision_of(state, viewer_state.guess.question) if viewer_state.guess else None
    if not viewer_state.guess or not found:
        return None
    picture = state.picture
    popped = find_popped(picture, found[1])
    world = ClusterState(picture.queue_places, picture.pods, picture.nodes, picture.by_node, popped)
    return grade(found[0], frozenset(viewer_state.guess.picks), found[1], world)


def with_last_grade(state: PredictState, viewer_state: ViewerState) -> ViewerState:
    """Return the viewer's state, with the last guess added to the score once it is decided."""
    if viewer_state.guess is None or viewer_state.graded:
        return viewer_state
    result = grade_of(state, viewer_state)
    return viewer_state if result is None else viewer_state.graded_as(result.right)


def view(
    state: PredictState, viewer_state: ViewerState, seen: str, posted: str, *, may_release: bool
) -> PredictView:
    """Return the view of the panel. posted: the id of the question for which a guess was posted.
    may_release: whether the viewer may end the hold of another one."""
    question = state.question
    pod = state.source.get(PODS, question.pod) if question and question.pod else None
    late = question is not None and posted != question.id and is_same_step(posted, question.id)
    waiting = bool(question and viewer_state.guess and viewer_state.guess.question == question.id)
    return PredictView(
        running=not state.clock.paused,
        busy=bool(state.clock.steps),
        score=viewer_state.score,
        answer=None if waiting else last_answer(state, viewer_state),
        question=question_view(question, state.picture, pod) if question else None,
        guessed=picked(viewer_state.guess.picks) if waiting and viewer_state.guess else "",
        late=late,
        guesses=state.shared.guesses(question.id) if question and state.presents else 0,
        held=bool(state.held),
        presenter=state.presents,
        may_release=bool(state.held) and (state.presents or may_release),
        idle="" if question else idle(state),
        seen=seen,
    )


def last_answer(state: PredictState, viewer_state: ViewerState) -> AnswerView | None:
    """Return the answer to the last question; None if it is not decided yet, or later cycles have ended."""
    found = decision_of(state, state.asked)
    if found is None:
        return None
    kind, decision, point = found
    if decision.cycle < state.last_cycle:
        return None
    last_guess = viewer_state.guess
    result = grade_of(state, viewer_state) if last_guess and last_guess.question == state.asked else None
    own = (last_guess.picks, result) if last_guess and result else None
    question = state.question
    return answer_view(
        kind,
        decision,
        point,
        state.shared.tally(state.asked),
        own,
        popped=find_popped(state.picture, decision),
        open_question=question.kind if question else None,
    )


def idle(state: PredictState) -> str:
    under_way = state.picture.under_way
    if under_way is not None:
        return gettext("No choice here: %(point)s is next.") % {"point": under_way.point}
    waiting = {entry.lane for entry in state.picture.queue_places.values()}
    if waiting & {"activeQ", "backoffQ"}:
        return gettext("There is only one possible answer.")
    if "outside" in waiting:
        return nothing_to_predict()
    return gettext("No pod waits in activeQ. Create one, or resume time.")


def nothing_to_predict() -> str:
    return gettext(
        "Predict asks about the decisions of this sandbox's scheduler. It has no pod: those that wait "
        "are for an outside scheduler."
    )


def is_same_step(one: str, other: str) -> bool:
    """Whether two ids are of questions about the same decision of the same cycle."""
    return one.split("-")[:2] == other.split("-")[:2]
