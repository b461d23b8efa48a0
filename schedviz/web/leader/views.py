"""The panel of the leader election, with the buttons that end the leader's lease or break its watch."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from schedviz.cache import Current
from schedviz.loop.leadership import break_watch, end_lease
from schedviz.store.default import default_store
from schedviz.web.answers import done, panel
from schedviz.web.leader import present as leader_view
from schedviz.web.sources import find_present, find_sandbox


def leader_panel(request: HttpRequest, name: str) -> HttpResponse:
    return show_leader(request, find_present(name))


def kill_leader(request: HttpRequest, name: str) -> HttpResponse:
    sandbox = find_sandbox(name)
    end_lease(default_store(), sandbox)
    return show_leader(request, find_present(name))


def relist_leader(request: HttpRequest, name: str) -> HttpResponse:
    """Break the leader's watch. Without a leader this does nothing: the next leader lists anyway."""
    sandbox = find_sandbox(name)
    break_watch(sandbox)
    return done(request, sandbox)


def show_leader(request: HttpRequest, sandbox: Current) -> HttpResponse:
    view = leader_view.present_leader(default_store(), sandbox)
    return panel(
        request, sandbox, "leader/leader.html", {"view": view, "subject": gettext("Leader election")}
    )
