"""The answers of the Django views of a sandbox: a panel, a form, what was done, what is refused.

htmx gets a panel or a form alone. Who has no page yet gets a panel in the whole page, which is drawn by what
knows all features (:mod:`schedviz.web.page.live_page`): its middleware gives that function to the panel.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget

from schedviz.store.past import Past, Readable
from schedviz.web.act import end_act
from schedviz.web.sources import Source, address

CLOCK = "schedviz:clock"
"""The event of a change of the clock. It does not end the visitor's act, as other writes do."""


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def redirected(request: HttpRequest, address: str) -> HttpResponse:
    """Return the response by which the browser loads another page, also after a request of htmx."""
    return HttpResponseClientRedirect(address) if is_htmx(request) else redirect(address)


class Panel(TemplateResponse):
    """A panel that is shown in a page, not alone."""

    in_page: "Callable[[Panel], SafeString]"
    """The function that draws the page. The middleware sets it."""

    def __init__(
        self, request: HttpRequest, source: Source, template: str, context: dict[str, Any], status: int
    ) -> None:
        super().__init__(request, template, context, status=status)
        self.request = request
        self.source = source
        self.template = template
        self.subject = str(context.get("subject", ""))

    @property
    def detail(self) -> SafeString:
        """The HTML of the panel."""
        return render_to_string(self.template, self.context_data, self.request)

    @property
    def rendered_content(self) -> SafeString:
        return self.in_page(self)


def panel(
    request: HttpRequest,
    sandbox: Source,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
    *,
    with_moment: bool = False,
) -> HttpResponse:
    """Render a panel: alone for htmx, otherwise in the inspector of the whole page, whose title begins with
    the context's ``subject``. Further values of the context: ``acted``, the kubectl command of the action
    just made; ``error``, why it was refused, of which htmx gets nothing else. with_moment: htmx gets the
    panel with the parts of the page of its moment."""
    full = {**context, "base": address(sandbox), "sandbox": sandbox.name}
    full["past"] = isinstance(sandbox, Past)
    if with_moment or not is_htmx(request):
        return Panel(request, sandbox, template, full, status)
    if context.get("error"):
        return refused(str(context["error"]))
    response = render(request, template, full)
    if context.get("acted"):
        response.write(acted_html(context["acted"], address(sandbox.sandbox)))
        end_act(request, response, address(sandbox.sandbox))
    return response


def unfolded(request: HttpRequest) -> Callable[[str], bool]:
    """Return a function that says whether a fold of the panel is unfolded (static/js/panels.js). A page
    without scripts asks for all of them at once."""
    folds = (request.POST or request.GET).getlist("unfolded")
    return folds.__contains__ if is_htmx(request) else lambda _: True


def refused(message: str) -> HttpResponse:
    """Return for htmx why an action in a panel was refused. The panel stays as it is, with what was typed."""
    # Status 200, because browsers log every status from 400 on as an error.
    return reswap(retarget(HttpResponse(escape(message)), "#refused"), "innerHTML")


def acted_html(line: str, base: str) -> str:
    """Return the line above the log after an action: the kubectl command that does the same. base: the path
    of the sandbox's page."""
    return render_to_string("parts/acted.html", {"line": line, "base": base, "oob": True})


def done(
    request: HttpRequest, sandbox: Readable, event: str = "schedviz:done", kubectl: str = ""
) -> HttpResponse:
    """Return the response after a successful write. The live page gets the change by its socket; a page
    without scripts is redirected to the sandbox's page. event: triggered in the browser."""
    if not is_htmx(request):
        response: HttpResponse = redirect("sandbox", sandbox.name)
    elif not kubectl:
        response = HttpResponse(status=204, headers={"HX-Trigger": event})
    else:
        # After the swap: the event may remove the element that sent the request, and htmx swaps nothing then.
        headers = {"HX-Trigger-After-Swap": event, "HX-Reswap": "none"}
        response = HttpResponse(acted_html(kubectl, address(sandbox.sandbox)), headers=headers)
    if event != CLOCK:
        end_act(request, response, address(sandbox.sandbox))
    return response


def missing_panel(request: HttpRequest, sandbox: Source, message: str) -> HttpResponse:
    """Render the panel of what is not there, or not any more. The live page shows it when it is there
    again."""
    status = HTTPStatus.OK if is_htmx(request) else HTTPStatus.NOT_FOUND
    return panel(request, sandbox, "parts/missing.html", {"message": message}, status)


def missing_object(request: HttpRequest, sandbox: Source, kind: str, name: str) -> HttpResponse:
    """Render the panel of an object that is not there."""
    said = gettext("There is no %(kind)s %(name)s.") % {"kind": kind, "name": name}
    return missing_panel(request, sandbox, said)


def form_page(
    request: HttpRequest,
    sandbox: Source,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Render a form: alone for htmx, which puts it into the dialog, otherwise as a page."""
    full = {**context, "base": address(sandbox), "sandbox": sandbox.name}
    if is_htmx(request):
        # Status 200 also for invalid fields, because browsers log every status from 400 on as an error.
        return render(request, template, {**full, "layout": "forms/bare.html"})
    return render(request, template, {**full, "layout": "forms/page.html"}, status=status)
