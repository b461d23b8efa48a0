"""The ASGI handler: how a request goes through middleware and view."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import override_settings
from django.urls import path
from django.utils.deprecation import MiddlewareMixin

from schedviz.api.body import with_warnings
from schedviz.metrics.server import REQUESTS
from schedviz.request_handler import RequestHandler
from simulator.kernel.work import Abandoned, check_waiting
from tests.waiting import PATIENCE, eventually

SEEN: list[tuple[str, int]] = []
"""The names of what ran, with the thread in which it ran."""


class Noted(MiddlewareMixin):
    """A middleware that, like Django's own, can be called synchronously and asynchronously. An asynchronous
    call returns a coroutine at once."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        SEEN.append(("called", threading.get_ident()))
        response: HttpResponseBase = super().__call__(request)
        SEEN.append(("returned", threading.get_ident()))
        return response


def view(request: HttpRequest) -> HttpResponse:
    SEEN.append(("view", threading.get_ident()))
    return HttpResponse("seen")


def warn(request: HttpRequest) -> HttpResponse:
    return with_warnings(HttpResponse(), WARNINGS)


WARNINGS = ['unknown field "a", 299 - "b"', "c:\\", "plain"]

BEGAN, MAY_END = threading.Event(), threading.Event()


def wait(request: HttpRequest) -> HttpResponse:
    SEEN.append(("view", threading.get_ident()))
    BEGAN.set()
    assert MAY_END.wait(PATIENCE)
    return HttpResponse()


ENDED: "list[Exception]" = []


def work(request: HttpRequest) -> HttpResponse:
    """A view that works until it is ended."""
    check_waiting()
    BEGAN.set()
    try:
        eventually(check_waiting, "nobody waits")
    except Abandoned as error:
        ENDED.append(error)
        raise
    return HttpResponse()


urlpatterns = [path("", view), path("warn", warn), path("wait", wait), path("work", work)]


@pytest.fixture
def handler() -> Iterator[RequestHandler]:
    SEEN.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[f"{__name__}.Noted"] * 2):
        yield RequestHandler()


async def fetch(
    handler: RequestHandler, at: str, query: bytes = b"", headers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The start and the body of a response."""
    scope = {"type": "http", "method": "GET", "path": at, "query_string": query, "headers": headers}
    browser = ApplicationCommunicator(handler, scope)
    await browser.send_input({"type": "http.request", "body": b""})
    start = await browser.receive_output()
    body = await browser.receive_output()
    await browser.wait()
    return start, body


async def test_each_warning_has_a_header_of_its_own(handler: RequestHandler) -> None:
    start, _ = await fetch(handler, "/warn")
    sent = [value for name, value in start["headers"] if name == b"Warning"]
    expected = ['299 - "unknown field \\"a\\", 299 - \\"b\\""', '299 - "c:\\\\"', '299 - "plain"']
    assert sent == [text.encode() for text in expected]


async def test_more_query_parameters_than_django_reads_are_a_bad_request(handler: RequestHandler) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    start, _ = await fetch(handler, "/", b"a=b&" * 1_200, headers)
    assert (start["status"], SEEN) == (400, [])


async def test_middleware_and_view_run_in_one_call_to_a_thread(handler: RequestHandler) -> None:
    start, body = await fetch(handler, "/")
    assert (start["status"], body["body"]) == (200, b"seen")
    assert [step for step, _ in SEEN] == ["called", "called", "view", "returned", "returned"]
    (thread,) = {thread for _, thread in SEEN}
    assert thread != threading.get_ident()


async def test_a_thread_is_used_again_when_its_request_has_ended(handler: RequestHandler) -> None:
    for _ in range(3):
        await fetch(handler, "/")
        await asyncio.to_thread(eventually, lambda: len(handler._idle) == 1, "the thread is idle")
    assert len({thread for _, thread in SEEN}) == 1


async def test_a_thread_in_which_a_view_still_runs_is_not_used_again(handler: RequestHandler) -> None:
    BEGAN.clear()
    MAY_END.clear()
    scope = {"type": "http", "method": "GET", "path": "/wait", "query_string": b"", "headers": []}
    browser = ApplicationCommunicator(handler, scope)
    await browser.send_input({"type": "http.request", "body": b""})
    assert await asyncio.to_thread(BEGAN.wait, PATIENCE)
    await browser.send_input({"type": "http.disconnect"})
    cut_off = asyncio.create_task(browser.wait())
    try:
        await asyncio.sleep(0)
        await fetch(handler, "/")
    finally:
        MAY_END.set()
    await cut_off
    first, second = [thread for step, thread in SEEN if step == "view"]
    assert first != second
    await asyncio.to_thread(eventually, lambda: len(handler._idle) == 2, "both threads are idle")


async def test_the_work_of_a_request_ends_when_its_client_has_disconnected() -> None:
    """It is counted as such, and is no error of the server."""
    BEGAN.clear()
    ENDED.clear()
    middleware = ["schedviz.operate.request_meter.RequestMeter", "schedviz.web.limits.RequestWork"]
    counted = REQUESTS.labels("work", "GET", "499")
    before = counted._value.get()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=middleware):
        handler = RequestHandler()
        scope = {"type": "http", "method": "GET", "path": "/work", "query_string": b"", "headers": []}
        browser = ApplicationCommunicator(handler, scope)
        await browser.send_input({"type": "http.request", "body": b""})
        assert await asyncio.to_thread(BEGAN.wait, PATIENCE)
        await browser.send_input({"type": "http.disconnect"})
        await browser.wait()
        await asyncio.to_thread(eventually, lambda: counted._value.get() == before + 1, "the view has ended")
    assert len(ENDED) == 1
