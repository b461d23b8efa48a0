"""A small stand-in for the Simulation, and slices with it on the real store."""

from collections.abc import Callable, Iterable, Sequence

from schedviz.loop.driver import Driver
from schedviz.loop.due import KEY
from schedviz.loop.wakes import Wakes
from schedviz.store import Sandbox, Store
from simulator.api import Micros, Storage, WatchEvent
from simulator.apiserver.component_writes import MakeServer
from simulator.client.informer import Informer, Pipeline
from simulator.decision import Decision
from simulator.simulation import Options
from simulator.trace import Event, PodRemoved, QueuePlace


class StandIn:
    """Observes event by event, and adds each to its trace; then calls ``work``, which returns whether there
    was work."""

    work: Callable[["StandIn"], bool] = lambda self: False
    due: Micros | None = None
    cycles = 0
    in_cycle = False
    waits_for_pace = False
    rests = True
    nothing_pending = True
    all_tried = True
    is_idle = True
    under_way = None

    def __init__(self, api: Storage, server: MakeServer, options: Options) -> None:
        self.api = api
        self.options = options
        self.now = 0
        self.lists = 0
        self.inbox: list[WatchEvent] = []
        self.seen: list[WatchEvent] = []
        self.pending_trace: list[Event] = []
        self.lanes: dict[str, QueuePlace | None] = {}
        made.append(self)

    def keep_queue(self, places: Iterable[QueuePlace]) -> None:
        self.kept = [*places]

    def observe(self, events: Sequence[WatchEvent], wall: int | None = None) -> None:
        self.inbox += events
        self.seen += events

    def relist(self, listed: Sequence[WatchEvent], version: int) -> None:
        self.lists += 1
        self.observe(listed)

    def pipeline(self) -> Pipeline:
        return Informer().pipeline()

    def take_in(self, now: Micros) -> bool:
        if self.inbox:
            self.pending_trace.append(PodRemoved(now, self.inbox.pop(0).key, ""))
            return True
        return False

    def try_each(self, now: Micros) -> None:
        self.now = now

    def step(self, now: Micros, *, by_point: bool = False) -> bool:
        self.now = now
        return self.take_in(now) or type(self).work(self)

    def is_bound(self, pod: str) -> bool:
        return False

    def next_due(self) -> Micros | None:
        return self.due

    def take_trace(self) -> list[Event]:
        taken, self.pending_trace = self.pending_trace, []
        return taken

    def give_back_trace(self, trace: list[Event]) -> None:
        self.pending_trace[:0] = trace

    def take_decisions(self) -> list[Decision]:
        return []

    def take_queue_places(self) -> dict[str, QueuePlace | None]:
        lanes, self.lanes = self.lanes, {}
        return lanes


made: list[StandIn] = []


def run(driver: Driver, store: Store, sandbox: Sandbox) -> None:
    driver.slice(sandbox.name, Wakes(store).due.mark(sandbox.name).order)


def due_at(store: Store, sandbox: Sandbox) -> float | None:
    """When the sandbox's next slice is asked for, in seconds by Redis's clock; None: only when woken."""
    at = store.redis.zscore(KEY, sandbox.name)
    return None if at is None else at / 1_000_000


def run_and_be_due_in(driver: Driver, store: Store, sandbox: Sandbox, seconds: float) -> None:
    """Run a slice, and return how many seconds after its end the next is due."""
    before = store.wall()
    run(driver, store, sandbox)
    due = due_at(store, sandbox)
    assert due
    assert before + seconds <= due <= store.wall() + seconds


def traced(sandbox: Sandbox) -> list[Event]:
    return [event for _, event in sandbox.trace(0)]
