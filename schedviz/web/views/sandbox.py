"""The live page, its clock, and the receipts of single cycles."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from schedviz.loop.clock import pause, resume, set_speed
from schedviz.web.view import cycle as cycle_view
from schedviz.web.view.load import ranks
from schedviz.web.views.page import done, find, live_page, panel


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponse:
    return live_page(request, find(name))


@require_POST
def clock(request: HttpRequest, name: str) -> HttpResponse:
    """``do`` is pause or resume; ``speed`` a factor."""
    sandbox = find(name)
    match request.POST.get("do"):
        case "pause":
            pause(sandbox)
        case "resume":
            resume(sandbox)
        case _:
            try:
                set_speed(sandbox, float(request.POST.get("speed", "")))
            except ValueError as error:
                return HttpResponseBadRequest(str(error), content_type="text/plain")
    return done(request, sandbox, "schedviz:clock")


@require_safe
def cycle(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """The receipt of one attempt: what it decided, as it was."""
    sandbox = find(name)
    decision = sandbox.decision(number)
    if decision is None:
        message = gettext("Cycle %(number)s is not kept any more, or has not been yet.") % {"number": number}
        if request.headers.get("HX-Request") != "true":
            raise Http404(message)
        return panel(request, sandbox, "panels/missing.html", {"message": message})
    view = cycle_view.read(decision, ranks(sandbox))
    return panel(request, sandbox, "panels/receipt.html", {"view": view, "pinned": True})
