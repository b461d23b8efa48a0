"""What is open when a link is withdrawn: websockets and watches, on a real server."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from schedviz.access.asker import Asker, asker_by
from schedviz.access.links import make_link, withdraw_link
from schedviz.access.record import digest_of, owned_by, read_record
from schedviz.access.rights import Right
from schedviz.access.standing import Standing
from schedviz.access.visitor import SHARED_COOKIE, Visitor, with_shared
from schedviz.live.viewer import FORBIDDEN
from schedviz.store import Commit, Meta, Sandbox, Store
from simulator.api import Change
from tests.waiting import PATIENCE
from tests.web.samples import pod

from .conftest import Scene, identity_cookie
from .test_routes import VISITORS


@pytest.fixture
def owned(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    sandbox = store.create(Meta(sandbox_name), access=owned_by(digest_of("the owner")))
    yield sandbox
    store.delete(sandbox.name)


def withdraw_all(sandbox: Sandbox) -> None:
    for link in read_record(sandbox.access() or "").links:
        withdraw_link(sandbox, link.id)


def socket(server: str, sandbox: Sandbox, **cookies: str) -> connect:
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    url = server.replace("http:", "ws:") + f"/s/{sandbox.name}/live/?lang=en"
    return connect(url, origin=server, additional_headers=headers, max_size=2**22)  # type: ignore[arg-type]


async def closed(connection: ClientConnection) -> int | None:
    """The code with which the server closes the connection."""
    # The iteration ends only by the codes 1000 and 1001.
    with suppress(ConnectionClosedError):
        async with asyncio.timeout(PATIENCE):
            async for message in connection:
                assert "secret" not in str(message)
    return connection.close_code


async def test_a_websocket_is_closed_and_the_owners_stays(owners_server: str, owned: Sandbox) -> None:
    _, token = make_link(owned, "view", "")
    guest = {SHARED_COOKIE: with_shared({}, owned.name, token)}
    async with (
        socket(owners_server, owned, **guest) as viewer,
        socket(owners_server, owned, **identity_cookie("the owner")) as owner,
    ):
        await viewer.recv()
        await owner.recv()
        withdraw_all(owned)
        assert await closed(viewer) == FORBIDDEN
        owned.commit(Commit([Change("pods", "default/web", pod("web"), 0)]))
        async with asyncio.timeout(PATIENCE):
            while ">web<" not in str(await owner.recv()):
                pass
    with pytest.raises(InvalidStatus) as refused:
        async with socket(owners_server, owned, **guest):
            pass
    assert refused.value.response.status_code == 403


async def test_a_page_that_was_hidden_is_closed_when_it_is_shown_again(
    owners_server: str, owned: Sandbox
) -> None:
    _, token = make_link(owned, "view", "")
    async with socket(owners_server, owned, **{SHARED_COOKIE: with_shared({}, owned.name, token)}) as viewer:
        await viewer.recv()
        await viewer.send('{"hidden": true}')
        withdraw_all(owned)
        owned.commit(Commit([Change("pods", "default/secret", pod("secret"), 0)]))
        await viewer.send('{"hidden": false}')
        assert await closed(viewer) == FORBIDDEN


@asynccontextmanager
async def watching(server: str, sandbox: Sandbox, token: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The events of a watch of all pods."""
    url = f"{server}/s/{sandbox.name}/api/v1/pods?watch=1"

    async def events(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
        async with asyncio.timeout(PATIENCE):
            async for line in response.content:
                yield json.loads(line)

    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
        session.get(url) as response,
    ):
        assert response.status == 200
        yield events(response)


async def test_a_watch_ends_with_an_error_and_others_go_on(owners_server: str, owned: Sandbox) -> None:
    withdrawn, token = make_link(owned, "view", "")
    _, other = make_link(owned, "edit", "")
    async with (
        watching(owners_server, owned, token) as events,
        watching(owners_server, owned, other) as other_events,
    ):
        owned.commit(Commit([Change("pods", "default/web", pod("web"), 0)]))
        assert (await anext(events))["type"] == "ADDED"
        assert (await anext(other_events))["type"] == "ADDED"
        withdraw_link(owned, withdrawn.id)
        last = await anext(events)
        assert (last["type"], last["object"]["code"]) == ("ERROR", 401)
        with pytest.raises(StopAsyncIteration):
            await anext(events)
        owned.commit(Commit([Change("pods", "default/web-2", pod("web-2"), 0)]))
        assert (await anext(other_events))["object"]["metadata"]["name"] == "web-2"


def test_a_right_holds_as_long_as_the_access_record_gives_it(owned: Sandbox) -> None:
    link, token = make_link(owned, "view", "")
    before = owned.access() or ""
    withdraw_link(owned, link.id)
    after = owned.access() or ""
    guest = Visitor(tokens={owned.name: token})
    standing = Standing(owned.name, asker_by(owned.name, guest, read_record(before)))
    assert standing.holds(before)
    assert not standing.holds(after)
    # The record of a sandbox that was created after the websocket was accepted.
    assert not Standing(owned.name, Asker(Right.NONE, "", Visitor())).holds(before)
    # By the rules of a room, or where everybody may do everything.
    assert Standing(owned.name, Asker(Right.VIEW, "schedviz:learner:X-1")).holds(after)


async def test_each_visitor_is_admitted_as_the_table_says(scene: Scene, owners_server: str) -> None:
    url = owners_server.replace("http:", "ws:")
    for who, (with_owner, of_room) in VISITORS.items():
        cookies = "; ".join(f"{name}={each.value}" for name, each in scene.clients[who].cookies.items())
        for path, is_allowed in (
            (f"/s/{scene.own}/live/", "V" in with_owner),
            (f"/s/{scene.room}/live/", "V" in of_room),
            (f"/rooms/{scene.code}/live/", "T" in of_room),
            ("/live/", False),
        ):
            status = 0
            try:
                async with connect(
                    url + path,
                    origin=owners_server,  # type: ignore[arg-type]
                    additional_headers={"Cookie": cookies} if cookies else {},
                    max_size=2**22,
                ) as connection:
                    assert await connection.recv()
            except InvalidStatus as refused:
                status = refused.response.status_code
            assert status == (0 if is_allowed else 403), (who, path)
