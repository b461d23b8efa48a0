"""The form that branches a sandbox from a past moment."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from schedviz.api.branch import branch_of_moment, branch_of_now, names_at
from schedviz.limits.requester import new_record
from schedviz.store.default import default_store
from schedviz.web.answers import form_page
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import address, find_past
from schedviz.web.text import format as fmt
from simulator.apiserver.status import StatusError


def branch_now(request: HttpRequest, name: str) -> HttpResponse:
    """Create a branch of the present state, and go to its page."""
    store = default_store()
    try:
        made = branch_of_now(store, store.sandbox(name), [], access=new_record(request))
    except StatusError as refused:
        return render(
            request, "403.html", {"text": explain_refusal(refused)}, status=HTTPStatus.UNPROCESSABLE_ENTITY
        )
    return redirect("sandbox", made.name)


def new_branch(request: HttpRequest, name: str, seq: int) -> HttpResponse:
    """Create a branch. Field: ``name`` of the new sandbox."""
    past = find_past(name, seq)
    context = {
        "name": request.POST.get("name", "").strip() or next(names_at(default_store(), name, seq)),
        "origin": name,
        "seq": seq,
        "time": fmt.clock(past.moment.mark.now),
        "action": f"{address(past)}branch/",
        "error": "",
    }
    if request.method != "POST":
        return form_page(request, past, "forms/branch.html", context)
    try:
        made = branch_of_moment(default_store(), past, str(context["name"]), new_record(request))
    except StatusError as refused:
        context["error"] = explain_refusal(refused)
    except ValueError as wrong:
        context["error"] = explain_refusal(wrong)
    else:
        return redirect("sandbox", made.name)
    return form_page(request, past, "forms/branch.html", context, 422)
