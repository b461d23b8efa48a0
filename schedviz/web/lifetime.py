"""The lifetime of sandboxes: the middleware that notes their use, the notice on their pages, and the deletion
of those that ended."""

import math
from contextlib import suppress
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin
from redis.exceptions import RedisError

from schedviz.access.sandbox_path import sandbox_of_path
from schedviz.rooms.room import is_reserved
from schedviz.routes import SAFE_METHODS
from schedviz.store import NoSandbox, Store, Unreadable
from schedviz.store.default import default_store
from schedviz.store.keys import PREFIX
from schedviz.store.lifetime import Lifetimes
from schedviz.store.store import NAME

DEMO: Final = "demo"
"""The sandbox that a first visitor sees, which is made only when the server starts."""
SWEEP_SECONDS: Final = 60.0
SWEEP_LOCK: Final = f"{PREFIX}:lifetime-sweep"


@cache
def lifetimes() -> Lifetimes:
    return Lifetimes(default_store(), settings.SANDBOX_LIFETIME_HOURS)


def ends(name: str) -> bool:
    """Whether a sandbox of this name has a lifetime. Those of rooms end with their room."""
    return bool(NAME.fullmatch(name)) and name != DEMO and not is_reserved(name)


class NoteUse(MiddlewareMixin):
    """Middleware: notes the use of a sandbox. It comes after the middleware that refuses what is not
    allowed."""

    def process_view(
        self, request: HttpRequest, view: object, arguments: object, named: dict[str, Any]
    ) -> None:
        if settings.SANDBOX_LIFETIME_HOURS and (name := sandbox_of_path(request.path_info)) and ends(name):
            with suppress(RedisError):  # the view says what is wrong
                lifetimes().note(name, is_write=request.method not in SAFE_METHODS)


def hours_left(name: str) -> int | None:
    """Return the hours until the sandbox is deleted, rounded up; None = the page need not say so."""
    if not settings.SANDBOX_LIFETIME_HOURS or not ends(name):
        return None
    left = lifetimes().seconds_left(name)
    return None if left is None or left > lifetimes().notice_seconds else math.ceil(left / 3600)


def delete_ended(store: Store, known: Lifetimes) -> None:
    """Delete the sandboxes that were not used for the lifetime. One web process does it within
    SWEEP_SECONDS."""
    if not store.redis.set(SWEEP_LOCK, b"", nx=True, px=round(SWEEP_SECONDS * 1000)):
        return
    for name in known.ended({name for name in store.names() if ends(name)}):
        if known.seconds_left(name) == 0.0:  # nobody has used it just now
            with suppress(NoSandbox, Unreadable):
                if store.hold(name).token():
                    continue
            with suppress(NoSandbox):
                store.delete(name)
