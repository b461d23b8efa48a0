"""The home page: the list of sandboxes, and the creation and deletion of sandboxes."""

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
    return render_home(request)


@require_POST
def post_sandbox(request: HttpRequest) -> HttpResponse:
    """Create a sandbox. Fields: ``scenario``, "" = an empty sandbox; ``name``, "" = a generated one;
    ``queue``: the version of the scheduling queue, the scenario's if it is unknown."""
    scenario, name = request.POST.get("scenario", ""), request.POST.get("name", "").strip()
    chosen = request.POST.get("queue", "")
    queue = next((each.version for each in QUEUES if each.version == chosen), None)
    try:
        sandbox = scenarios.create_from_scenario(default_store(), scenario, name, queue)
    except KeyError:
        raise Http404 from None
    except StatusError as refused:
        error = refused.message
    except ValueError as wrong:
        error = str(wrong)
    else:
        return redirect("sandbox", sandbox.name)
    return render_home(request, error, name, HTTPStatus.UNPROCESSABLE_ENTITY)


@require_POST
def remove_sandbox(request: HttpRequest, name: str) -> HttpResponse:
    with suppress(NoSandbox):  # another user has deleted it
        default_store().delete(name)
    return redirect("home")


def render_home(
    request: HttpRequest, error: str = "", name: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    found, unreadable = cards(default_store())
    context = {
        "sandboxes": found,
        "unreadable": unreadable,
        "scenarios": scenarios.offered(),
        "queues": QUEUES,
        "today": TODAY,
        "error": error,
        "name": name,
    }
    return render(request, "home.html", context, status=status)
