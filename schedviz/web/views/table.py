"""The table of all nodes."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from schedviz.web.presenters import table
from schedviz.web.presenters.load import load
from schedviz.web.presenters.screen import look
from schedviz.web.screens import followed_screens
from schedviz.web.views.page import Current, find_present, form_page, is_large


@require_safe
def nodes_table(request: HttpRequest, name: str) -> HttpResponse:
    """``sort``, ``page``, ``q``: see :func:`schedviz.web.presenters.table.table`."""
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
    screens = followed_screens(sandbox.name) if is_large(sandbox) else None
    if screens is None:
        return table.present_table(load(sandbox), sort, query, page)
    with screens.lock:
        return table.present_table(screens.picture, sort, query, page)
