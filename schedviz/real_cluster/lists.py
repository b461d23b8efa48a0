"""The lists of a real cluster: page by page, the next page on its way while one is read."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Final

from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.reader import ClusterReader
from simulator.dumps.listed_objects import ListFault, continue_token

PAGE: Final = 500
"""Number of objects of a page, as kubectl has it (--chunk-size)."""
BEGINNINGS_AT_MOST: Final = 3
"""How often a list is begun. It expires if it takes longer than the server keeps what was (some minutes)."""


def list_pages(
    reader: ClusterReader,
    path: str,
    begin: Callable[[], None],
    take: Callable[[bytes], None],
    selector: str = "",
) -> None:
    """Read a list. ``begin`` is called before its first page, also where it has to begin anew; ``take`` with
    each page. ``selector``: a field selector. Raises ClusterError."""

    def get(token: str) -> bytes:
        query = {"limit": str(PAGE), "fieldSelector": selector, "continue": token}
        return reader.get(path, {name: value for name, value in query.items() if value})

    for _ in range(BEGINNINGS_AT_MOST):
        begin()
        try:
            page = get("")
            while token := continue_token(page):
                coming = _Coming(get, token)
                take(page)
                page = coming.wait()
            take(page)
            return
        except Refused as refused:
            if not refused.is_expired:
                raise
        except ListFault as fault:
            raise ClusterError(f"{reader.server}: {path}: {fault}") from None
    raise ClusterError(f"{reader.server}: the list {path} expired {BEGINNINGS_AT_MOST} times before its end")


class _Coming:
    """A page on its way, in a thread for which the end of the program does not wait: Ctrl-C ends it at once,
    also while a server hangs."""

    def __init__(self, get: Callable[[str], bytes], token: str) -> None:
        self._result: SimpleQueue[bytes | Exception] = SimpleQueue()
        Thread(target=self._run, args=(get, token), daemon=True).start()

    def _run(self, get: Callable[[str], bytes], token: str) -> None:
        try:
            self._result.put(get(token))
        except Exception as failure:  # raised where it is waited for
            self._result.put(failure)

    def wait(self) -> bytes:
        found = self._result.get()
        if isinstance(found, Exception):
            raise found
        return found
