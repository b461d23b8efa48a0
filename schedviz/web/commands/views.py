"""The command bar: a dialog of the live page, or a separate page without scripts."""

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from schedviz.cache import Current
from schedviz.web.act import end_act
from schedviz.web.answers import acted_html, form_page, is_htmx
from schedviz.web.commands import COMMANDS, CommandError, CommandResult, complete, run
from schedviz.web.sources import address, find_present


def command(request: HttpRequest, name: str) -> HttpResponse:
    """Render the line; for POST run the line ``text`` and show its result below it."""
    sandbox, text = find_present(name), request.POST.get("text", "")
    if request.method != "POST":
        return bar(request, sandbox)
    try:
        result = run(sandbox, text)
    except CommandError as error:
        return bar(request, sandbox, text=text, error=str(error), status=422)
    return answer(request, sandbox, text, result)


def answer(request: HttpRequest, sandbox: Current, text: str, result: CommandResult) -> HttpResponse:
    base = reverse("sandbox", args=[sandbox.name])
    place = result.page if result.page is not None else result.panel or result.dialog
    if result.page is None and not place:
        return bar(request, sandbox, typed=text, result=result)
    if not is_htmx(request):
        response: HttpResponse = redirect(base + place)
    elif result.page is None:
        event = {"panel": base + result.panel} if result.panel else {"dialog": base + result.dialog}
        response = HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"schedviz:go": event})})
    else:
        response = HttpResponse(status=204, headers={"HX-Redirect": base + place})
    if result.cookie:
        key, value = result.cookie
        response.set_cookie(key, value, max_age=settings.LANGUAGE_COOKIE_AGE, samesite="Lax", httponly=True)
    return response


def completions(request: HttpRequest, name: str) -> HttpResponse:
    options = complete(find_present(name), request.GET.get("text", ""))
    return render(request, "commands/options.html", {"options": options})


def bar(
    request: HttpRequest,
    sandbox: Current,
    *,
    text: str = "",
    typed: str = "",
    result: CommandResult | None = None,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "text": text,
        "typed": typed,
        "result": result,
        "error": error,
        "options": [] if result else complete(sandbox, text),
        "commands": COMMANDS,
    }
    response = form_page(request, sandbox, "commands/bar.html", context, status)
    if result and result.kubectl and is_htmx(request):
        response.write(acted_html(result.kubectl, address(sandbox.sandbox)))
        end_act(request, response, address(sandbox.sandbox))
    return response
