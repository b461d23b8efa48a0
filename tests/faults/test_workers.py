"""Real workers that are killed, stopped and slowed, and messages that are lost or arrive twice."""

import signal
import time
from collections.abc import Callable

import pytest
from kombu import Connection

from schedviz.api.write import create
from schedviz.celery import app
from schedviz.loop.due import KEY, WAITING_SECONDS, waiting_key
from schedviz.loop.slice_message import TASK
from schedviz.processes.message_queues import KEY_PREFIX, SLICES_QUEUE, own_queue
from schedviz.store import Steps
from simulator.trace import CycleCutOff
from tests.amounts import long_but_first
from tests.faults.conftest import FaultArena, note
from tests.faults.invariants import CHECKED, assert_invariants, trace
from tests.faults.proxy import Act, Command, Proxy
from tests.loop.conftest import node, pod
from tests.processes import Process
from tests.waiting import eventually

pytestmark = pytest.mark.alone

ProxiedWorker = tuple[Process, Proxy]


@pytest.fixture
def proxied(fault_arena: FaultArena) -> ProxiedWorker:
    """A worker behind a proxy, beside one that keeps running."""
    if not fault_arena.workers:
        fault_arena.start_worker()
    worker, proxy = fault_arena.behind_proxy()
    proxy.watch = lambda command: "pass"
    return worker, proxy


def take(name: str) -> Callable[[Command], bool]:
    """Whether a command takes the lease of the sandbox."""
    return lambda command: b"take" in command and f"{{{name}}}".encode() in command[3]


def commit(name: str) -> Callable[[Command], bool]:
    """Whether a command is a commit to the sandbox: no other script has so many keys."""
    return lambda command: (
        command[0] == b"EVALSHA" and int(command[2]) >= 10 and f"{{{name}}}".encode() in command[3]
    )


def settle(name: str) -> Callable[[Command], bool]:
    """Whether a command sets the time of the next slice of the sandbox."""
    return lambda command: command[0] == b"EVALSHA" and command[2:5] == [b"1", KEY.encode(), name.encode()]


def at(number: int, is_meant: Callable[[Command], bool], act: Act) -> Callable[[Command], Act]:
    """Act on the command of this number among those that match."""
    met = 0

    def watch(command: Command) -> Act:
        nonlocal met
        met += is_meant(command)
        return act if met == number and is_meant(command) else "pass"

    return watch


STAGES: dict[str, tuple[Callable[[str], Callable[[Command], bool]], int, Act]] = {
    "between two commits": (commit, 6, "after"),
    "after the lease": (take, 1, "after"),
    "before handing over": (settle, 1, "before"),
}


@pytest.mark.long
@pytest.mark.parametrize("stage", long_but_first(STAGES))
def test_a_worker_is_killed(fault_arena: FaultArena, proxied: ProxiedWorker, stage: str) -> None:
    worker, proxy = proxied
    sandbox = fault_arena.make(f"killed-{stage.replace(' ', '-')}", [])
    eventually(sandbox.lease)
    fault_arena.rest(sandbox)
    struck: list[float] = []

    def before_cut() -> None:
        worker.send(signal.SIGKILL)
        struck.append(time.monotonic())

    is_meant, number, act = STAGES[stage]
    proxy.before_cut = before_cut
    proxy.watch = at(number, is_meant(sandbox.name), act)
    fault_arena.give_to(sandbox, worker)
    fault_arena.create(sandbox, node("n"), *(pod(f"p{i}") for i in range(8)))
    fault_arena.set_clock(sandbox, paused=False)
    worker.wait()
    fault_arena.recover(f"worker killed {stage}", sandbox, struck[0])
    assert fault_arena.leader(sandbox) is fault_arena.workers[0]


def test_a_worker_is_killed_in_a_cycle(fault_arena: FaultArena, proxied: ProxiedWorker) -> None:
    worker, _ = proxied
    sandbox = fault_arena.make("killed-in-a-cycle", [node("n"), pod("p")])
    eventually(sandbox.lease)
    fault_arena.rest(sandbox)
    fault_arena.give_to(sandbox, worker)
    fault_arena.create(sandbox, pod("in-cycle"))
    fault_arena.set_clock(sandbox, steps=Steps("point", 3))
    eventually(sandbox.under_way, "it stands at a point")
    began = time.monotonic()
    worker.kill()
    fault_arena.set_clock(sandbox, paused=False)
    fault_arena.recover(
        "worker killed in a cycle", sandbox, began, "the trace says that the cycle was cut off"
    )
    assert any(isinstance(event, CycleCutOff) for event in trace(sandbox))


