"""The pages of comparisons: the form, and for each comparison its progress and its result."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from schedviz import bundled_scenarios
from schedviz.access.account import account_of
from schedviz.access.identity import owner_of
from schedviz.access.rights import Right
from schedviz.access.visitor import find_visitor
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob, ComparisonRequest
from schedviz.jobs.job_store import JobStore
from schedviz.rooms.access import find_asker
from schedviz.routes import shares_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web import scenarios
from schedviz.web.answers import is_htmx
from schedviz.web.compare import form
from schedviz.web.compare import result as view
from schedviz.web.cycle.sampling import configuration_words
from schedviz.web.home.cards import visible_names
from schedviz.web.job_pages import progress_answer, progress_context
from schedviz.web.limits import text_of, with_time
from schedviz.web.reasons.faults import Explanation
from schedviz.web.text import node_names
from simulator.api import SECOND
from simulator.objects.durations import format_duration


def comparison_form(request: HttpRequest) -> HttpResponse:
    """Render the form, filled in from the address where it has values; see
    :func:`schedviz.web.compare.form.parse_comparison` for its fields."""
    if request.method != "POST":
        return _form(request, {})
    posted = {name: str(value) for name, value in request.POST.items()}
    try:
        comparison_request = form.parse_comparison(default_store(), posted)
        job = ComparisonJob(request=comparison_request, owner=owner_of(request))
        job = _jobs().submit(job, shares_of(request))
    except form.InvalidField as invalid:
        return _form(request, {invalid.field: [*invalid.explained]})
    except LimitExceeded as full:
        return with_time(
            _form(request, {"": [Explanation(text_of(full.limit, full.retry_after_seconds))]}), full
        )
    return redirect("comparison", job.id)


def comparison_page(request: HttpRequest, number: str) -> HttpResponse:
    """Return the result or the progress of a comparison. A request of htmx gets the progress only, and a
    header that reloads the page when the comparison is finished."""
    job = _find(request, number)
    context = _comparison_context(job)
    if is_htmx(request):
        return progress_answer(request, job, "compare/progress.html", context)
    if job.result is not None:
        names = view.compared_nodes(job.result)
        node_names.activate(lambda: node_names.names_of(names))
        context["view"] = view.present_comparison(job.result)
    return render(request, "compare/result.html", context)


def stop_comparison(request: HttpRequest, number: str) -> HttpResponse:
    job = _find(request, number)
    _jobs().request_stop(job)
    return redirect("comparison", job.id)


def _jobs() -> JobStore[ComparisonJob]:
    return JobStore(default_store(), COMPARISONS)


def _find(request: HttpRequest, number: str) -> ComparisonJob:
    """Return the comparison, for those who asked for it, and those who may see the sandbox that it is
    about."""
    job = _jobs().read(number)
    if job is None or not _may_see(request, job):
        raise Http404(gettext("This comparison is no longer stored. Run it again."))
    return job


def _may_see(request: HttpRequest, job: ComparisonJob) -> bool:
    visitor = find_visitor(request.COOKIES, "", account_of(request))
    if job.request.source != "sandbox":
        return job.owner == visitor.owner
    if job.owner and job.owner == visitor.owner:
        return True
    asker = find_asker(default_store(), job.request.name, visitor, request.COOKIES)
    return asker is not None and asker.right >= Right.VIEW


def _comparison_context(job: ComparisonJob) -> dict[str, Any]:
    compared = job.request
    title = compared.name or gettext("pasted manifests")
    if compared.source == "scenario":
        title = next((each.title for each in scenarios.offered() if each.name == compared.name), title)
    return {
        **progress_context(job, "comparison", "stop-comparison"),
        "title": title,
        "sides": [
            (side, form.preset_label(half), half, configuration_words(half.config, half.features()))
            for side, half in (("A", compared.a), ("B", compared.b))
        ],
        "again": urlencode(_form_values(compared)),
        "versions_differ": compared.a.features() != compared.b.features(),
        "place_again": urlencode({**_form_values(compared), "place_again": "1"}),
    }


def _form_values(compared: ComparisonRequest) -> dict[str, str]:
    """Return the values with which the form of a further comparison begins."""
    return {
        "workload": f"{compared.source}:{compared.name}",
        "a": compared.a.preset,
        "b": compared.b.preset,
        "a_kubernetes": compared.a.kubernetes,
        "b_kubernetes": compared.b.kubernetes,
        "a_gates": compared.a.features().gates_text,
        "b_gates": compared.b.features().gates_text,
        "until": format_duration(compared.seconds * SECOND) if compared.seconds else "",
        **({"place_again": "1"} if compared.place_again else {}),
    }


def _form(request: HttpRequest, errors: dict[str, list[Explanation]]) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    workload = given.get("workload", f"scenario:{bundled_scenarios.FIRST}")
    sides = form.sides_of_form(given, errors, {"a": form.OWN, "b": "packing"})
    context = {
        "scenarios": scenarios.offered(),
        "sandboxes": visible_names(
            default_store(),
            find_visitor(request.COOKIES, "", account_of(request)),
            also=workload.removeprefix("sandbox:"),
        ),
        "workload": workload,
        "text": given.get("text", ""),
        "place_again": given.get("place_again", ""),
        "until": given.get("until", form.DEFAULT_DURATION),
        "sides": sides,
        "versions": form.OFFERED_VERSIONS,
        "errors": errors,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK
    return render(request, "compare/form.html", context, status=status)
