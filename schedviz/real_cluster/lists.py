"""The lists of a real cluster: page by page, the next page on its way while one is read."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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

    with ThreadPoolExecutor(1) as ahead:
        for _ in range(BEGINNINGS_AT_MOST):
            begin()
            try:
                page = ahead.submit(get, "").result()
                while token := continue_token(page):
                    coming = ahead.submit(get, token)
                    take(page)
                    page = coming.result()
                take(page)
                return
            except Refused as refused:
                if not refused.is_expired:
                    raise
            except ListFault as fault:
                raise ClusterError(f"{reader.server}: {path}: {fault}") from None
    raise ClusterError(f"{reader.server}: the list {path} expired {BEGINNINGS_AT_MOST} times before its end")
