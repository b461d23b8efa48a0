"""Writes to a sandbox, through the API server: what it decides is committed, and others are told of it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

from schedviz.cache import read_current, take_read
from schedviz.loop import ring, wake
from schedviz.store import CollectionChanged, Commit, LimitReached, NoSandbox, Sandbox
from simulator.api import Admission
from simulator.apiserver.commit import ReadAgain, Written, write
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.request_options import RequestOptions
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import Forbidden, NotFound

_LOCKS: Final[WeakValueDictionary[str, Lock]] = WeakValueDictionary()
"""Name of a sandbox that is written to now -> its lock."""
_LOCKS_LOCK: Final = Lock()


class SandboxStorage:
    """A sandbox that is written to: a :class:`simulator.apiserver.commit.ServedStorage`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def serve(self) -> ApiServer:
        current = take_read(self._sandbox.name) or read_current(self._sandbox)
        return ApiServer(
            current,
            current.now,
            current.meta().features(),
            lambda: f"{self._sandbox.name}/{current.version()}",
        )

    def store(self, admitted: Admission) -> Sequence[int]:
        try:
            commit = Commit(admitted.changes, unchanged=admitted.unchanged)
            committed = self._sandbox.commit_with_holder(commit)
        except CollectionChanged as changed:
            raise ReadAgain(str(changed)) from None
        except NoSandbox:
            raise NotFound("sandboxes", self._sandbox.name) from None
        except LimitReached as error:
            if error.limit == "MAX_OBJECT_BYTES":
                raise TooLarge(f"Request entity too large: {error}") from None
            raise Forbidden("sandboxes", self._sandbox.name, str(error)) from None
        notify(self._sandbox, committed.holder)
        return committed.versions

    def hold(self) -> AbstractContextManager[object]:
        """Let the other writes of this process to the sandbox wait: otherwise they would make each other
        repeat."""
        with _LOCKS_LOCK:
            return _LOCKS.setdefault(self._sandbox.name, Lock())


def write_admitted(
    sandbox: Sandbox, decide: Callable[[ApiServer], Admission], options: RequestOptions | None = None
) -> Written:
    """Store what ``decide`` asks of the API server; see :func:`simulator.apiserver.commit.write`. Raises
    StatusError."""
    return write(SandboxStorage(sandbox), decide, options or RequestOptions())


def notify(sandbox: Sandbox, holder: str | None = None) -> None:
    """Wake the sandbox and ring the doorbell: something was written. holder: see :func:`wake`."""
    wake(sandbox.name, holder)
    ring(sandbox.name)
