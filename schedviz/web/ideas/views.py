"""The pages of the ideas, and the examples in them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from schedviz.limits.requester import new_record
from schedviz.store import NoSandbox
from schedviz.store.default import default_store
from schedviz.web.browser_id import browser_id_of, read_browser_id, write_browser_id
from schedviz.web.examples import start_example
from schedviz.web.ideas import texts as ideas
from schedviz.web.reasons.faults import explain_refusal
from simulator.apiserver.status import StatusError


def idea_list(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "ideas/index.html",
        {"ideas": [ideas.translated_idea(idea) for idea in ideas.ideas().values()]},
    )


def idea_page(request: HttpRequest, name: str) -> HttpResponse:
    return render_idea(request, find_idea(name))


def start_idea(request: HttpRequest, name: str) -> HttpResponse:
    """Create the visitor's example, or start it again from its beginning."""
    idea = find_idea(name)
    browser_id = browser_id_of(request)
    try:
        start_example(default_store(), ideas.example_of(name), browser_id, new_record(request))
    except StatusError as refused:
        return render_idea(request, idea, explain_refusal(refused), refused.code)
    response = redirect("idea", name)
    response["Location"] += "#example"
    write_browser_id(response, browser_id)
    return response


def render_idea(request: HttpRequest, idea: ideas.Idea, error: str = "", status: int = 200) -> HttpResponse:
    everyone = list(ideas.ideas().values())
    place = everyone.index(idea)
    context = {
        "idea": ideas.translated_idea(idea),
        "example": running(idea.name, read_browser_id(request)),
        "embed": ",".join(idea.shows),
        "error": error,
        "before": ideas.translated_idea(everyone[place - 1]) if place else None,
        "after": ideas.translated_idea(everyone[place + 1]) if place + 1 < len(everyone) else None,
    }
    return render(request, "ideas/page.html", context, status=status)


def find_idea(name: str) -> ideas.Idea:
    try:
        return ideas.ideas()[name]
    except KeyError:
        raise Http404 from None


def running(idea: str, browser_id: str) -> str:
    """Return the name of the sandbox of the visitor's example; "" if there is none."""
    try:
        return default_store().sandbox(ideas.example_of(idea).sandbox(browser_id)).name if browser_id else ""
    except NoSandbox:
        return ""
