"""Reads and sets the access record of a sandbox: who owns it, and who else may use it. Its contents are of
:mod:`schedviz.access.record`."""

from typing import cast

from schedviz.store.errors import NoSandbox
from schedviz.store.handle import SandboxHandle


class AccessControl(SandboxHandle):
    def access(self) -> str | None:
        """Return the access record, "" = it has none; None = there is no such sandbox."""
        stored = cast("list[bytes | None]", self._redis.hmget(self._keys.state, ["meta", "access"]))
        meta, access = stored
        return None if meta is None else (access or b"").decode()

    def set_access(self, access: str, was: str) -> bool:
        """Set the access record. If it is another one than ``was`` by now, nothing is changed and False is
        returned. Raises NoSandbox."""
        done = self._scripts.set_access([self._keys.state], [was, access], client=self._redis)
        if done == -1:
            raise NoSandbox(self.name)
        return bool(done)
