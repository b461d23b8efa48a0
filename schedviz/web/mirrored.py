"""Refuses the requests that would change a mirror: only its mirroring process writes to it."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext

from schedviz.access.rights import Right
from schedviz.api.refused import is_review
from schedviz.cache import default_caches
from schedviz.routes import SAFE_METHODS, Route, is_of_api
from schedviz.store import NoSandbox, Unreadable
from schedviz.store.default import default_store


def find_mirror_refusal(request: HttpRequest, route: Route, named: dict[str, Any]) -> str:
    """Return the message for a request that would change a mirror, or asks for the form of such a change; ""
    = it is none. The owner may share and delete it."""
    if "name" not in named or route.right(request) != Right.EDIT:
        return ""
    if not (route.is_change(request) or request.method in SAFE_METHODS):
        return ""
    if "path" in named and is_review(request, named["path"]):
        return ""
    # A sandbox is a mirror from its creation on, so that an older state tells it, too.
    cache = default_caches().held_cache(named["name"])
    try:
        mirror = (cache or default_store().handle(named["name"])).meta().mirror
    except (NoSandbox, Unreadable):
        return ""
    if mirror is None:
        return ""
    if is_of_api(request):
        return (
            f"this sandbox is a mirror of the cluster {mirror.context}, which nothing here changes; make a "
            f"branch of it and change that: POST /api/sandboxes/{named['name']}/branches"
        )
    return gettext(
        "This sandbox mirrors a real cluster, and nothing here changes it. Choose “Try in a branch” on its "
        "page: everything can be changed in the branch."
    )
