"""The guides, and the box that leads the visitor through their own act (:mod:`schedviz.web.act`)."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from schedviz.limits.requester import new_record
from schedviz.store.default import default_store
from schedviz.store.past import Readable
from schedviz.web.act import QUERY, begin_act, close_ending, end_act
from schedviz.web.answers import is_htmx
from schedviz.web.browser_id import browser_id_of, write_browser_id
from schedviz.web.examples import start_example
from schedviz.web.guide.find_box import find_box
from schedviz.web.guide.hint import urgent_pod_fields
from schedviz.web.guides import guide_in, guides
from schedviz.web.home.views import render_home
from schedviz.web.picture.load import load
from schedviz.web.picture.picture import PODS
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import find_present
from simulator.apiserver.status import StatusError


def start_guide(request: HttpRequest, name: str) -> HttpResponse:
    """Create the visitor's example of a guide, or start it again from its beginning."""
    guide = guides().get(name)
    if guide is None:
        raise Http404
    browser_id = browser_id_of(request)
    try:
        sandbox = start_example(default_store(), guide.example, browser_id, new_record(request))
    except StatusError as refused:
        return render_home(request, explain_refusal(refused), status=refused.code)
    response = redirect("sandbox", sandbox.name)
    write_browser_id(response, browser_id)
    begin_act(response, sandbox.meta().created, reverse("sandbox", args=[sandbox.name]))
    return response


def guide_box(request: HttpRequest, name: str) -> HttpResponse:
    """Render the box. GET with ``shown``: 204 if it has not changed since; ``embed``: of a page in a frame.
    POST closes it."""
    source, path = find_present(name), reverse("sandbox", args=[name])
    if request.method == "POST":
        closed = {"box": None, "base": path}
        response = render(request, "guide/guide.html", closed) if is_htmx(request) else redirect(path)
        end_act(request, response, path)
        close_ending(response, source.meta().created, path)
        return response
    embed = "embed" in request.GET
    box = find_box(request, source, embed)
    if request.GET.get("shown", "") == (box.shown if box else ""):
        return HttpResponse(status=204)
    return render(request, "guide/guide.html", {"box": box, "base": path, "embed": embed})


def propose_pod(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to the form of the pod that the page proposes: that of the guide, or one that has to preempt
    others in the current state."""
    source = find_present(name)
    guide = guide_in(source.meta())
    if guide:
        fields = {**guide.pod, "name": free_name(source, guide.pod["name"])}
    else:
        fields = urgent_pod_fields(load(source))
    return redirect(reverse("new", args=[name, "pod"]) + "?" + urlencode({**fields, QUERY: "1"}))


def free_name(source: Readable, stem: str) -> str:
    """Return ``stem``, or ``stem-2`` and so on if there is such a pod."""
    names = (stem, *(f"{stem}-{number}" for number in range(2, source.count(PODS) + 3)))
    return next(each for each in names if source.get(PODS, f"default/{each}") is None)
