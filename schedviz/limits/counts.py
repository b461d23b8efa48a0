"""What a request counts against, as the routes say it (:mod:`schedviz.routes`)."""

from collections.abc import Callable
from typing import Final, NamedTuple

from django.http import HttpRequest

from schedviz.limits import pools
from schedviz.limits.pools import Pool
from schedviz.limits.rates import count_creation, count_log_in, count_question
from schedviz.limits.requester import requester_of


class Count(NamedTuple):
    rate: Callable[[HttpRequest], None]
    """Counts the request before its view is called. Raises LimitExceeded."""
    pool: Pool | None = None
    """The pool of which the view takes a place."""
    creates: bool = False
    """Whether the request creates a sandbox."""


def _count_creation(request: HttpRequest) -> None:
    count_creation(requester_of(request))


def _count_question(request: HttpRequest) -> None:
    match = request.resolver_match
    count_question(requester_of(request), match.kwargs.get("name", "") if match else "")


def log_in_by(field: str) -> Count:
    """Return the count of an attempt to log in. field: the one with the name of the account."""
    return Count(lambda request: count_log_in(requester_of(request), request.POST.get(field, "")))


CREATION: Final = Count(_count_creation, creates=True)
ROOM: Final = Count(_count_creation, pools.ROOMS, creates=True)
IMPORT: Final = Count(_count_creation, pools.IMPORTS, creates=True)
QUESTION: Final = Count(_count_question, pools.QUESTIONS)
COMPARISON: Final = Count(_count_question, pools.COMPARISONS)
