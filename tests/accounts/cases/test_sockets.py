"""Websockets know the account, and end with its session."""

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.test import Client

from schedviz.access.record import owned_by
from schedviz.live.viewer import FORBIDDEN
from schedviz.store import Meta, Store

from .conftest import PASSWORD, logged_in

pytestmark = pytest.mark.django_db(transaction=True)


WAIT = 20.0


class Socket(ApplicationCommunicator):
    """A browser's websocket, in this process. (channels.testing needs daphne.)"""

    async def connect(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        return bool((await self.receive_output(WAIT))["type"] == "websocket.accept")

    async def receive(self) -> str:
        message = await self.receive_output(WAIT)
        assert message["type"] == "websocket.send"
        return str(message["text"])

    async def closed_with(self) -> int:
        while True:
            message = await self.receive_output(WAIT)
            if message["type"] == "websocket.close":
                return int(message["code"])


class Scene:
    def __init__(self, client: Client, user: object, sandbox: str) -> None:
        self.client, self.user, self.sandbox = client, user, sandbox

    def socket(self) -> Socket:
        # It reads the store when it is imported.
        from schedviz.asgi import application

        cookies = "; ".join(f"{name}={each.value}" for name, each in self.client.cookies.items())
        headers = [(b"host", b"localhost"), (b"origin", b"http://localhost"), (b"cookie", cookies.encode())]
        scope = {
            "type": "websocket", "path": f"/s/{self.sandbox}/live/", "query_string": b"", "headers": headers,
            "client": ("127.0.0.1", 1), "subprotocols": [],
        }  # fmt: skip
        return Socket(application, scope)


@pytest.fixture
def scene(make_user: Callable[..., object], store: Store, sandbox_name: str) -> Scene:
    user = make_user("ada")
    store.create(Meta(sandbox_name), access=owned_by(user.owner))  # type: ignore[attr-defined]
    return Scene(logged_in("ada"), user, sandbox_name)


def log_out(scene: Scene) -> None:
    scene.client.post("/account/log-out/")


def change_password(scene: Scene) -> None:
    other, words = logged_in("ada"), {"new_password1": "another pass phrase", "old_password": PASSWORD}
    other.post("/account/password/", {**words, "new_password2": words["new_password1"]})


def deactivate(scene: Scene) -> None:
    scene.user.is_active = False  # type: ignore[attr-defined]
    scene.user.save()  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", [log_out, change_password, deactivate])
async def test_a_websocket_ends_with_the_session(scene: Scene, end: Callable[[Scene], None]) -> None:
    socket = scene.socket()
    assert await socket.connect()
    await socket.receive()
    await sync_to_async(end)(scene)
    assert await socket.closed_with() == FORBIDDEN
    await socket.wait(WAIT)
    assert not await scene.socket().connect()


async def test_log_out_does_not_end_other_sessions(scene: Scene) -> None:
    other = await sync_to_async(logged_in)("ada")
    stays = Scene(other, scene.user, scene.sandbox).socket()
    ends = scene.socket()
    for socket in (stays, ends):
        assert await socket.connect()
    await sync_to_async(log_out)(scene)
    assert await ends.closed_with() == FORBIDDEN
    await stays.receive()
    await stays.send_input({"type": "websocket.disconnect", "code": 1001})
    await stays.wait(WAIT)


async def test_a_websocket_ends_with_the_session_after_a_lost_message(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.accounts.changes.ring", lambda _: None)
    monkeypatch.setattr("schedviz.accounts.sockets.LOOK_SECONDS", 0.05)
    socket = scene.socket()
    await socket.connect()
    await sync_to_async(log_out)(scene)
    assert await socket.closed_with() == FORBIDDEN


async def test_a_websocket_of_another_account_is_refused(scene: Scene) -> None:
    scene.client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    assert not await scene.socket().connect()
