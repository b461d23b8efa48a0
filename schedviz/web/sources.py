"""How a request finds the sandbox, or the past moment of it, that it is about."""

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.cache import Current, default_caches
from schedviz.store import Gone, NoSandbox, Sandbox
from schedviz.store.default import default_store
from schedviz.store.past import Past, Readable
from schedviz.web.picture.live_picture import DRAWN_AT_ONCE
from schedviz.web.picture.picture import NODES
from schedviz.web.text import node_names

Source = Current | Past
"""The source of the values of a page."""


def find_sandbox(name: str) -> Sandbox:
    """Return the handle of a sandbox, for a request that writes and reads nothing else; others call
    :func:`find_present`. Raises Http404."""
    try:
        return default_store().sandbox(name)
    except NoSandbox:
        raise Http404(gettext("There is no sandbox “%(name)s”.") % {"name": name}) from None


def find_past(name: str, seq: int) -> Past:
    """Return a past moment of a sandbox. Raises Http404 for an unknown sandbox; Gone if the moment is not
    stored any more, or was never reached."""
    sandbox = find_sandbox(name)
    if seq < 1:
        raise Gone(seq)
    return _open_past(sandbox, seq)


def find_end_of_cycle(name: str, cycle: int) -> Past | None:
    """Return the moment at which a scheduling cycle ended; None if the history does not reach it. Raises
    Http404."""
    sandbox = find_sandbox(name)
    try:
        seq = sandbox.history().end_of_cycle(cycle)
        return _open_past(sandbox, seq) if seq is not None else None
    except Gone:
        return None


def _open_past(sandbox: Sandbox, seq: int) -> Past:
    past = Past(sandbox, seq)
    _use_node_names(past)
    return past


def find_present(name: str) -> Current:
    """Return the sandbox from its cache, or from the store if it has too many objects to read all of them
    within a request. All that was written before the call is in it: a request that writes calls it again
    before it shows what there is now. Raises Http404."""
    found = read_present(name)
    _use_node_names(found)
    return found


def read_present(name: str) -> Current:
    """Return the present sandbox for a page of a past moment, which continues to use the short node names of
    that moment."""
    caches = default_caches()
    try:
        found: Current | None = caches.held(name)
        if found is None:
            sandbox = default_store().sandbox(name)
            found = sandbox if sandbox.size() > DRAWN_AT_ONCE else caches.read(name)
    except NoSandbox:
        raise Http404(gettext("There is no sandbox “%(name)s”.") % {"name": name}) from None
    return found


def _use_node_names(source: Source) -> None:
    """Shorten the names of nodes, for the rest of the request, as the nodes of this source are named."""
    node_names.activate(lambda: node_names.names_of(tuple(source.names(NODES))))


def find_at(name: str, seq: int | None) -> Source:
    """Return the sandbox, or its past moment ``seq``. Raises Http404, Gone."""
    return find_present(name) if seq is None else find_past(name, seq)


def address(source: Readable) -> str:
    """Return the path of the page of a sandbox, or of a past moment."""
    if isinstance(source, Past):
        return reverse("moment", args=[source.name, source.seq])
    return reverse("sandbox", args=[source.name])
