"""Many threads that do the same at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

THREADS = 8


def at_once(act: Callable[[int], object]) -> list[object]:
    """What ``act`` returns, or raises, in so many threads that begin together; it is given their numbers."""
    barrier = threading.Barrier(THREADS)

    def one(number: int) -> object:
        barrier.wait()
        try:
            return act(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(THREADS) as threads:
        return [*threads.map(one, range(THREADS))]
