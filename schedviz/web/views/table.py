"""The table behind the drawing of nodes."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from schedviz.store import Sandbox
from schedviz.web.stage import WARM
from schedviz.web.view import table
from schedviz.web.view.load import load
from schedviz.web.view.screen import look
from schedviz.web.views.page import find, form_page, large


@require_safe
def nodes(request: HttpRequest, name: str) -> HttpResponse:
    """``sort``, ``page``, ``q``: see :func:`schedviz.web.view.table.table`."""
    sandbox = find(name)
    number = request.GET.get("page", "")
    view = rows(
        sandbox,
        request.GET.get("sort", ""),
        look("", request.GET.get("q", "")).query,
        int(number) if number.isdecimal() and len(number) < 6 else 1,
    )
    return form_page(request, sandbox, "forms/nodes.html", {"view": view})


def rows(sandbox: Sandbox, sort: str, query: str, page: int) -> table.Table:
    """Of a large sandbox as somebody's live page has it just now, else as the store has it."""
    stage = WARM.get(sandbox.name) if large(sandbox) else None
    if stage is None:
        return table.table(load(sandbox), sort, query, page)
    with stage.lock:
        return table.table(stage.picture, sort, query, page)
