"""The panel that says how an outside scheduler connects to a sandbox."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.access.asker import asker_of
from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.rights import Right
from schedviz.rooms.room import is_reserved
from schedviz.web.answers import panel
from schedviz.web.sources import find_present
from simulator.config.configuration import DEFAULT_SCHEDULER_NAME

OTHER_NAME = "guest"
"""The schedulerName of the example while the sandbox's own scheduler has the default one."""


def outside_panel(request: HttpRequest, name: str) -> HttpResponse:
    source = find_present(name)
    stands_down = source.meta().stands_down
    context = {
        "subject": gettext("Outside scheduler"),
        "stands_down": stands_down,
        "can_share": asker_of(request).right == Right.OWN,
        "needs_token": sandboxes_have_owners() or is_reserved(name),
        "address": request.build_absolute_uri(reverse("sandbox", args=[name])).rstrip("/"),
        "scheduler": DEFAULT_SCHEDULER_NAME if stands_down else OTHER_NAME,
    }
    return panel(request, source, "outside/connect.html", context)
