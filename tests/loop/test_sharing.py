"""A worker that is busy hands sandboxes over to one that has clearly less to do."""

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from schedviz.loop import due, sharing
from schedviz.loop import presence as presence_module
from schedviz.loop.busy import WINDOW_SECONDS, Busy
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.sharing import AT_ONCE, BUSY_SHARE, LESS, STAY_SECONDS, Movable, choose
from schedviz.loop.wakes import Wakes
from schedviz.processes import heartbeats
from schedviz.store import Meta, Sandbox, Store
from simulator.trace import LeaderElected
from tests.loop.stand_in import StandIn, made, run, traced

BEGINNING = 1000.0
SLICE = WINDOW_SECONDS / 16
"""Each of four sandboxes takes a quarter of the worker's time."""
ROUNDS = 40


class ManualClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = BEGINNING

    def __call__(self) -> float:
        return self.at


def test_the_share_is_that_of_the_last_seconds_and_of_each_sandbox() -> None:
    clock = ManualClock()
    busy = Busy(clock)
    for name, seconds in (("a", 1.0), ("b", 0.5), ("a", 1.0)):
        with busy.slice(name):
            clock.at += seconds
    assert busy.shares() == pytest.approx({"a": 2.0 / WINDOW_SECONDS, "b": 0.5 / WINDOW_SECONDS})
    clock.at += 3.0
    assert busy.shares() == pytest.approx({"a": 1.5 / WINDOW_SECONDS, "b": 0.5 / WINDOW_SECONDS})
    with busy.slice("c"):
        clock.at += WINDOW_SECONDS
        assert busy.shares() == {"c": 1.0}, "a slice that runs counts, too"
    assert busy.share() == 1.0
    clock.at += WINDOW_SECONDS
    assert busy.share() == 0.0


def test_only_a_busy_worker_hands_over_sandboxes_and_only_to_one_with_clearly_less_work() -> None:
    movable = [Movable("a", 0.1, pending=False)]
    assert choose(BUSY_SHARE - 0.01, {"other": 0.0}, movable)[1] == []
    assert choose(1.0, {}, movable)[1] == []
    assert choose(1.0, {"other": LESS}, movable)[1] == []
    assert choose(1.0, {"other": LESS - 0.01, "busier": 0.9}, movable) == ("other", ["a"])


def test_sandboxes_without_pending_pods_and_then_the_busier_ones_come_first() -> None:
    movable = [
        Movable("pending", 0.3, pending=True),
        Movable("small", 0.05, pending=False),
        Movable("large", 0.7, pending=False),
        Movable("medium", 0.3, pending=False),
    ]
    assert choose(1.0, {"other": 0.0}, movable) == ("other", ["medium", "small"])
    assert choose(1.0, {"other": 0.0}, movable[:1]) == ("other", ["pending"])
    assert len(choose(1.0, {"other": 0.0}, [Movable(str(i), 0.001, False) for i in range(99)])[1]) == AT_ONCE


@pytest.mark.parametrize("seed", range(20))
def test_workers_reach_an_even_load_and_then_no_sandbox_moves(seed: int) -> None:
    """A simulation in which each worker gives its sandboxes the time that they need, or a part of it if that
    is too much."""
    random_ = random.Random(seed)
    workers = [f"w{number}" for number in range(random_.choice([2, 2, 3, 4]))]
    needs = {f"s{n}": random_.choice([0.0, 0.005, 0.02, 0.1, 0.5]) for n in range(random_.randint(1, 100))}
    led_by = dict.fromkeys(needs, "w0")
    moves: Counter[str] = Counter()

    def shares_of(worker: str) -> dict[str, float]:
        needed = {name: needs[name] for name, leader in led_by.items() if leader == worker}
        return {name: need / max(1.0, sum(needed.values())) for name, need in needed.items() if need}

    for window in range(60):
        # All workers read the shares of one moment, as when they decide at the same time.
        shares = {worker: shares_of(worker) for worker in workers}
        totals = {worker: sum(shares[worker].values()) for worker in workers}
        moved = 0
        for worker in workers:
            others = {other: total for other, total in totals.items() if other != worker}
            movable = [Movable(name, share, False) for name, share in shares[worker].items()]
            receiver, names = choose(totals[worker], others, movable)
            for name in names:
                assert led_by[name] == worker
                led_by[name] = receiver
                moves[name] += 1
                moved += 1
        assert window < 40 or not moved, "no sandbox moves any more"
    assert max(moves.values(), default=0) <= len(workers), moves
    if len(workers) == 2 and max(needs.values()) <= 0.1:
        one, other = (sum(shares_of(worker).values()) for worker in workers)
        assert max(one, other) < BUSY_SHARE or min(one, other) >= 0.45 * max(one, other)


