"""The pages of questions about a whole cluster: the forms, and for each question its progress and answer."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from schedviz.jobs.asked_job import ASKED, AskedJob
from schedviz.jobs.job_store import JobStore
from schedviz.routes import shares_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.answers import is_htmx
from schedviz.web.ask import form
from schedviz.web.ask.result import present_answer, said
from schedviz.web.job_pages import progress_answer, progress_context
from schedviz.web.limits import text_of, with_time
from schedviz.web.reasons.yaml_faults import explain_problem
from schedviz.web.sources import find_present
from schedviz.web.text import format as fmt
from simulator.apiserver.resources import NODES
from simulator.command_line.answer_text import answer_csv, answer_json
from simulator.questions.answer import Answer, BadQuestion


def ask_form(request: HttpRequest, name: str) -> HttpResponse:
    """Render the form of a question, or ask it. Query ``q``: its name; ``from``: the id of an asked question
    with whose fields the form begins."""
    if request.method != "POST":
        return _form(request, name, {})
    source = find_present(name)
    nodes = {node["metadata"]["name"]: node for node in source.list(NODES.id).items}
    posted = {field: str(value) for field, value in request.POST.items()}
    try:
        fields = form.read_form(posted, nodes)
        job = AskedJob(sandbox=name, fields=fields, manifests=posted.get("manifests", ""), time=source.now())
        job = _jobs().submit(job, shares_of(request))
    except form.InvalidField as invalid:
        return _form(request, name, {invalid.field: str(invalid)})
    except LimitExceeded as full:
        return with_time(_form(request, name, {"": text_of(full.limit, full.retry_after_seconds)}), full)
    return redirect("asked", name, job.id)


def asked_page(request: HttpRequest, name: str, number: str) -> HttpResponse:
    """Return the answer or the progress of a question. A request of htmx gets the progress only, and a header
    that reloads the page when the question is answered."""
    job = _find(name, number)
    context = _context(job)
    if job.result is not None and not job.finished:
        context["so_far"] = [said(each) for each in job.result.summary]
    if is_htmx(request):
        return progress_answer(request, job, "ask/progress.html", context)
    find_present(name)  # the short names of its nodes
    if job.result is not None and job.finished:
        context["view"] = present_answer(job.result)
    return render(request, "ask/answer.html", context)


def stop_asked(request: HttpRequest, name: str, number: str) -> HttpResponse:
    job = _find(name, number)
    _jobs().request_stop(job)
    return redirect("asked", name, job.id)


def asked_json(request: HttpRequest, name: str, number: str) -> HttpResponse:
    return HttpResponse(answer_json(_answer(name, number)), content_type="application/json")


def asked_csv(request: HttpRequest, name: str, number: str, table: str) -> HttpResponse:
    text = answer_csv(_answer(name, number), table)
    if not text:
        raise Http404(gettext("The answer has no such table."))
    headers = {"Content-Disposition": f'attachment; filename="{table}.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)


def _jobs() -> JobStore[AskedJob]:
    return JobStore(default_store(), ASKED)


def _find(name: str, number: str) -> AskedJob:
    job = _jobs().read(number)
    if job is None or job.sandbox != name:
        raise Http404(gettext("This answer is no longer stored. Ask again."))
    return job


def _answer(name: str, number: str) -> Answer:
    found = _find(name, number).result
    if found is None:
        raise Http404(gettext("There is no answer yet."))
    return found


def _context(job: AskedJob) -> dict[str, Any]:
    question = form.question_named(job.fields.question)
    return {
        **progress_context(job, "asked", "stop-asked", job.sandbox),
        "explained": _explained(job),
        "name": job.sandbox,
        "question": question,
        "at": fmt.clock(job.time),
        "again": urlencode({"q": question.name, "from": job.id}),
    }


def _explained(job: AskedJob) -> str:
    """Return in the language of the page why a question could not be answered; "" = it is known in English
    only."""
    kind, _, message = job.trouble.partition(": ")
    return form.explain_question(message)[1] if kind == BadQuestion.__name__ else explain_problem(message)


def _form(request: HttpRequest, name: str, errors: dict[str, str]) -> HttpResponse:
    source = find_present(name)
    given: dict[str, Any] = request.POST.dict() if request.method == "POST" else {}
    if not given and request.GET.get("from"):
        given = _values(_find(name, request.GET["from"]))
    chosen = form.question_named(given.get("question") or request.GET.get("q", ""))
    given.setdefault("nodes", request.GET.get("nodes", ""))
    context = {
        "name": name,
        "meta": source.meta(),
        "questions": form.QUESTIONS,
        "chosen": chosen,
        "given": given,
        "errors": errors,
        "shape": _shape(source.list(NODES.id).items),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK
    return render(request, "ask/ask.html", context, status=status)


def _shape(nodes: Any) -> str:
    """Return the shape with which the form begins: that of the first node."""
    return f"like={nodes[0]['metadata']['name']}" if nodes else "name=new,cpu=4,memory=16Gi"


def _values(job: AskedJob) -> dict[str, Any]:
    """Return the values of the form with which a question was asked."""
    fields = job.fields
    return {
        "question": fields.question,
        "manifests": job.manifests,
        "sizes": " ".join(map(str, fields.sizes)),
        "at_most": fields.at_most or "",
        "nodes": " ".join(fields.nodes),
        "selector": fields.selector,
        "zone": fields.zone,
        "emptiest": fields.emptiest or "",
        "force": fields.force,
        "delete_local": fields.delete_local,
        "shapes": "\n".join(fields.shapes),
        "seeds": fields.seeds,
    }
