"""Finds the answer of a question: runs the simulator on a copy of the cluster, and saves its progress."""

import logging
import time
from collections.abc import Iterator, Mapping
from typing import Final

from django.conf import settings
from msgspec.structs import replace

from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.store import Gone, Meta, NoSandbox, Sandbox, Store
from schedviz.store.history import History, Moment
from schedviz.store.options_at import with_options_at
from simulator.api import Manifest
from simulator.apiserver.lookup import with_resources
from simulator.apiserver.resources import PODS
from simulator.apiserver.served_features import serving
from simulator.plugins.registry import load, profiles
from simulator.scheduler.extender_http import HttpTransport
from simulator.trace import CycleStarted
from simulator.what_if.answer import Progress, Suggestion, WhatIfAnswer
from simulator.what_if.eviction import find_preventions
from simulator.what_if.gang import turns_of
from simulator.what_if.rivals import with_rivals
from simulator.what_if.search import search
from simulator.what_if.situation import Situation

log = logging.getLogger(__name__)

SAVE_SECONDS: Final = 0.1
"""The shortest interval between two times at which the progress is saved, and a request to stop is looked
for."""

MAX_SECONDS: Final = 30.0
"""Maximum seconds of work for one question; the largest cluster needs a tenth of it. Other questions wait
meanwhile."""

EVENTS_READ: Final = 10_000
"""Trace events in which the beginning of a cycle is looked for: all that the store keeps outside the
archive."""

Manifests = Mapping[str, Mapping[str, Manifest]]
"""Resource -> key -> manifest."""


def find_answer(store: Store, questions: JobStore[Question], question: Question) -> None:
    """Search for the answer until it is found, a stop is requested, or the time is over. Saves the
    question as it goes on and when it is finished."""
    deadline = time.monotonic() + MAX_SECONDS
    saved_at = 0.0
    try:
        for step in _search_steps(store.sandbox(question.sandbox), question):
            found = step
            if not found.finished:
                if time.monotonic() - saved_at < SAVE_SECONDS:
                    continue
                if questions.is_stop_requested(found):
                    found = replace(found, state="stopped")
                elif time.monotonic() > deadline:
                    found = replace(found, state="late")
            questions.save(found)
            saved_at = time.monotonic()
            if found.finished:
                return
    except NoSandbox:
        return
    except Gone:
        questions.save(replace(question, state="failed", trouble="gone"))
    except Exception as error:  # a bad object of the user, or an extender that does not answer
        log.warning("%s of %s in %s", question.kind, question.pod, question.sandbox, exc_info=error)
        questions.save(replace(question, state="failed", trouble=f"{type(error).__name__}: {error}"))


def _search_steps(sandbox: Sandbox, question: Question) -> Iterator[Question]:
    """Yield the question with what is found after each step."""
    # What a job runner found that has died is not complete.
    question = replace(
        QUESTIONS.without_result(question), state="running", done=0, total=0, tried=0, doing=""
    )
    yield question
    if question.kind == "what-if":
        meta = sandbox.meta()
        with serving(meta.features()):  # updates of pods are validated
            yield from _find_suggestions(sandbox, meta, question)
    else:
        yield from _find_preventions(sandbox, question)


def _find_suggestions(sandbox: Sandbox, meta: Meta, question: Question) -> Iterator[Question]:
    objects, version = sandbox.list_all()
    pod = objects.get(PODS.id, {}).get(question.pod)
    question = replace(question, version=version)
    if pod is None or pod["metadata"]["uid"] != question.uid:
        yield replace(question, state="failed", trouble="gone")
        return
    _, _, cycle = sandbox.progress()
    situation = _situation(sandbox, meta, objects, pod, cycle + 1)
    newest = (event for _, event in reversed(sandbox.trace_tail(EVENTS_READ)))
    turns = turns_of(situation.pod.pod_group, newest) if situation.pod.pod_group else ()
    for found in search(situation, turns):
        match found:
            case Progress():
                question = replace(
                    question, doing=found.doing, done=found.done, total=found.total, tried=found.tried
                )
            case Suggestion():
                question = replace(question, suggestions=[*question.suggestions, found])
            case WhatIfAnswer():
                suggestions = with_rivals(situation, found.suggestions, [*objects[PODS.id].values()])
                answer = replace(found, suggestions=suggestions)
                question = replace(question, state="done", answer=answer, suggestions=suggestions)
        yield question


def _find_preventions(sandbox: Sandbox, question: Question) -> Iterator[Question]:
    history = sandbox.history()
    moment = _moment_before(sandbox, history, question.cycle)
    # The configuration and the feature gates may have changed since then.
    meta = with_options_at(sandbox.meta(), history, moment.mark.entry)
    decision = sandbox.decision(question.cycle)
    pod = moment.objects.get(PODS.id, {}).get(decision.pod) if decision else None
    question = replace(question, version=moment.mark.version)
    if pod is None:
        raise Gone(moment.mark.version)
    yield question
    situation = _situation(sandbox, meta, moment.objects, pod, question.cycle)
    for prevention in find_preventions(situation, question.pod):
        question = replace(question, savings=[*question.savings, prevention])
        yield question
    yield replace(question, state="done")


def _moment_before(sandbox: Sandbox, history: History, cycle: int) -> Moment:
    """Return the sandbox as it was when a cycle began. Raises Gone."""
    for number, event in reversed(sandbox.trace_tail(EVENTS_READ)):
        if isinstance(event, CycleStarted) and event.cycle == cycle:
            return history.at_seq(number, tail=0)
    raise Gone(cycle)


def _situation(sandbox: Sandbox, meta: Meta, objects: Manifests, pod: Manifest, cycle: int) -> Situation:
    frameworks = profiles(
        load(meta.config, features=meta.features()), transport=HttpTransport(settings.EXTENDER_HOSTS)
    )
    return Situation.read(with_resources(sandbox, objects), pod, frameworks, seed=meta.seed, cycle=cycle)
