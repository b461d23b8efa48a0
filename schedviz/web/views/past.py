"""The pages of past moments of a sandbox, and the form that branches a sandbox from one."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect

from schedviz.api.branch import branch_of_moment, names_at
from schedviz.limits.requester import new_record
from schedviz.store.default import default_store
from schedviz.web.page import find_past, form_page, is_htmx, live_page, moment_html
from schedviz.web.presenters import format as fmt
from schedviz.web.screens import address
from simulator.apiserver.status import StatusError

PANELS_OF_NOW = ("download", "imported", "leader", "outside", "predict", "share")
"""The names of the panels that a past moment does not have, as in their paths."""


def moment_page(request: HttpRequest, name: str, seq: int) -> HttpResponse:
    """Render the whole page, or for htmx its parts, as in a frame of the socket."""
    past = find_past(name, seq)
    if not is_htmx(request):
        return live_page(request, past)
    return HttpResponse(moment_html(request, past))


def jump_to_moment(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to the moment ``seq``, for a page without scripts."""
    seq = request.GET.get("seq", "")
    if not (seq.isdecimal() and len(seq) < 16):
        return HttpResponseBadRequest("seq must be a number", content_type="text/plain")
    return redirect("moment", name, int(seq))


def panel_of_now(request: HttpRequest, name: str, seq: int, panel: str) -> HttpResponse:
    """Redirect to a panel that has no past: it is of the sandbox as it is now, or of how it is used."""
    if panel not in PANELS_OF_NOW:
        raise Http404
    return redirect(panel, name)


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
        context["error"] = refused.message
    except ValueError as wrong:
        context["error"] = str(wrong)
    else:
        return redirect("sandbox", made.name)
    return form_page(request, past, "forms/branch.html", context, 422)
