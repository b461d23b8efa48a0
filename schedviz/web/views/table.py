"""The table of all nodes."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from schedviz.web.stage import warm_stage
from schedviz.web.view import table
from schedviz.web.view.load import load
from schedviz.web.view.screen import look
from schedviz.web.views.page import Current, find_present, form_page, is_large


@require_safe
def nodes(request: HttpRequest, name: str) -> HttpResponse:
    """``sort``, ``page``, ``q``: see :func:`schedviz.web.view.table.table`."""
    sandbox = find_present(name)
    number = request.GET.get("page", "")
    view = rows(
        sandbox,
        request.GET.get("sort", ""),
        look("", request.GET.get("q", "")).query,
        int(number) if number.isdecimal() and len(number) < 6 else 1,
    )
    return form_page(request, sandbox, "forms/nodes.html", {"view": view})


def rows(sandbox: Current, sort: str, query: str, page: int) -> table.Table:
    """The table, from the sandbox's cache or the store; for a large sandbox from the picture of an open live
    page, if there is one."""
    stage = warm_stage(sandbox.name) if is_large(sandbox) else None
    if stage is None:
        return table.table(load(sandbox), sort, query, page)
    with stage.lock:
        return table.table(stage.picture, sort, query, page)