class Office:
    """Workers that look at the same clock, each with a Driver."""

    def __init__(self, store: Store, make: type[StandIn]) -> None:
        self.clock = ManualClock()
        self.store = store
        self.presences = {name: Presence(store, name, self.clock) for name in ("one", "other")}
        self.drivers = {
            name: Driver(store, Wakes(store), presence, make) for name, presence in self.presences.items()
        }

    def beat(self) -> None:
        for presence in self.presences.values():
            presence.beat()

    def run(self, worker: str, sandbox: Sandbox) -> None:
        self.beat()
        run(self.drivers[worker], self.store, sandbox)


def holder(sandbox: Sandbox) -> str:
    lease = sandbox.lease()
    assert lease
    return lease.holder


@pytest.fixture
def stand_in() -> type[StandIn]:
    made.clear()
    return type("StandIn", (StandIn,), {})


@pytest.fixture
def office(
    store: Store, stand_in: type[StandIn], sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> Office:
    """Workers with keys of the test."""
    for key in ("ALIVE", "REBASE_LOCK", "SWEEP_LOCK"):
        monkeypatch.setattr(presence_module, key, f"test:{sandbox_name}:{key}")
    monkeypatch.setattr(heartbeats, "heartbeats_key", lambda role: f"test:{sandbox_name}:{role}")
    monkeypatch.setattr(sharing, "busy_key", lambda worker: f"test:{sandbox_name}:busy:{worker}")
    monkeypatch.setattr(due, "KEY", f"test:{sandbox_name}:due")
    return Office(store, stand_in)


@pytest.fixture
def sandboxes(store: Store, sandbox_name: str) -> Iterator[list[Sandbox]]:
    made = [store.create(Meta(f"{sandbox_name[:55]}-{number}")) for number in range(4)]
    yield made
    for sandbox in made:
        store.delete(sandbox.name)


def test_a_busy_worker_releases_idle_sandboxes_and_the_receiver_leads_at_its_next_slice(
    office: Office, stand_in: type[StandIn], sandboxes: list[Sandbox]
) -> None:
    def work(self: StandIn) -> bool:
        office.clock.at += SLICE
        return False

    stand_in.work = work
    for _ in range(ROUNDS):
        for sandbox in sandboxes:
            office.run("one", sandbox)
            office.run("other", sandbox)
        if office.clock.at < BEGINNING + STAY_SECONDS:
            assert {holder(sandbox) for sandbox in sandboxes} == {"one"}
    over = [sandbox for sandbox in sandboxes if holder(sandbox) == "other"]
    assert len(over) == 2, "half of them"
    for sandbox in sandboxes:
        elected = [event.holder for event in traced(sandbox) if isinstance(event, LeaderElected)]
        assert elected == ["one"] + ["other"] * (sandbox in over)


@pytest.mark.parametrize("state", ["rests", "waits_for_pace"])
def test_a_sandbox_with_work_is_not_handed_over(
    office: Office, stand_in: type[StandIn], sandboxes: list[Sandbox], state: str
) -> None:
    def work(self: StandIn) -> bool:
        office.clock.at += SLICE
        return False

    stand_in.work = work
    setattr(stand_in, state, not getattr(stand_in, state))
    for _ in range(ROUNDS):
        for sandbox in sandboxes:
            office.run("one", sandbox)
    assert {holder(sandbox) for sandbox in sandboxes} == {"one"}
