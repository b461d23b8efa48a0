"""The panel with the table of all nodes, now or at a past moment."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from schedviz.store.past import Past
from schedviz.web.presenters import table
from schedviz.web.presenters.load import load
from schedviz.web.presenters.screen import look
from schedviz.web.screens import followed_screens
from schedviz.web.views.page import Source, find_at, is_large, panel


@require_safe
def nodes_table(request: HttpRequest, name: str, seq: int | None = None) -> HttpResponse:
    """Render the table of nodes. ``sort``, ``page``, ``filter``: see
    :func:`schedviz.web.presenters.table.present_table`. The filter ``q`` is that of the whole page."""
    sandbox = find_at(name, seq)
    number = request.GET.get("page", "")
    view = rows(
        sandbox,
        request.GET.get("sort", ""),
        look("", request.GET.get("filter", "")).query,
        int(number) if number.isdecimal() and len(number) < 6 else 1,
    )
    return panel(request, sandbox, "panels/nodes.html", {"view": view, "subject": gettext("Nodes")})


def rows(sandbox: Source, sort: str, query: str, page: int) -> table.Table:
    """Return the table, from the sandbox's cache or the store; for a large sandbox from the picture of an
    open live page, if there is one."""
    by_socket = not isinstance(sandbox, Past) and is_large(sandbox)
    screens = followed_screens(sandbox.name) if by_socket else None
    if screens is None:
        return table.present_table(load(sandbox), sort, query, page)
    with screens.lock:
        return table.present_table(screens.picture, sort, query, page)
