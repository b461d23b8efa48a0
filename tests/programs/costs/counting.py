"""Counts the calls of a request in this process: the same number on every machine."""

import cProfile
import gc
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NamedTuple

from django.test import Client

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, Store
from simulator.api import SECOND
from tests.programs.costs.cases import Answer, Case, Send, prepare
from tests.programs.costs.requests import Request

MOST_GROWTH: Final = 2.3
"""How many times more calls a request with twice as many entries may make."""
MOST_CALLS: Final = 16_000_000
"""The calls that a request of half the permitted size may make: 1 to 2 s of CPU."""
_FIRST: Final = 2
"""Entries of the first request, which is not counted: it fills what is cached for a kind."""
_CHANCE: Final = 10
_CHANCE_IN_ALL: Final = 3_000
"""Calls or lines that are added, of an entry and of all: a few that differ by chance are no growth. A new
connection to Redis, or a cached value that has become too old meanwhile, is some 300 lines."""
_CREATED: Final = 1_700_000_000
_numbers = itertools.count()


class Calls(NamedTuple):
    """``growth``: how many times more there are for twice the entries. ``at_half``: how many there are for a
    request of half the permitted size, by the calls of the smaller ones."""

    growth: float
    at_half: float

    @property
    def wrong(self) -> str:
        """What is wrong; "" if nothing is."""
        if self.growth >= MOST_GROWTH:
            return f"{self.growth:.2f} times the calls for twice the entries"
        if self.at_half > MOST_CALLS:
            return f"{self.at_half:,.0f} calls for half the permitted size"
        return ""


class Counts(NamedTuple):
    """``lines``: those that were run, each time: a loop without a call has some, too."""

    calls: int
    lines: int
    answer: Answer


def calls_of(store: Store, case: Case) -> Calls | None:
    """Count the calls of a case. None: there is no such request."""
    if _counts(store, case, _FIRST) is None:
        return None
    for small in (case.small, 2 * case.small, 4 * case.small):
        few, some, more = (_counts(store, case, entries) for entries in (small // 2, small, 2 * small))
        if few is None or some is None or more is None:
            return None
        if few.answer.status == some.answer.status == more.answer.status:
            break  # else they do not do the same: one that is refused stores nothing
    growth = max(
        _growth(small, few.calls, some.calls, more.calls), _growth(small, few.lines, some.lines, more.lines)
    )
    of_entry = max((more.calls - some.calls) / small, (some.calls - few.calls) / (small - small // 2))
    return Calls(growth, some.calls + of_entry * (case.half() - small))


def _counts(store: Store, case: Case, entries: int) -> Counts | None:
    with local(store, case) as send:
        request = prepare(case, entries, send)
        if request is None:
            return None
        counted = count_calls(send, request)
        assert not counted.answer.is_fault, f"{case.name}: {counted.answer.body[:500]!r}"
        return counted


def _growth(small: int, few: int, some: int, more: int) -> float:
    """Return how many times more there are for twice the entries, without those that any request has."""
    chance = max(_CHANCE, _CHANCE_IN_ALL / small)
    of_some = (some - few) / (small - small // 2) + chance
    of_more = (more - some) / small + chance
    return 2 * of_more / of_some


def count_calls(send: Send, request: Request) -> Counts:
    """Count them without the garbage collector, which runs the finalizers of what others left at any time."""
    lines = 0

    def count_line(_: FrameType, event: str, argument: object) -> object:
        nonlocal lines
        lines += 1
        return count_line

    profile, before = cProfile.Profile(), sys.gettrace()
    gc.disable()
    sys.settrace(count_line)
    try:
        answer = profile.runcall(send, request)
    finally:
        sys.settrace(before)
        gc.enable()
    return Counts(sum(entry.callcount for entry in profile.getstats()), lines, answer)


@contextmanager
def local(store: Store, case: Case) -> Iterator[Send]:
    """Yield a function that sends to a new sandbox, in this process. Its time stands still."""
    name = f"cost-{next(_numbers)}"
    clock = Clock(sim=_CREATED * SECOND, wall=_CREATED, paused=True)
    create_sandbox(store, Meta(name=name, created=_CREATED), case.definitions(), clock)
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)

    def send(request: Request) -> Answer:
        answer = client.generic(
            request.method,
            f"/s/{name}{request.path}",
            request.body,
            request.media_type,
            headers={"accept": request.accept},
        )
        return Answer(answer.status_code, b"".join(answer) if answer.streaming else answer.content)

    try:
        yield send
    finally:
        store.delete(name)
