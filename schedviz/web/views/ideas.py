"""The pages of the ideas, and the examples on them."""

import secrets
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from schedviz.store import NoSandbox
from schedviz.store.default import default_store
from schedviz.web import ideas
from simulator.apiserver.status import StatusError

COOKIE: Final = "visitor"
"""Goes with the browser's session."""


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(
        request, "ideas/index.html", {"ideas": [ideas.told(idea) for idea in ideas.ideas().values()]}
    )


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponse:
    return show(request, find(name))


@require_POST
def start(request: HttpRequest, name: str) -> HttpResponse:
    """The visitor's example, new or once more from its beginning."""
    idea = find(name)
    who = visitor(request) or secrets.token_hex(6)
    try:
        ideas.start(default_store(), name, who)
    except StatusError as refused:
        return show(request, idea, refused.message, refused.code)
    response = redirect("idea", name)
    response["Location"] += "#example"
    response.set_cookie(COOKIE, who, httponly=True, samesite="Lax")
    return response


def show(request: HttpRequest, idea: ideas.Idea, error: str = "", status: int = 200) -> HttpResponse:
    everyone = list(ideas.ideas().values())
    place = everyone.index(idea)
    context = {
        "idea": ideas.told(idea),
        "example": running(idea.name, visitor(request)),
        "embed": ",".join(idea.shows),
        "error": error,
        "before": ideas.told(everyone[place - 1]) if place else None,
        "after": ideas.told(everyone[place + 1]) if place + 1 < len(everyone) else None,
    }
    return render(request, "ideas/page.html", context, status=status)


def find(name: str) -> ideas.Idea:
    try:
        return ideas.ideas()[name]
    except KeyError:
        raise Http404 from None


def visitor(request: HttpRequest) -> str:
    """ "" for one who has had no example yet."""
    given = request.COOKIES.get(COOKIE, "")
    return given if ideas.VISITOR.fullmatch(given) else ""


def running(idea: str, who: str) -> str:
    """The sandbox of the visitor's example, "" where there is none (any more)."""
    try:
        return default_store().sandbox(ideas.sandbox_of(idea, who)).name if who else ""
    except NoSandbox:
        return ""
