"""The limits of what is open at the same time: watches of the API, and websockets."""

from collections import Counter
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

from django.conf import settings

from schedviz.limit_settings import LimitName
from schedviz.limits.exceeded import LimitExceeded
from schedviz.limits.requester import Requester


class Names(NamedTuple):
    """The limits of one kind of connection."""

    in_all: LimitName
    of_sandbox: LimitName
    of_owner: LimitName
    of_address: LimitName


class OpenCounts:
    """The numbers of things that are open in this process."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._open: Counter[tuple[LimitName, str]] = Counter()
        self._lock = Lock()

    def check(self, requester: Requester, sandbox: str) -> None:
        """Check whether one more may be opened. Raises LimitExceeded if not."""
        with self._lock:
            self._check(requester, sandbox)

    def enter(self, requester: Requester, sandbox: str) -> Callable[[], None]:
        """Count one that was opened, until the returned function is called, once. Raises LimitExceeded."""
        keys = self._keys(requester, sandbox)
        with self._lock:
            self._check(requester, sandbox)
            self._open.update(keys)
        return lambda: self._leave(keys)

    def _leave(self, keys: list[tuple[LimitName, str]]) -> None:
        with self._lock:
            self._open.subtract(keys)
            for key in keys:
                if not self._open[key]:
                    del self._open[key]

    def total(self) -> int:
        return self._open[self._names.in_all, ""]

    def _check(self, requester: Requester, sandbox: str) -> None:
        for limit, key in self._keys(requester, sandbox):
            at_most = settings.LIMITS[limit]
            if at_most and self._open[limit, key] >= at_most:
                raise LimitExceeded(limit, at_most)

    def _keys(self, requester: Requester, sandbox: str) -> list[tuple[LimitName, str]]:
        keys = [(self._names.in_all, "")]
        if requester.owner:
            keys.append((self._names.of_owner, requester.owner))
        if requester.address:
            keys.append((self._names.of_address, requester.address))
        if sandbox and requester.counts:
            keys.append((self._names.of_sandbox, sandbox))
        return keys


WATCHES: Final = OpenCounts(
    Names("MAX_WATCHES", "MAX_WATCHES_PER_SANDBOX", "MAX_WATCHES_PER_OWNER", "MAX_WATCHES_PER_ADDRESS")
)
SOCKETS: Final = OpenCounts(
    Names("MAX_SOCKETS", "MAX_SOCKETS_PER_SANDBOX", "MAX_SOCKETS_PER_OWNER", "MAX_SOCKETS_PER_ADDRESS")
)
