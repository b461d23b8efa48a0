"""The websocket of the live page, on a real server."""

import json
import re

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from schedviz.live.consumers import BEAT
from schedviz.store import Commit, Sandbox
from simulator.api import Change
from tests.web.samples import pod


def socket(server: str, name: str, origin: str | None = None) -> connect:
    url = server.replace("http:", "ws:") + f"/s/{name}/live/?lang=en"
    return connect(url, origin=origin or server, max_size=2**22)


def numbers(frame: str | bytes) -> tuple[int, int]:
    head = re.match(
        r'<div id="frame" hidden hx-swap-oob="true" data-after="(\d+)" data-seq="(\d+)"', str(frame)
    )
    assert head, frame[:200]
    return int(head[1]), int(head[2])


async def until(connection: ClientConnection, text: str, last: int) -> None:
    """Frames follow each other without a gap until one says so."""
    while True:
        frame = str(await connection.recv())
        if frame == BEAT:
            continue
        after, seq = numbers(frame)
        assert after == last
        last = seq
        if text in frame:
            return


async def test_the_websocket_sends_the_page_and_then_each_change(server: str, sandbox: Sandbox) -> None:
    async with socket(server, sandbox.name) as connection:
        whole = str(await connection.recv())
        after, seq = numbers(whole)
        assert after == 0
        assert 'id="lane-activeQ"' in whole
        sandbox.commit(Commit([Change("pods", "default/web", pod("web"), 0)]))
        await until(connection, ">web<", seq)


async def test_user_text_never_becomes_markup(server: str, sandbox: Sandbox) -> None:
    evil = pod("web")
    evil["metadata"]["name"] = '<img src=x onerror="alert(1)">'
    sandbox.commit(Commit([Change("pods", "default/web", evil, 0)]))
    async with socket(server, sandbox.name) as connection:
        whole = str(await connection.recv())
    assert "<img" not in whole
    assert "&lt;img" in whole


async def test_an_unknown_sandbox_closes_with_a_code_that_is_not_tried_again(server: str) -> None:
    async with socket(server, "nobody-made-this") as connection:
        with pytest.raises(ConnectionClosed) as closed:
            await connection.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404


@pytest.mark.parametrize("path", ["/", "/live/", "/s/a/live", "/s/a%20b/live/", "/s/a/live/b"])
async def test_a_path_without_a_route_is_refused(server: str, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(server.replace("http:", "ws:") + path, origin=server):
            pass
    assert refused.value.response.status_code == 403


async def test_messages_of_a_browser_are_ignored(server: str, sandbox: Sandbox) -> None:
    async with socket(server, sandbox.name) as connection:
        _, seq = numbers(await connection.recv())
        await connection.send(json.dumps({"type": "anything"}))
        await connection.send(b"\x00\x01")
        sandbox.commit(Commit([Change("pods", "default/web", pod("web"), 0)]))
        await until(connection, ">web<", seq)


async def test_a_websocket_of_another_origin_is_refused(server: str, sandbox: Sandbox) -> None:
    """Another host, port or scheme."""
    host = server.removeprefix("http://")
    for origin in (
        "http://elsewhere.example",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        f"https://{host}",
        "null",
    ):
        with pytest.raises(InvalidStatus):
            async with socket(server, sandbox.name, origin=origin):
                pass


async def test_a_websocket_without_an_origin_is_refused(server: str, sandbox: Sandbox) -> None:
    with pytest.raises(InvalidStatus):
        async with connect(f"{server.replace('http', 'ws', 1)}/s/{sandbox.name}/live/"):
            pass
