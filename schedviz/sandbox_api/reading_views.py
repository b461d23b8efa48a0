"""The views that read what the scheduler of a sandbox did, and ask questions about its pods."""

from typing import Final, cast

from django.http import HttpRequest, HttpResponse

from schedviz.api import body
from schedviz.api.trace_events import trace_events
from schedviz.cache import Current, find_handle, read_current
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.routes import shares_of
from schedviz.sandbox_api.operations import QueryParameter, operation
from schedviz.sandbox_api.requests import answer
from schedviz.sandbox_documents import (
    EVENTS_AT_MOST,
    NumberedEvent,
    QuestionAnswer,
    Request,
    TraceAnswer,
)
from schedviz.store.bounds import TRACE_LENGTH
from schedviz.store.default import default_store
from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import BadRequest, NotFound
from simulator.explanation import Explanation, explain_pod
from simulator.trace import AnyEvent, CycleStarted

_EVENTS: Final = (
    QueryParameter("after", "only events after this number", {"type": "integer", "minimum": 0, "default": 0}),
    QueryParameter(
        "limit",
        "at most so many",
        {"type": "integer", "minimum": 1, "maximum": EVENTS_AT_MOST, "default": EVENTS_AT_MOST},
    ),
)


@operation("readTrace", "The trace, the oldest first", TraceAnswer, query=_EVENTS)
def read_trace(request: HttpRequest, name: str) -> HttpResponse:
    after, limit = body.whole_number(request, "after", 0), body.whole_number(request, "limit", EVENTS_AT_MOST)
    if not 0 < limit <= EVENTS_AT_MOST:
        raise BadRequest(f"limit must be from 1 to {EVENTS_AT_MOST}")
    sandbox = default_store().sandbox(name)
    found = trace_events(sandbox, after, limit)
    return answer(
        TraceAnswer(
            [NumberedEvent(seq, cast("AnyEvent", event)) for seq, event in found], sandbox.trace_head()
        )
    )


@operation("explainPod", "Where a pod is and why", Explanation)
def explain(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    return answer(explanation_of(name, namespace, pod))


def explanation_of(name: str, namespace: str, pod: str) -> Explanation:
    """Return the explanation of a pod. Raises NotFound."""
    source, key = read_current(find_handle(name)), f"{namespace}/{pod}"
    named = source.about_pod(key)
    if not any(isinstance(event, CycleStarted) for _, event in named):
        # Its last cycle may be longer ago than what a cache has.
        named = source.about_pod(key, TRACE_LENGTH)
    about = [event for _, event in named]
    try:
        return explain_pod(key, source, about)
    except LookupError:
        raise NotFound(PODS.id, pod) from None


@operation("readQuestion", "The question about a pod, and its answer", QuestionAnswer)
def read_question(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Return the question about a pod; 404 where nobody has asked, or it was long ago."""
    return read(what_if(name, namespace, pod))


@operation("askQuestion", "Ask which changes would let a pod run", QuestionAnswer, body=Request, status=202)
def ask_question(request: HttpRequest, asked: Request, name: str, namespace: str, pod: str) -> HttpResponse:
    """Ask the question that the page asks, too: all visitors who look at the pod see it."""
    return submit(request, what_if(name, namespace, pod))


@operation("readPreventions", "The question about an evicted pod, and its answer", QuestionAnswer)
def read_preventions(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Return the question about the eviction of a pod; 404 where nobody has asked, or it was long ago."""
    return read(saved(name, namespace, pod))


@operation(
    "askPreventions",
    "Ask what would have prevented the eviction of a pod",
    QuestionAnswer,
    body=Request,
    status=202,
)
def ask_preventions(
    request: HttpRequest, asked: Request, name: str, namespace: str, pod: str
) -> HttpResponse:
    return submit(request, saved(name, namespace, pod))


def what_if(name: str, namespace: str, pod: str) -> Question:
    """Return the question what would let a pod run. Raises NotFound."""
    uid = existing_pod(read_current(find_handle(name)), namespace, pod)["metadata"]["uid"]
    return Question(kind="what-if", sandbox=name, pod=f"{namespace}/{pod}", uid=uid)


def saved(name: str, namespace: str, pod: str) -> Question:
    """Return the question what would have prevented the eviction of a pod. Raises NotFound, also for a pod
    that was not evicted."""
    cycle = explanation_of(name, namespace, pod).evicted_in
    if not cycle:
        raise NotFound("evictions", f"{namespace}/{pod}")
    return Question(kind="saved", sandbox=name, pod=f"{namespace}/{pod}", cycle=cycle)


def read(question: Question) -> HttpResponse:
    """Return the stored question. Raises NotFound."""
    found = JobStore(default_store(), QUESTIONS).read(question.key)
    if found is None:
        raise NotFound("questions", question.pod)
    return answer(question_answer(found))


def submit(request: HttpRequest, question: Question) -> HttpResponse:
    """Submit a question. Raises LimitExceeded."""
    found = JobStore(default_store(), QUESTIONS).submit(question, shares_of(request))
    return answer(question_answer(found), 202)


def existing_pod(source: Current, namespace: str, pod: str) -> Manifest:
    """Return a pod that exists. Raises NotFound."""
    found = source.get(PODS.id, f"{namespace}/{pod}")
    if found is None:
        raise NotFound(PODS.id, pod)
    return found


def question_answer(question: Question) -> QuestionAnswer:
    return QuestionAnswer(
        state=question.state,
        done=question.done,
        total=question.total,
        tried=question.tried,
        trouble=question.trouble,
        answer=question.answer,
        preventions=question.savings,
    )
