"""Who answers the questions: the model, run on a copy of the cluster in a process that leads no sandbox."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from django.conf import settings
from msgspec.structs import replace

from schedviz.questions.question import Question, Questions
from schedviz.store import Gone, NoSandbox, Sandbox, Store
from schedviz.store.history import History, Moment
from simulator.api import Manifest
from simulator.apiserver.lookup import find_other_resources
from simulator.apiserver.resources import BUILT_IN, PODS, Resource
from simulator.plugins.registry import load, profiles
from simulator.scheduler.extender_http import HttpTransport
from simulator.trace import CycleStarted
from simulator.what_if.answer import Progress, Suggestion, WhatIfAnswer
from simulator.what_if.eviction import find_preventions
from simulator.what_if.search import search
from simulator.what_if.situation import Situation

log = logging.getLogger(__name__)

TELL_SECONDS: Final = 0.1
"""Between two words about how far it is, and two looks whether somebody stopped it."""

MAX_SECONDS: Final = 30.0
"""For one question; the largest cluster needs a tenth of it. Others wait in line."""

Objects = Mapping[str, Mapping[str, Manifest]]
"""Resource -> key -> manifest."""


def answer(store: Store, questions: Questions, question: Question) -> None:
    """Answer it, saying now and then how far it is; until somebody stops it, or it takes too long."""
    deadline = time.monotonic() + MAX_SECONDS
    told_at = 0.0
    try:
        for known in _steps(store.sandbox(question.sandbox), question):
            if not known.finished and time.monotonic() - told_at < TELL_SECONDS:
                continue
            told = known
            if not known.finished and questions.is_stopped(known):
                told = replace(known, state="stopped")
            elif not known.finished and time.monotonic() > deadline:
                told = replace(known, state="late")
            questions.tell(told)
            told_at = time.monotonic()
            if told.finished:
                return
    except NoSandbox:
        return
    except Gone:
        questions.tell(replace(question, state="failed", trouble="gone"))
    except Exception as error:  # a bad object of the user's, or an extender that is away: said on the page
        log.warning("%s of %s in %s", question.kind, question.pod, question.sandbox, exc_info=error)
        questions.tell(replace(question, state="failed", trouble=f"{type(error).__name__}: {error}"))


def _steps(sandbox: Sandbox, question: Question) -> Iterator[Question]:
    """What is known of it after each step."""
    yield replace(question, state="under-way")
    yield from _what_if(sandbox, question) if question.kind == "what-if" else _saved(sandbox, question)


def _what_if(sandbox: Sandbox, question: Question) -> Iterator[Question]:
    objects, version = sandbox.list_all()
    pod = objects.get(PODS.id, {}).get(question.pod)
    question = replace(question, state="under-way", version=version)
    if pod is None or pod["metadata"]["uid"] != question.uid:
        yield replace(question, state="failed", trouble="gone")
        return
    _, _, cycle = sandbox.progress()
    for said in search(_situation(sandbox, objects, pod, cycle + 1)):
        match said:
            case Progress():
                question = replace(
                    question, doing=said.doing, done=said.done, total=said.total, tried=said.tried
                )
            case Suggestion():
                question = replace(question, suggestions=[*question.suggestions, said])
            case WhatIfAnswer():
                question = replace(question, state="done", answer=said, suggestions=said.suggestions)
        yield question


def _saved(sandbox: Sandbox, question: Question) -> Iterator[Question]:
    moment = _before(sandbox, question.cycle)
    decision = sandbox.decision(question.cycle)
    pod = moment.objects.get(PODS.id, {}).get(decision.pod) if decision else None
    question = replace(question, state="under-way", version=moment.mark.version)
    if pod is None:
        raise Gone(moment.mark.version)
    yield question
    for saving in find_preventions(_situation(sandbox, moment.objects, pod, question.cycle), question.pod):
        question = replace(question, savings=[*question.savings, saving])
        yield question
    yield replace(question, state="done")


def _before(sandbox: Sandbox, cycle: int) -> Moment:
    """The sandbox as it was when a cycle began. Raises Gone."""
    history = History(sandbox)
    for number, event in reversed(sandbox.trace_tail(TRACE_READ)):
        if isinstance(event, CycleStarted) and event.cycle == cycle:
            return history.at_seq(number, tail=0)
    raise Gone(cycle)


TRACE_READ: Final = 10_000
"""Trace events in which the beginning of a cycle is looked for: all that the store keeps at hand."""


def _situation(sandbox: Sandbox, objects: Objects, pod: Manifest, cycle: int) -> Situation:
    meta = sandbox.meta()
    frameworks = profiles(load(meta.config), transport=HttpTransport(settings.EXTENDER_HOSTS))
    return Situation.read(_items(sandbox, objects), pod, frameworks, seed=meta.seed, cycle=cycle)


def _items(sandbox: Sandbox, objects: Objects) -> Iterable[tuple[Resource, Manifest]]:
    known = {resource.id: resource for resource in BUILT_IN}
    if objects.keys() - known.keys():
        known |= {resource.id: resource for resource in find_other_resources(sandbox)}
    for name, collection in objects.items():
        if name in known:
            yield from ((known[name], manifest) for manifest in collection.values())
