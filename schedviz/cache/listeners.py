"""The events that other threads set in event loops when something has changed."""

import asyncio
from collections import Counter
from contextlib import suppress
from threading import Lock


class Listeners:
    """A set of asyncio events, each with its loop. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events: dict[asyncio.AbstractEventLoop, Counter[asyncio.Event]] = {}

    def add(self, event: asyncio.Event) -> None:
        """Set the event at each change from now on. Must be called in the event's loop."""
        with self._lock:
            self._events.setdefault(asyncio.get_running_loop(), Counter())[event] += 1

    def remove(self, event: asyncio.Event) -> None:
        with self._lock:
            for loop, events in [*self._events.items()]:
                events.pop(event, None)
                if not events:
                    del self._events[loop]

    def notify(self) -> None:
        """Set all events, each in its loop."""
        with self._lock:
            found = {loop: [*events] for loop, events in self._events.items()}
        for loop, events in found.items():
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_set_all, events)


def _set_all(events: list[asyncio.Event]) -> None:
    for event in events:
        event.set()
