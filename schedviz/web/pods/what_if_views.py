"""Explanations and what-if questions: parts of a pod's panel that are loaded separately, or pages without
scripts.

The searches run in other processes (schedviz/jobs); these views start, stop and read them.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django_htmx.http import reswap, retarget, trigger_client_event

from schedviz.api import edits
from schedviz.api.branch import branch_of_now
from schedviz.cache import Current
from schedviz.jobs.applied import Applied, AppliedStore
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question, QuestionKind, question_key
from schedviz.limits.requester import new_record
from schedviz.routes import shares_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.answers import is_htmx, panel
from schedviz.web.cycle import why as why_view
from schedviz.web.cycle.sampling import what_if_words
from schedviz.web.limits import text_of
from schedviz.web.log import permalinks
from schedviz.web.log.about import events_of_pod
from schedviz.web.picture.picture import NODES, PODS
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import Source, find_present
from schedviz.web.what_if import what_if
from schedviz.web.what_if.follow_up import follow_up_of
from simulator.apiserver.status import StatusError
from simulator.config.configuration import DEFAULT_SCHEDULER_NAME
from simulator.what_if.answer import Suggestion


def what_if_part(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Return the question which changes would let the pod be scheduled. POST ``do``: ask, stop, apply or
    branch; the last two with the ``number`` of a suggestion and the ``id`` of its question. Query ``part``:
    respond only with the suggestions while the search runs."""
    source, key = find_present(name), f"{namespace}/{pod}"
    manifest = source.get(PODS, key)
    if manifest is None:
        return redirect("pod", name, namespace, pod) if not is_htmx(request) else HttpResponse(status=204)
    uid = manifest["metadata"]["uid"]
    entry = source.queue_place(key)
    context: dict[str, Any] = {"key": key, "outside": (entry.scheduler or "") if entry else ""}
    applied = False
    questions, base = JobStore(default_store(), QUESTIONS), reverse("sandbox", args=[name])
    question = questions.read(question_key("what-if", name, key, uid=uid))
    match request.POST.get("do"):
        case None:
            pass
        case "ask":
            question, context["error"] = ask_question(request, questions, "what-if", name, key, uid=uid)
        case "stop":
            if question is not None:
                questions.request_stop(question)
        case "apply" | "branch" as act:
            suggestion = chosen_suggestion(question, request)
            if question is None or suggestion is None:
                context["error"] = gettext("That answer is out of date. Ask again.")
            else:
                try:
                    if act == "branch":
                        change = what_if.suggestion_sentence(suggestion)
                        access = new_record(request)
                        made = branch_of_now(
                            default_store(), source.sandbox, suggestion.edits, change, access
                        )
                        return redirect("pod", made.name, namespace, pod)
                    apply_suggestion(source, key, suggestion)
                except StatusError as refused:
                    context["error"] = explain_refusal(refused)
                else:
                    questions.forget(question)
                    question, applied = None, True
        case _:
            return HttpResponseBadRequest("do must be ask, stop, apply or branch", content_type="text/plain")
    queue_places = source.queue()[0] if question and question.answer else {}
    if question:
        profile = manifest["spec"].get("schedulerName") or DEFAULT_SCHEDULER_NAME
        meta = source.meta()
        sampling = what_if_words(meta.config, meta.features(), profile, source.count(NODES))
        context["view"] = what_if.present_what_if(question, base, queue_places, sampling)
    else:
        context["view"] = None
    if "part" not in request.GET:
        if not is_htmx(request):
            context["follow_up"] = follow_up_of(find_present(name), key)
        response = render_part(request, source, "what_if/what_if.html", context)
        # The panel around this part shows what came of the change.
        return trigger_client_event(response, "schedviz:done") if applied else response
    # While the search runs, only the suggestions are replaced: a button that is replaced between press and
    # release of the mouse is not clicked.
    if question is not None and not question.finished:
        return render_part(request, source, "what_if/found.html", context)
    response = render_part(request, source, "what_if/what_if.html", context)
    return reswap(retarget(response, "closest section"), "outerHTML")


def apply_suggestion(source: Current, key: str, suggestion: Suggestion) -> None:
    """Apply a suggestion for a pod, and note it for the follow-ups of the pod and of its gang. Raises
    StatusError."""
    sandbox = source.sandbox
    t, seq = sandbox.now(), sandbox.trace_head()
    edits.apply_edits(sandbox, suggestion.edits)
    manifest = sandbox.get(PODS, key)
    if manifest is not None:
        kept = AppliedStore(default_store(), sandbox.name, source.meta().created)
        kept.save(manifest["metadata"]["uid"], Applied(suggestion, t, seq))
        if suggestion.outcome.gang is not None:
            kept.save(suggestion.outcome.gang.group, Applied(suggestion, t, seq))


def chosen_suggestion(question: Question | None, request: HttpRequest) -> Suggestion | None:
    """Return the suggestion that the posted fields name; None if the page shows another question than the
    stored one."""
    if question is None or question.id != request.POST.get("id"):
        return None
    named = request.POST.get("number")
    return next((each for number, each in enumerate(question.suggestions) if str(number) == named), None)


def ask_question(
    request: HttpRequest,
    questions: JobStore[Question],
    kind: QuestionKind,
    name: str,
    key: str,
    *,
    uid: str = "",
    cycle: int = 0,
) -> tuple[Question | None, str]:
    """Start a question; (question, "") or (None, error message)."""
    try:
        question = Question(kind=kind, sandbox=name, pod=key, uid=uid, cycle=cycle)
        return questions.submit(question, shares_of(request)), ""
    except LimitExceeded as full:
        return None, text_of(full.limit, full.retry_after_seconds)


def evicted_part(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Render the part that says which pod preempted this one, by which rule, and (``do`` = ask) what would
    have prevented it."""
    sandbox, key = find_present(name), f"{namespace}/{pod}"
    base = reverse("sandbox", args=[name])
    found = permalinks.pod_permalinks(events_of_pod(sandbox, key))
    decision = sandbox.decision(found.evicted) if found.evicted else None
    view = why_view.present_eviction(decision, key, base) if decision else None
    questions = JobStore(default_store(), QUESTIONS)
    question = questions.read(question_key("saved", name, key, cycle=found.evicted))
    context: dict[str, Any] = {"key": key, "view": view}
    if request.method == "POST" and view:
        question, context["error"] = ask_question(request, questions, "saved", name, key, cycle=found.evicted)
    context["saved"] = why_view.present_preventions(question, base) if question else None
    return render_part(request, sandbox, "what_if/evicted.html", context)


def render_part(
    request: HttpRequest, sandbox: Source, template: str, context: dict[str, Any]
) -> HttpResponse:
    """Render a part of a panel: alone for htmx, otherwise in the inspector of the whole page."""
    if not is_htmx(request) and context.get("view") is None and template != "what_if/what_if.html":
        raise Http404
    subject = f"Pod {context['key'].removeprefix('default/')}"
    return panel(request, sandbox, template, {**context, "subject": subject})
