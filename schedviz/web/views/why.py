"""Why, and what if: parts of a pod's panel that load by themselves, and pages of their own without scripts.

The searches run in a process of their own (schedviz/questions); here they are asked for, stopped and read.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget
from kombu.exceptions import OperationalError

from schedviz.api import edits
from schedviz.questions.question import Kind, Question, Questions, TooManyQuestions
from schedviz.store import Sandbox
from schedviz.store.default import default_store
from schedviz.web.view import details, receipts, what_if
from schedviz.web.view import why as why_view
from schedviz.web.view.picture import PODS
from schedviz.web.views.page import find, is_htmx, panel
from simulator.apiserver.status import StatusError
from simulator.what_if.answer import Suggestion


@require_http_methods(["GET", "HEAD", "POST"])
def suppose(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """What would let this pod run? ``do``: ask, stop, apply or branch; the latter two with the ``number``
    of a suggestion of the question ``id``. ``part``: only what is found, while the search goes on."""
    sandbox, key = find(name), f"{namespace}/{pod}"
    manifest = sandbox.get(PODS, key)
    if manifest is None:
        return redirect("pod", name, namespace, pod) if not is_htmx(request) else HttpResponse(status=204)
    uid = manifest["metadata"]["uid"]
    context: dict[str, Any] = {"key": key}
    questions, base = Questions(default_store()), reverse("sandbox", args=[name])
    question = questions.read("what-if", name, key, uid)
    match request.POST.get("do"):
        case None:
            pass
        case "ask":
            question, context["error"] = asked(questions, "what-if", name, key, uid=uid)
        case "stop":
            if question is not None:
                questions.stop(question)
        case "apply" | "branch" as act:
            said = offered(question, request)
            if question is None or said is None:
                context["error"] = gettext("That answer is out of date. Ask again.")
            else:
                try:
                    if act == "branch":
                        title = gettext("%(origin)s, what if: %(change)s") % {
                            "origin": name,
                            "change": what_if.sentence(said),
                        }
                        made = edits.branch(default_store(), sandbox, said.edits, title)
                        return redirect("pod", made.name, namespace, pod)
                    edits.apply(sandbox, said.edits)
                except StatusError as refused:
                    context["error"] = refused.message
                else:
                    questions.forget(question)
                    question = None
                    context["applied"] = what_if.sentence(said)
        case _:
            return HttpResponseBadRequest("do must be ask, stop, apply or branch", content_type="text/plain")
    context["view"] = what_if.view(question, base) if question else None
    if "part" not in request.GET:
        return part(request, sandbox, "panels/what_if.html", context)
    # While it goes on, only what is found is drawn anew: a button that is replaced between press and release
    # of the mouse is never clicked.
    if question is not None and not question.finished:
        return part(request, sandbox, "panels/found.html", context)
    response = part(request, sandbox, "panels/what_if.html", context)
    return reswap(retarget(response, "closest section"), "outerHTML")


def offered(question: Question | None, request: HttpRequest) -> Suggestion | None:
    """The suggestion that a button names; None where the answer on the screen is not the one that is kept."""
    number = request.POST.get("number", "")
    if question is None or question.id != request.POST.get("id") or not number.isdecimal():
        return None
    return question.suggestions[int(number)] if int(number) < len(question.suggestions) else None


def asked(
    questions: Questions, kind: Kind, name: str, key: str, *, uid: str = "", cycle: int = 0
) -> tuple[Question | None, str]:
    try:
        return questions.ask(kind, name, key, uid, cycle), ""
    except TooManyQuestions:
        return None, gettext("Too many questions are in line just now. Try again in a minute.")
    except OperationalError:
        return None, gettext("Redis does not answer. Try again.")


@require_safe
def why(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Why this node, and not ``other``?"""
    sandbox, key = find(name), f"{namespace}/{pod}"
    found = receipts.of_pod(details.told_of(sandbox, key, details.TRACE_READ))
    decision = sandbox.decision(found.bound) if found.bound else None
    view = why_view.why(decision, request.GET.get("other", "")) if decision and decision.selected else None
    return part(request, sandbox, "panels/why.html", {"key": key, "view": view})


@require_http_methods(["GET", "HEAD", "POST"])
def evicted(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Who evicted it, by which rule, and (``do=ask``) what would have saved it."""
    sandbox, key = find(name), f"{namespace}/{pod}"
    base = reverse("sandbox", args=[name])
    found = receipts.of_pod(details.told_of(sandbox, key, details.TRACE_READ))
    decision = sandbox.decision(found.evicted) if found.evicted else None
    view = why_view.evicted(decision, key, base) if decision else None
    questions = Questions(default_store())
    question = questions.read("saved", name, key)
    if question is not None and question.cycle != found.evicted:
        question = None
    context: dict[str, Any] = {"key": key, "view": view}
    if request.method == "POST" and view:
        question, context["error"] = asked(questions, "saved", name, key, cycle=found.evicted)
    context["saved"] = why_view.saved(question, base) if question else None
    return part(request, sandbox, "panels/evicted.html", context)


def part(request: HttpRequest, sandbox: Sandbox, template: str, context: dict[str, Any]) -> HttpResponse:
    """A part of a panel: by itself for htmx, else in the inspector of the whole page."""
    if not is_htmx(request) and context.get("view") is None and template != "panels/what_if.html":
        raise Http404
    subject = f"Pod {context['key'].removeprefix('default/')}"
    return panel(request, sandbox, template, {**context, "subject": subject})
