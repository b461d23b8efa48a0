"""The requests that are measured: one object whose list or map grows, and many objects."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple, Protocol

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_NODES, MAX_OBJECT_BYTES, count_values
from tests.programs.costs.crowds import CROWDS, Crowd
from tests.programs.costs.growing_objects import CUSTOM, DEFINITION, ENTRIES, Place, places
from tests.programs.costs.requests import CHANGING, CREATING, Growing, Request, stored_before


class Case(Protocol):
    """A kind of request that grows."""

    @property
    def name(self) -> str: ...

    @property
    def small(self) -> int:
        """Entries of the smaller request whose calls are counted."""

    def half(self) -> int:
        """Return the entries of a request of half the permitted size."""

    def definitions(self) -> list[Manifest]:
        """Return the objects that the sandbox has from the beginning."""

    def before(self, count: int) -> list[list[Request]]:
        """Return what is sent before: the first of these that is accepted."""

    def made(self, count: int, old: Manifest) -> Request | None:
        """Return the request with so many entries. old: the answer to what was sent before. None: there is no
        such request."""


class Answer(NamedTuple):
    status: int
    body: bytes = b""

    @property
    def is_accepted(self) -> bool:
        return self.status < 400

    @property
    def is_fault(self) -> bool:
        """Whether the server failed, or did not answer. kube-apiserver, too, answers some wrong requests with
        500, and a Status without a reason."""
        return not self.status or (self.status >= 500 and b'"reason"' in self.body)

    def read(self) -> Manifest:
        """Return the object that it contains; {} if it is a page."""
        found: Manifest = json.loads(self.body) if self.body.startswith(b"{") else {}
        return found


Send = Callable[[Request], Answer]


class GrowingCase(NamedTuple):
    request: str
    growing: Growing

    @property
    def name(self) -> str:
        return f"{self.request} {self.growing}"

    @property
    def small(self) -> int:
        return 60

    def half(self) -> int:
        some, more = self._weight(10), self._weight(20)
        size, values = (max((after - before) / 10, 1) for before, after in zip(some, more, strict=True))
        return int(min(MAX_OBJECT_BYTES / 2 / size, MAX_NODES / 2 / values))

    def _weight(self, count: int) -> tuple[int, int]:
        """Return the bytes and the values of the object, or of the request if it has more: a patch may name
        each entry twice."""
        found = [self.growing.with_entries(count)]
        request = self.made(count, {"metadata": {"resourceVersion": "1"}})
        if request and request.body.startswith((b"{", b"[")):
            found.append(json.loads(request.body))
        return max(len(json.dumps(each)) for each in found), max(map(count_values, found))

    def definitions(self) -> list[Manifest]:
        return [DEFINITION] if self.growing.resource == CUSTOM else []

    def before(self, count: int) -> list[list[Request]]:
        return stored_before(self.growing, count) if self.request in CHANGING else []

    def made(self, count: int, old: Manifest) -> Request | None:
        return (CREATING | CHANGING)[self.request](self.growing, count, old)


class CrowdCase(NamedTuple):
    crowd: Crowd

    @property
    def name(self) -> str:
        return self.crowd.name

    @property
    def small(self) -> int:
        return self.crowd.half // 10

    def half(self) -> int:
        return self.crowd.half

    def definitions(self) -> list[Manifest]:
        return []

    def before(self, count: int) -> list[list[Request]]:
        return [self.crowd.before(count)]

    def made(self, count: int, _: Manifest) -> Request:
        return self.crowd.request(count)


def growing_cases() -> Iterator[GrowingCase]:
    """Yield each request for each list and map, and pairs of them, in a lasting order."""
    draw = random.Random(28)
    requests = [*CREATING, *CHANGING]
    found = [*places()]
    by_kind: dict[str, list[Place]] = {}
    for place in found:
        by_kind.setdefault(place.resource.id, []).append(place)
    for place in found:
        for entries in ENTRIES:
            for request in requests:
                yield GrowingCase(request, Growing(place, entries))
        second = draw.choice(by_kind[place.resource.id])
        yield GrowingCase(draw.choice(requests), Growing(place, draw.choice(ENTRIES), second))


def crowd_cases() -> list[CrowdCase]:
    return [*map(CrowdCase, CROWDS)]


def sample(count: int, seed: int) -> list[GrowingCase]:
    """Return so many of the cases, the same ones for the same seed, of all kinds in turns."""
    by_kind: dict[str, list[GrowingCase]] = {}
    for case in growing_cases():
        by_kind.setdefault(case.growing.resource.id, []).append(case)
    draw = random.Random(seed)
    turns = [draw.sample(cases, len(cases)) for cases in by_kind.values()]
    found = [case for turn in zip_longest(*turns) for case in turn if case is not None]
    return found[:count]


def prepare(case: Case, count: int, send: Send) -> Request | None:
    """Send what comes before a request, and return the request."""
    wanted = case.before(count)
    for requests in wanted:
        answers = [send(each) for each in requests]
        if all(answer.is_accepted for answer in answers):
            return case.made(count, answers[-1].read() if answers else {})
    assert not wanted, f"{case.name}: {answers[-1].body[:500]!r}"
    return case.made(count, {})
