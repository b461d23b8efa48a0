"""Watches that begin before the events of the cache, and watches whose sandbox is deleted or whose log is
trimmed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from django.http import StreamingHttpResponse

from schedviz.access.standing import Standing
from schedviz.api.watch_reader import Reader
from schedviz.cache import held
from schedviz.store import Commit, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.model import LogEntry
from simulator.api import Change
from tests.api.watching import watch_nodes
from tests.waiting import PATIENCE
from tests.web.samples import node, pod


def begin(sandbox: Sandbox, version: int, seconds: int = 60) -> StreamingHttpResponse:
    return watch_nodes(sandbox, resourceVersion=str(version), timeoutSeconds=str(seconds))


async def lines(response: StreamingHttpResponse, count: int) -> list[dict[str, Any]]:
    stream: AsyncIterator[bytes] = aiter(response)
    async with asyncio.timeout(PATIENCE):
        found = [msgspec.json.decode(await anext(stream)) for _ in range(count)]
    await stream.aclose()  # type: ignore[attr-defined] # it is a generator
    return found


def names(found: list[dict[str, Any]]) -> list[str]:
    return [line["object"]["metadata"]["name"] for line in found]


async def test_a_watch_that_begins_before_the_cache_misses_no_event(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "RING_EVENTS", 3)

    def write() -> None:
        for number in range(20):
            pods = [Change("pods", f"default/p{number}", pod(f"p{number}"), 0)]
            sandbox.commit(Commit([Change("nodes", f"n{number}", node(f"n{number}"), 0), *pods]))

    await asyncio.to_thread(write)
    for version, begins in ((1, 1), (2, 1), (20, 10), (38, 19)):
        response = await asyncio.to_thread(begin, sandbox, version)
        found = await lines(response, 20 - begins)
        assert names(found) == [f"n{number}" for number in range(begins, 20)]
        assert {line["type"] for line in found} == {"ADDED"}


async def test_a_watch_reads_the_log_while_the_cache_is_behind_it(sandbox: Sandbox) -> None:
    """The cache holds no event before its first read, so the reader takes them from the log, which has
    a write that the cache has not read yet."""

    def write(name: str) -> None:
        sandbox.commit(Commit([Change("nodes", name, node(name), 0)]))

    await asyncio.to_thread(write, "before")
    version = sandbox.version() - 1
    async with Reader.of(sandbox, "nodes", version, Standing(sandbox.name, None)) as reader:
        log = sandbox.log

        def log_with_a_new_write(after: int, count: int) -> list[LogEntry]:
            if sandbox.version() == version + 1:
                write("after")
            return log(after, count)

        with patch.object(sandbox, "log", log_with_a_new_write):
            end = asyncio.get_running_loop().time() + PATIENCE
            found = await reader.read(end)
            await asyncio.to_thread(write, "last")
            found += await reader.read(end)
    assert [event.entry.key for event in found] == ["before", "after", "last"]


async def test_a_watch_whose_beginning_was_trimmed_gets_expired(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "log", 10)

    def write() -> None:
        for start in range(0, 300, 100):
            numbers = range(start, start + 100)
            sandbox.commit(
                Commit([Change("nodes", f"n{number}", node(f"n{number}"), 0) for number in numbers])
            )

    await asyncio.to_thread(write)
    (line,) = await lines(await asyncio.to_thread(begin, sandbox, 1), 1)
    assert (line["type"], line["object"]["code"], line["object"]["reason"]) == ("ERROR", 410, "Expired")


async def test_a_watch_of_a_sandbox_that_is_deleted_ends_with_an_error(
    sandbox: Sandbox, store: Store
) -> None:
    await asyncio.to_thread(sandbox.commit, Commit([Change("nodes", "n", node("n"), 0)]))
    response = await asyncio.to_thread(begin, sandbox, 1)
    reading = asyncio.create_task(lines(response, 1))
    await asyncio.to_thread(store.delete, sandbox.name)
    (line,) = await reading
    assert (line["type"], line["object"]["code"]) == ("ERROR", 404)
