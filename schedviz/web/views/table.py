"""The panel with the table of all nodes, now or at a past moment."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from schedviz.web.answers import panel
from schedviz.web.presenters import table
from schedviz.web.presenters.live_picture import read_picture
from schedviz.web.presenters.screen import look
from schedviz.web.sources import find_at


def nodes_table(request: HttpRequest, name: str, seq: int | None = None) -> HttpResponse:
    """Render the table of nodes. ``sort``, ``page``, ``filter``: see
    :func:`schedviz.web.presenters.table.present_table`. The filter ``q`` is that of the whole page."""
    sandbox = find_at(name, seq)
    number = request.GET.get("page", "")
    sort, query = request.GET.get("sort", ""), look("", request.GET.get("filter", "")).query
    page = int(number) if number.isdecimal() and len(number) < 6 else 1
    with read_picture(sandbox) as picture:
        view = table.present_table(picture, sort, query, page)
    return panel(request, sandbox, "panels/nodes.html", {"view": view, "subject": gettext("Nodes")})
