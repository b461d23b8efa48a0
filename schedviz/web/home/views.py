"""The home page: the list of sandboxes. It creates, deletes and starts over sandboxes."""

from contextlib import suppress
from http import HTTPStatus
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.access.account import account_of
from schedviz.access.asker import asker_of
from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.visitor import find_visitor
from schedviz.api.from_scenario import create_from_scenario
from schedviz.limits.requester import new_record
from schedviz.rooms.access import may_replace
from schedviz.store import NoSandbox
from schedviz.store.connected_mirrors import ConnectedMirrors
from schedviz.store.default import default_store
from schedviz.web import examples, scenarios
from schedviz.web.access import refuse
from schedviz.web.act import begin_act
from schedviz.web.answers import form_page
from schedviz.web.guides import FIRST, guide_in
from schedviz.web.home.cards import cards
from schedviz.web.queues import QUEUES
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import find_present
from simulator.apiserver.status import StatusError
from simulator.queueing.queue_version import QueueVersion
from simulator.versions.features import DEFAULT_FEATURES
from simulator.versions.kubernetes_version import VERSIONS

PAUSED: Final = "paused"
"""The value of the field ``clock`` of the buttons that start a sandbox without its time."""


def home(request: HttpRequest) -> HttpResponse:
    return render_home(request)


def post_sandbox(request: HttpRequest) -> HttpResponse:
    """Create a sandbox. Fields: ``scenario``, "" = an empty sandbox; ``name``, "" = a generated one;
    ``kubernetes``: the version, "" = the scenario's; ``queue``: the version of the scheduling queue, the
    scenario's if it is unknown; ``clock`` = "paused": its
    simulated time stands still until a visitor steps or resumes."""
    scenario, name = request.POST.get("scenario", ""), request.POST.get("name", "").strip()
    chosen = request.POST.get("queue", "")
    queue = next((each.version for each in QUEUES if each.version == chosen), None)
    try:
        sandbox = create_from_scenario(
            default_store(),
            scenario,
            name,
            queue,
            request.POST.get("kubernetes", ""),
            paused=request.POST.get("clock") == PAUSED,
            access=new_record(request),
        )
    except KeyError:
        raise Http404 from None
    except StatusError as refused:
        error = explain_refusal(refused)
    except ValueError as wrong:
        error = explain_refusal(wrong)
    else:
        return redirect("sandbox", sandbox.name)
    return render_home(request, error, name, HTTPStatus.UNPROCESSABLE_ENTITY)


def start_over(request: HttpRequest, name: str) -> HttpResponse:
    """Create a sandbox again from its scenario; GET asks whether to. Field ``clock``: see
    :func:`post_sandbox`."""
    source = find_present(name)
    meta = source.meta()
    if not examples.can_start_over(meta):
        raise Http404(gettext("“%(name)s” was not created from a scenario.") % {"name": name})
    if not may_replace(name, asker_of(request).right):
        return refuse(request, gettext("Only the teacher starts over a sandbox that all share."))
    context = {
        "name": name,
        "title": scenarios.translated_meta(meta).title,
        "is_example": examples.is_example(meta),
        "error": "",
    }
    if request.method != "POST":
        return form_page(request, source, "forms/start_over.html", context)
    try:
        made = examples.start_over(default_store(), meta, paused=request.POST.get("clock") == PAUSED)
    except StatusError as refused:
        context["error"] = explain_refusal(refused)
    else:
        response = redirect("sandbox", name)
        if guide_in(meta):
            begin_act(response, made.meta().created, reverse("sandbox", args=[name]))
        return response
    return form_page(request, source, "forms/start_over.html", context, HTTPStatus.UNPROCESSABLE_ENTITY)


def remove_sandbox(request: HttpRequest, name: str) -> HttpResponse:
    with suppress(NoSandbox):  # another user has deleted it
        default_store().delete(name)
    return redirect("home")


def keep_sandbox(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a request to keep the sandbox. The middleware has noted that it is used
    (:mod:`schedviz.web.lifetime`)."""
    find_present(name)
    return redirect("sandbox", name)


def render_home(
    request: HttpRequest, error: str = "", name: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    lists = cards(default_store(), find_visitor(request.COOKIES, "", account_of(request)))
    context = {
        "sandboxes": lists.own,
        "shared": lists.shared,
        "public": lists.public,
        "others": lists.others,
        "has_owners": sandboxes_have_owners(),
        "unreadable": lists.unreadable,
        "scenarios": scenarios.offered(),
        "versions": VERSIONS,
        "usual_version": DEFAULT_FEATURES.version,
        "queues": QUEUES,
        "usual_queue": QueueVersion.KUBERNETES,
        "first_guide": FIRST,
        "connects": ConnectedMirrors(default_store().redis).offered() is not None,
        "error": error,
        "name": name,
    }
    return render(request, "home/home.html", context, status=status)
