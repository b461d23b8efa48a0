"""The base of :class:`schedviz.store.Sandbox`: its name, its keys, and how its state is read."""

from typing import Any, cast

from redis import Redis

from schedviz.store.archive import Archive
from schedviz.store.errors import NoSandbox, StaleLease
from schedviz.store.keys import Keys
from schedviz.store.model import Lease
from schedviz.store.scripts import Scripts
from schedviz.store.snapshot import Read, snapshot


class SandboxHandle:
    """A sandbox in the store. It holds no state but the name: a sandbox may have any number of handles, in
    any number of processes."""

    def __init__(self, redis: Redis, scripts: Scripts, name: str, main: Redis) -> None:
        """redis: the server of the sandbox. main: the server of what is stored of all sandboxes."""
        self.name = name
        self._redis = redis
        self._main = main
        self._scripts = scripts
        self._keys = Keys.of(name)
        self.archive = Archive(redis, scripts, name)

    def _snapshot(self, counter: str, read: Read) -> tuple[int, list[Any]]:
        return snapshot(self._redis, self._keys.state, counter, read)

    def _state(self, *fields: str) -> list[bytes]:
        """Return fields of the state hash: b"0" for a field that is not set, b"" for no holder. Raises
        NoSandbox."""
        stored = cast("list[bytes | None]", self._redis.hmget(self._keys.state, ["meta", *fields]))
        meta, *values = stored
        if meta is None:
            raise NoSandbox(self.name)
        return [
            value if value is not None else b"" if field == "holder" else b"0"
            for field, value in zip(fields, values, strict=True)
        ]

    def _check_reply(self, reply: int, lease: Lease | None) -> None:
        """Raise NoSandbox or StaleLease, if the reply of set_clock.lua or set_failure.lua says so."""
        if reply == -1:
            raise NoSandbox(self.name)
        if reply == -2:
            epoch = lease and lease.epoch
            raise StaleLease(f"sandbox {self.name!r}: the lease of epoch {epoch} is over")
