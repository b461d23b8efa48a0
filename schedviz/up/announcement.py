"""What the terminal says when the server is ready: its address, and for a workshop the way there."""

import io
import os
import sys
import time
import webbrowser
from collections.abc import Callable
from typing import Final

import segno
from django.conf import settings
from django.http.request import validate_host
from redis.exceptions import RedisError

from schedviz.local_names import is_local
from schedviz.operate.other_devices import find_other_device, forget_other_devices
from schedviz.store import Store
from schedviz.up.health import Unhealthy, check_url
from schedviz.up.programs import DEMO

READY_SECONDS: Final = 60.0
"""Seconds after which a line says that the server is not ready yet. A start takes three seconds."""

ALONE_SECONDS: Final = 60.0
"""Seconds after which a workshop that no other device has reached gets a line about it."""

EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 (compared, not listened on)
"""The values of HOST with which the server listens on all addresses of the machine."""


class Announcement:
    """Waits until the server is ready, and says so. store: of the server. say: prints a line."""

    def __init__(self, store: Store, say: Callable[[str], None]) -> None:
        self._store = store
        self._say = say

    def make(self) -> None:
        own = f"http://{_own_host(settings.HOST)}:{settings.PORT}"
        address = f"http://{host_for_browsers(settings.HOST, settings.ALLOWED_HOSTS)}:{settings.PORT}"
        if settings.WORKSHOP:
            forget_other_devices(self._store.redis)
        self._wait(own)
        self._say(f"schedviz is at {address}/ (the demo: {address}/s/{DEMO}/); Ctrl-C stops it")
        if settings.WORKSHOP:
            self._announce_workshop(address)

    def _wait(self, own: str) -> None:
        """Wait until the server is ready, and has the demo."""
        started, late = time.monotonic(), False
        while not (_answers(f"{own}/readyz") and self._has_demo()):
            if not late and time.monotonic() > started + READY_SECONDS:
                late = True
                self._say(f"{own}/readyz: still not ready after {READY_SECONDS:.0f} s")
            time.sleep(0.1)

    def _has_demo(self) -> bool:
        try:
            return self._store.exists(DEMO)
        except RedisError:
            return False

    def _announce_workshop(self, address: str) -> None:
        if not _answers(f"{address}/rooms/"):
            self._say(
                f"{address}/ does not lead to this machine: start again with --address and its address or "
                "name in your network"
            )
            return
        for line in terminal_code(f"{address}/rooms/").splitlines():
            self._say(line)
        self._say(f"Learners open {address}/rooms/ and type the code of your room.")
        self._say(f"Open the room: {address}/rooms/new/")
        open_in_browser(f"{address}/rooms/new/")
        self._wait_for_another_device()

    def _wait_for_another_device(self) -> None:
        started, late = time.monotonic(), False
        while not (device := self._other_device()):
            if not late and time.monotonic() > started + ALONE_SECONDS:
                late = True
                self._say(
                    f"No other device has opened a page for {ALONE_SECONDS:.0f} s. Try it with a phone. If "
                    "it gets no answer, check that it is in the same network, that devices of this network "
                    f"reach each other, and that no firewall of this machine blocks port {settings.PORT}."
                )
            time.sleep(1)
        self._say(f"The first other device has opened a page ({device}).")

    def _other_device(self) -> str:
        try:
            return find_other_device(self._store.redis)
        except RedisError:
            return ""


def _answers(url: str) -> bool:
    try:
        check_url(url)
    except Unhealthy:
        return False
    return True


def host_for_browsers(host: str, allowed: list[str]) -> str:
    """Return the host to open in a browser. host: the address on which the server listens. allowed: see
    ALLOWED_HOSTS."""
    own = _own_host(host)
    names = [name for name in allowed if not name.startswith((".", "*"))]
    if host in EVERYWHERE:
        return next((name for name in names if not is_local(name)), own)
    return own if validate_host(own, allowed) or not names else names[0]


def _own_host(host: str) -> str:
    """Return the host by which this machine reaches its server."""
    if host in EVERYWHERE:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def terminal_code(address: str) -> str:
    """Return the QR code of an address, in half blocks."""
    drawn = io.StringIO()
    segno.make(address, error="m", micro=False).terminal(drawn, border=2, compact=True)
    return drawn.getvalue()


def open_in_browser(address: str) -> None:
    """Open the page if there is a screen: without one, a browser could take over the terminal."""
    if sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        webbrowser.open(address)
