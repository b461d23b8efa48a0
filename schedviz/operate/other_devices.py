"""Middleware: notes that a device other than this machine has asked for a page, for ``schedviz workshop``."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from redis import Redis
from redis.exceptions import RedisError

from schedviz.limits.requester import requester_of
from schedviz.machine_names import find_addresses
from schedviz.store.default import default_store
from schedviz.store.keys import PREFIX

OTHER_DEVICE: Final = f"{PREFIX}:other-device"
"""The key of the address of a device that has asked for a page since the start."""


class NoteOtherDevices:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response
        self._own = frozenset(find_addresses())
        self._noted = False

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        address = "" if self._noted else requester_of(request).source
        if address and address not in self._own:
            with suppress(RedisError):  # the next request is noted
                default_store().redis.set(OTHER_DEVICE, address)
                self._noted = True
        return self._get_response(request)


def forget_other_devices(redis: Redis) -> None:
    redis.delete(OTHER_DEVICE)


def find_other_device(redis: Redis) -> str:
    """Return the address of the device; "" = none has come."""
    found = cast("bytes | None", redis.get(OTHER_DEVICE))
    return (found or b"").decode()
