"""A turn: a bounded part of one comparison; between turns, questions and other comparisons have theirs."""

import logging
import time
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from msgspec.structs import replace

from schedviz.comparisons.order import Half, Order, Orders, Wish
from schedviz.store import Store
from simulator.api import SECOND
from simulator.commands.run import START
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.workload import ComparedWorkload, workload_of_objects, workload_of_scenario
from simulator.scenario import load_scenario
from simulator.scheduler.extender_http import HttpTransport

log = logging.getLogger(__name__)

TURN_SECONDS: Final = 0.4
"""A question that comes meanwhile waits no longer than this for each comparison, and a stop is seen."""

MAX_SECONDS: Final = 60.0
"""Of work for one comparison; what is known by then is shown. A bundled scenario takes a second or two."""


class Turns:
    """The comparisons that are under way in this process. Used by one thread."""

    def __init__(self, store: Store, orders: Orders) -> None:
        self._store = store
        self._orders = orders
        self._running: dict[str, _Running] = {}

    def take(self, number: str) -> bool:
        """Whether there is more to do."""
        order = self._orders.read(number)
        if order is not None and not order.finished:
            try:
                order = self._go_on(order)
            except (
                Exception
            ) as error:  # a bad object of the user's, or an extender that is away: said on the page
                log.warning("comparison of %s %s", order.wish.source, order.wish.name, exc_info=error)
                order = replace(order, state="failed", trouble=f"{type(error).__name__}: {error}")
            self._orders.tell(order)
        if order is None or order.finished:
            self._running.pop(number, None)
            return False
        return True

    def _go_on(self, order: Order) -> Order:
        running = self._running.get(order.id)
        if running is None:
            if self._orders.is_stopped(order.id):
                return replace(order, state="stopped")
            running = self._running[order.id] = _Running(self._store, order.wish)
        done = running.work()
        if done == 1.0:
            return replace(order, state="done", done=done, result=running.comparing.result())
        if self._orders.is_stopped(order.id):
            return replace(order, state="stopped", done=done, result=running.comparing.result())
        if running.seconds > MAX_SECONDS:
            return replace(order, state="late", done=done, result=running.comparing.result())
        return replace(order, state="under-way", done=done)


class _Running:
    def __init__(self, store: Store, wish: Wish) -> None:
        transport = HttpTransport(settings.EXTENDER_HOSTS)
        duration = wish.seconds * SECOND
        workload = _workload(store, wish)
        self.comparing = ComparisonRun(workload, _side(wish.a), _side(wish.b), duration, transport)
        self.seconds = 0.0
        self._progress: Iterator[float] = self.comparing.run()

    def work(self) -> float:
        """For one turn; how much is done, 1.0 = all."""
        began, done = time.monotonic(), 1.0
        while time.monotonic() - began < TURN_SECONDS:
            done = next(self._progress, 1.0)
            if done == 1.0:
                break
        self.seconds += time.monotonic() - began
        return done


def _workload(store: Store, wish: Wish) -> ComparedWorkload:
    if wish.source != "sandbox":
        return workload_of_scenario(load_scenario(wish.text), START)
    sandbox = store.sandbox(wish.name)
    objects, _ = sandbox.list_all()
    _, _, cycle = sandbox.progress()
    return workload_of_objects(objects, sandbox.now(), sandbox.meta().pace, cycle + 1)


def _side(half: Half) -> Side:
    return Side(half.config, half.queue, half.seed)
