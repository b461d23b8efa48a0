"""The subject for which a request is counted: an account, an owner, a program with a token, a member or
teacher of a room, or else only an address."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.http import HttpRequest

from schedviz.access.account import Account, account_of, read_account
from schedviz.access.identity import owner_of
from schedviz.access.record import digest_of, owned_by
from schedviz.access.visitor import find_visitor

IN_ROOM: Final = ("room-", "teach-")
"""The first letters of the cookies of a room's members and teachers."""
CONFIRMED_AT_MOST: Final = 20_000
"""Maximum number of cookies of rooms that a process keeps: those of some 200 rooms."""
CONFIRMED_SECONDS: Final = 900.0


class Requester(NamedTuple):
    """The subject for which a request is counted. The right to a sandbox is another matter:
    :mod:`schedviz.access.asker`."""

    owner: str = ""
    """The owner; "" = an unknown requester."""
    address: str = ""
    """The address of the request; "" = it does not count: it is that of this machine, or of a member of a
    room."""
    room_address: str = ""
    """The address of a member of a room."""

    @property
    def source(self) -> str:
        """The address by which pools count, also that of a member of a room; "" = that of this machine."""
        return self.address or self.room_address

    @property
    def counts(self) -> bool:
        """Whether the limits count its requests. Those of this machine itself count only for all watches and
        all websockets."""
        return bool(self.owner or self.address)


class Confirmed:
    """The cookies of rooms that were right a short time ago, as digests. Whoever is in a room counts for
    themselves, so that a class behind one address is not locked out."""

    def __init__(self) -> None:
        self._until: OrderedDict[bytes, float] = OrderedDict()
        self._lock = Lock()

    def add(self, token: str) -> None:
        with self._lock:
            digest = _digest(token)
            self._until[digest] = time.monotonic() + CONFIRMED_SECONDS
            self._until.move_to_end(digest)
            if len(self._until) > CONFIRMED_AT_MOST:
                self._until.popitem(last=False)

    def has(self, token: str) -> bool:
        return self._until.get(_digest(token), 0.0) > time.monotonic()


CONFIRMED: Final = Confirmed()


def requester_of(request: HttpRequest) -> Requester:
    return find_requester(
        request.COOKIES,
        request.headers.get("Authorization", ""),
        str(request.META.get("REMOTE_ADDR", "")),
        str(request.META.get(settings.PROXY_ADDRESS_HEADER, "")),
        account_of(request),
    )


def whose_of(requester: Requester) -> str:
    """Return for whom something that is kept counts: a digest of the address, or of the owner; "" = nobody is
    known."""
    found = requester.source or requester.owner
    return found and digest_of(found)


def new_record(request: HttpRequest) -> str:
    """Return the access record of a sandbox that this request creates."""
    source = requester_of(request).source
    return owned_by(owner_of(request), source and digest_of(source))


def address_record(request: HttpRequest) -> str:
    """Return the access record of a sandbox without an owner, such as one of a room."""
    source = requester_of(request).source
    return owned_by("", source and digest_of(source))


def requester_of_socket(scope: Mapping[str, Any]) -> Requester:
    """Return the requester of a websocket, whose cookies are in the scope (:mod:`schedviz.live.access`)."""
    header = settings.PROXY_ADDRESS_HEADER.removeprefix("HTTP_").replace("_", "-").lower().encode()
    headers = dict(scope["headers"])
    peer = (scope.get("client") or ("",))[0]
    forwarded = headers.get(header, b"").decode("latin-1")
    return find_requester(scope.get("cookies", {}), "", peer, forwarded, read_account(scope.get("user")))


def find_requester(
    cookies: Mapping[str, str],
    authorization: str,
    peer: str,
    forwarded: str,
    account: Account | None = None,
) -> Requester:
    """Return the requester. peer: the address of the connection. forwarded: the value of the proxies'
    header."""
    address = _counted(_address(peer, forwarded))
    for name, token in cookies.items():
        if name.startswith(IN_ROOM) and CONFIRMED.has(token):
            return Requester(f"room {_digest(token).hex()}", room_address=address)
    visitor = find_visitor(cookies, authorization, account)
    if visitor.bearer:
        return Requester(f"token {_digest(visitor.bearer).hex()}", address)
    return Requester(visitor.owner, address)


def _address(peer: str, forwarded: str) -> str:
    """Return the address of the client."""
    given = [each.strip() for each in forwarded.split(",")] if forwarded else []
    return given[-settings.PROXIES] if len(given) >= settings.PROXIES else peer


def _counted(address: str) -> str:
    """Return the address that counts: of an IPv6 address its network, as each client in it can have any
    number of addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return ""
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is None:
            return "" if found.is_loopback else str(ip_network((found, 64), strict=False))
        found = found.ipv4_mapped
    return "" if found.is_loopback else str(found)


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()[:12]
