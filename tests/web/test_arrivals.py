"""A class that opens its pages all at once: pages and files wait for one another, acts for none of them."""

import asyncio

import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from schedviz import request_handler
from schedviz.request_handler import ARRIVALS_AT_ONCE, RequestHandler

REQUESTS = RequestFactory()
PAGE = REQUESTS.get("/s/demo/", headers={"Accept": "text/html,*/*"})
FILE = REQUESTS.get(f"{settings.STATIC_URL}made/live.css")
ACTS = (
    REQUESTS.post("/s/demo/clock/"),
    REQUESTS.get("/s/demo/lesson/", headers={"Accept": "text/html", "HX-Request": "true"}),
    REQUESTS.get("/s/demo/api/v1/pods", headers={"Accept": "application/json"}),
)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> list[HttpRequest]:
    """The requests that are being answered, which takes until the test ends."""
    found: list[HttpRequest] = []

    async def answer(self: ASGIHandler, request: HttpRequest) -> HttpResponse:
        found.append(request)
        await asyncio.Event().wait()
        return HttpResponse()

    monkeypatch.setattr(ASGIHandler, "get_response_async", answer)
    return found


async def begin(handler: RequestHandler, *requests: HttpRequest) -> list[asyncio.Task[object]]:
    tasks: list[asyncio.Task[object]] = [
        asyncio.create_task(handler.get_response_async(request)) for request in requests
    ]
    for _ in range(10):
        await asyncio.sleep(0)
    return tasks


async def test_few_pages_are_answered_at_once_and_acts_beside_them(running: list[HttpRequest]) -> None:
    handler = RequestHandler()
    tasks = await begin(handler, PAGE, FILE, *[PAGE] * ARRIVALS_AT_ONCE)
    assert len(running) == ARRIVALS_AT_ONCE
    tasks += await begin(handler, *ACTS)
    assert running[ARRIVALS_AT_ONCE:] == [*ACTS]
    tasks[0].cancel()
    await begin(handler)
    assert len(running) == ARRIVALS_AT_ONCE + len(ACTS) + 1, "the next one has the place"
    for task in tasks:
        task.cancel()


async def test_a_page_does_not_wait_for_long_ones(
    running: list[HttpRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_handler, "ARRIVAL_SECONDS", 0.0)
    tasks = await begin(RequestHandler(), *[PAGE] * (ARRIVALS_AT_ONCE + 1))
    assert len(running) == ARRIVALS_AT_ONCE + 1
    for task in tasks:
        task.cancel()
