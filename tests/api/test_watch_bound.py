"""The bound of open watches of a process."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from django.conf import settings
from django.http import StreamingHttpResponse

from schedviz.cache import follower
from schedviz.loop.doorbell import ring
from schedviz.store import Commit, Sandbox
from simulator.api import Change
from tests.api.watching import watch_nodes
from tests.round_trips import round_trips
from tests.web.samples import node


async def test_the_number_of_watches_of_a_process_is_bounded(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.LIMITS, "MAX_WATCHES", 3)
    initial = {"sendInitialEvents": "1", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "1"}

    def begin() -> StreamingHttpResponse:
        return watch_nodes(sandbox, timeoutSeconds="30", **initial)

    responses = await asyncio.gather(*(asyncio.to_thread(begin) for _ in range(8)))
    streams: list[AsyncIterator[bytes]] = [aiter(response) for response in responses]
    lines = [msgspec.json.decode(line) for line in await asyncio.gather(*(anext(each) for each in streams))]
    refused = [line["object"] for line in lines if line["type"] == "ERROR"]
    assert len(refused) == 5
    assert {status["code"] for status in refused} == {429}
    for stream in streams:
        await stream.aclose()  # type: ignore[attr-defined] # it is a generator


async def test_many_watches_share_each_read_and_each_encoded_line(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "LOOK_SECONDS", 1000.0)
    sandbox.commit(Commit([Change("nodes", "first", node("first"), 0)]))

    def begin() -> StreamingHttpResponse:
        return watch_nodes(sandbox, resourceVersion="1", timeoutSeconds="60")

    responses = [await asyncio.to_thread(begin) for _ in range(50)]
    streams: list[AsyncIterator[bytes]] = [aiter(response) for response in responses]
    sandbox.commit(Commit([Change("nodes", "second", node("second"), 0)]))
    await asyncio.gather(*(anext(each) for each in streams))
    with round_trips() as count:
        waiting = asyncio.gather(*(anext(each) for each in streams))
        while not waiting.done():
            await asyncio.sleep(0)
            if count() == 0:
                await asyncio.to_thread(sandbox.commit, Commit([Change("nodes", "third", node("third"), 0)]))
            ring(sandbox.name)
    lines = await waiting
    assert msgspec.json.decode(lines[0])["object"]["metadata"]["name"] == "third"
    assert all(line is lines[0] for line in lines)
    assert count() < 10, "not one for each watch"
    for stream in streams:
        await stream.aclose()  # type: ignore[attr-defined] # it is a generator
