"""The panel of all pending pods, now or at a past moment."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from schedviz.web.answers import panel
from schedviz.web.picture.live_picture import is_large, read_picture
from schedviz.web.queue.pending import present_pending
from schedviz.web.sources import find_at
from schedviz.web.text import node_names

REFRESH_MS = 1000
LARGE_REFRESH_MS = 5000
"""Time between two refreshes of the panel; of a sandbox with many objects, each reads all its pods."""


def pending_pods(request: HttpRequest, name: str, seq: int | None = None) -> HttpResponse:
    """Render the table. ``cause``: the id of a row to show alone, with more of its pods."""
    sandbox = find_at(name, seq)
    with read_picture(sandbox) as picture, node_names.using(picture.node_names()):
        view = present_pending(picture, sandbox.now(), request.GET.get("cause", "")[:20])
    context = {
        "view": view,
        "subject": gettext("Pending pods"),
        "refresh": LARGE_REFRESH_MS if is_large(sandbox) else REFRESH_MS,
        "can_try": bool(view.tries) and not sandbox.stands_down(),
    }
    return panel(request, sandbox, "queue/pending.html", context)
