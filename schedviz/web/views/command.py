"""The command bar: as a dialog of the live page, and as a page of its own without scripts."""

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from schedviz.store import Sandbox
from schedviz.web.commands import COMMANDS, Bad, Said, complete, run
from schedviz.web.views.page import acted, find, form_page, is_htmx


@require_http_methods(["GET", "HEAD", "POST"])
def command(request: HttpRequest, name: str) -> HttpResponse:
    """``text``: the line; what it says is done, and said below it."""
    sandbox, text = find(name), request.POST.get("text", "")
    if request.method != "POST":
        return bar(request, sandbox)
    try:
        said = run(sandbox, text)
    except Bad as error:
        return bar(request, sandbox, text=text, error=str(error), status=422)
    return answer(request, sandbox, text, said)


def answer(request: HttpRequest, sandbox: Sandbox, text: str, said: Said) -> HttpResponse:
    base = reverse("sandbox", args=[sandbox.name])
    place = said.page if said.page is not None else said.panel or said.dialog
    if said.page is None and not place:
        return bar(request, sandbox, typed=text, said=said)
    if not is_htmx(request):
        response: HttpResponse = redirect(base + place)
    elif said.page is None:
        event = {"panel": base + said.panel} if said.panel else {"dialog": base + said.dialog}
        response = HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"schedviz:go": event})})
    else:
        response = HttpResponse(status=204, headers={"HX-Redirect": base + place})
    if said.cookie:
        key, value = said.cookie
        response.set_cookie(key, value, max_age=settings.LANGUAGE_COOKIE_AGE, samesite="Lax", httponly=True)
    return response


@require_safe
def completions(request: HttpRequest, name: str) -> HttpResponse:
    options = complete(find(name), request.GET.get("text", ""))
    return render(request, "command/options.html", {"options": options})


def bar(
    request: HttpRequest,
    sandbox: Sandbox,
    *,
    text: str = "",
    typed: str = "",
    said: Said | None = None,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "text": text,
        "typed": typed,
        "said": said,
        "error": error,
        "options": [] if said else complete(sandbox, text),
        "commands": COMMANDS,
    }
    response = form_page(request, sandbox, "command/bar.html", context, status)
    if said and said.kubectl and is_htmx(request):
        response.write(acted(said.kubectl))
    return response
