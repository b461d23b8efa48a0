"""The front page: all sandboxes, and new ones, empty or from a bundled scenario."""

from contextlib import suppress
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from schedviz.store import NoSandbox
from schedviz.store.default import default_store
from schedviz.web import scenarios
from schedviz.web.cards import cards
from schedviz.web.queues import QUEUES
from simulator.apiserver.status import StatusError
from simulator.queueing.versions import TODAY


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return show(request)


@require_POST
def create(request: HttpRequest) -> HttpResponse:
    """``scenario``: which, or empty for an empty sandbox; ``name``: its name, proposed where it is empty;
    ``queue``: the scheduling queue's version, the scenario's own where none of that version is known."""
    scenario, name = request.POST.get("scenario", ""), request.POST.get("name", "").strip()
    chosen = request.POST.get("queue", "")
    queue = next((each.version for each in QUEUES if each.version == chosen), None)
    try:
        sandbox = scenarios.create(default_store(), scenario, name, queue)
    except KeyError:
        raise Http404 from None
    except StatusError as refused:
        error = refused.message
    except ValueError as wrong:
        error = str(wrong)
    else:
        return redirect("sandbox", sandbox.name)
    return show(request, error, name, HTTPStatus.UNPROCESSABLE_ENTITY)


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    with suppress(NoSandbox):  # somebody else was faster, and the wish is fulfilled
        default_store().delete(name)
    return redirect("home")


def show(request: HttpRequest, error: str = "", name: str = "", status: int = HTTPStatus.OK) -> HttpResponse:
    context = {
        "sandboxes": cards(default_store()),
        "scenarios": scenarios.offered(),
        "queues": QUEUES,
        "today": TODAY,
        "error": error,
        "name": name,
    }
    return render(request, "home.html", context, status=status)
