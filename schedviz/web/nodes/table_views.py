"""The panel with the table of all nodes, now or at a past moment."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from schedviz.web.answers import panel
from schedviz.web.nodes import table
from schedviz.web.nodes.filter_query import cut_query
from schedviz.web.picture.live_picture import read_picture
from schedviz.web.sources import find_at


def nodes_table(request: HttpRequest, name: str, seq: int | None = None) -> HttpResponse:
    """Render the table of nodes. ``sort``, ``page``, ``filter``: see
    :func:`schedviz.web.nodes.table.present_table`. The filter ``q`` is that of the whole page."""
    sandbox = find_at(name, seq)
    number = request.GET.get("page", "")
    sort, query = request.GET.get("sort", ""), cut_query(request.GET.get("filter", ""))
    page = int(number) if number.isdecimal() and len(number) < 6 else 1
    with read_picture(sandbox) as picture:
        view = table.present_table(picture, sort, query, page)
    return panel(request, sandbox, "nodes/table.html", {"view": view, "subject": gettext("Nodes")})