@pytest.mark.long
def test_a_worker_stops_for_longer_than_its_lease_in_the_middle_of_a_slice(
    fault_arena: FaultArena, proxied: ProxiedWorker
) -> None:
    """The worker is stopped while it sends a commit, which reaches Redis after another worker has taken
    over."""
    worker, proxy = proxied
    sandbox = fault_arena.make("stopped", [node("n")])
    eventually(sandbox.lease)
    fault_arena.rest(sandbox)
    stopped: list[float] = []

    def watch(command: Command) -> Act:
        if not stopped and commit(sandbox.name)(command):
            stopped.append(time.monotonic())
            worker.send(signal.SIGSTOP)
            eventually(lambda: fault_arena.leader(sandbox) is fault_arena.workers[0], "the other one leads")
        return "pass"

    proxy.watch = watch
    fault_arena.give_to(sandbox, worker)
    fault_arena.create(sandbox, *(pod(f"p{i}") for i in range(8)))
    fault_arena.set_clock(sandbox, paused=False)
    eventually(lambda: fault_arena.leader(sandbox) is fault_arena.workers[0], "the other one leads")
    fault_arena.bind(sandbox, "while-it-stands")
    seconds = time.monotonic() - stopped[0]
    worker.send(signal.SIGCONT)
    fault_arena.bind(sandbox, "continued")
    fault_arena.rest(sandbox)
    assert_invariants(fault_arena.store, sandbox, fault_arena.acknowledged[sandbox.name])
    note("worker stopped for longer than its lease, continued", seconds, ", ".join(CHECKED))
    eventually(lambda: worker.alive() and fault_arena.name_of(worker), "it lives again")


@pytest.mark.long
def test_the_broker_is_emptied(fault_arena: FaultArena, proxied: ProxiedWorker) -> None:
    """For each lost message the store records that it waits for the leader, so no other one is sent."""
    sandbox = fault_arena.make("emptied", [node("n")])
    eventually(sandbox.lease)
    fault_arena.rest(sandbox)
    redis, lease = fault_arena.store.redis, sandbox.lease()
    assert lease
    began = time.monotonic()
    redis.set(waiting_key(sandbox.name), lease.holder, ex=WAITING_SECONDS)
    fault_arena.acknowledged[sandbox.name] += create(sandbox, [pod(f"p{number}") for number in range(3)])
    sandbox.set_clock(sandbox.clock().rebased(sandbox.wall(), paused=False))
    redis.zadd(KEY, {sandbox.name: 0})
    redis.delete("none", *redis.keys(f"{KEY_PREFIX}*"))
    fault_arena.until_bound(sandbox, *(f"p{number}" for number in range(3)))
    fault_arena.recover("broker emptied", sandbox, began)


def test_messages_arrive_twice_late_and_at_a_worker_that_does_not_lead(
    fault_arena: FaultArena, proxied: ProxiedWorker
) -> None:
    worker, _ = proxied
    sandbox = fault_arena.make("twice", [node("n"), pod("first")])
    fault_arena.until_bound(sandbox, "first")
    began = time.monotonic()
    orders = [None, 0, fault_arena.due.mark(sandbox.name).order]
    queues = [
        SLICES_QUEUE,
        *(own_queue(SLICES_QUEUE, fault_arena.name_of(w)).name for w in (worker, fault_arena.workers[0])),
    ]
    options = {"global_keyprefix": KEY_PREFIX}
    with Connection(fault_arena.redis.url, transport_options=options) as connection:
        for number in range(10):
            fault_arena.create(sandbox, pod(f"p{number}"))
            for order in orders:
                for queue in queues:
                    app.send_task(TASK, (sandbox.name, order), queue=queue, connection=connection)
    fault_arena.until_bound(sandbox, *(f"p{number}" for number in range(10)))
    fault_arena.recover("each message delivered nine times", sandbox, began)
