"""Real workers that are killed, stopped and slowed, and messages that are lost or come twice."""

import signal
import time
from collections.abc import Callable

import pytest
from kombu import Connection

from schedviz.api.write import create
from schedviz.celery import app
from schedviz.loop.due import KEY, WAITING_SECONDS, waiting_key
from schedviz.loop.wakes import TASK
from schedviz.processes.message_queues import KEY_PREFIX, SLICES_QUEUE, own_queue
from schedviz.store import Steps
from simulator.trace import CycleCutOff
from tests.faults.conftest import Ground, note
from tests.faults.proxy import Act, Command, Proxy
from tests.faults.truths import CHECKED, assert_all_holds, trace
from tests.loop.conftest import node, pod
from tests.processes import Process
from tests.waiting import eventually

pytestmark = pytest.mark.alone

Doomed = tuple[Process, Proxy]


@pytest.fixture
def doomed(ground: Ground) -> Doomed:
    """A worker behind a proxy, beside one that stays."""
    if not ground.workers:
        ground.start_worker()
    worker, proxy = ground.behind_proxy()
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
    """Act on the command of this number among those that are meant."""
    met = 0

    def watch(command: Command) -> Act:
        nonlocal met
        met += is_meant(command)
        return act if met == number and is_meant(command) else "pass"

    return watch


STAGES: dict[str, tuple[Callable[[str], Callable[[Command], bool]], int, Act]] = {
    "after the lease": (take, 1, "after"),
    "between two commits": (commit, 6, "after"),
    "before handing over": (settle, 1, "before"),
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_is_killed(ground: Ground, doomed: Doomed, stage: str) -> None:
    worker, proxy = doomed
    sandbox = ground.make(f"killed-{stage.replace(' ', '-')}", [])
    eventually(sandbox.lease)
    ground.rest(sandbox)
    struck: list[float] = []

    def strike() -> None:
        worker.send(signal.SIGKILL)
        struck.append(time.monotonic())

    is_meant, number, act = STAGES[stage]
    proxy.strike = strike
    proxy.watch = at(number, is_meant(sandbox.name), act)
    ground.give_to(sandbox, worker)
    ground.create(sandbox, node("n"), *(pod(f"p{i}") for i in range(8)))
    ground.set_clock(sandbox, paused=False)
    worker.wait()
    ground.recover(f"worker killed {stage}", sandbox, struck[0])
    assert ground.leader(sandbox) is ground.workers[0]


def test_a_worker_is_killed_in_a_cycle(ground: Ground, doomed: Doomed) -> None:
    worker, _ = doomed
    sandbox = ground.make("killed-in-a-cycle", [node("n"), pod("p")])
    eventually(sandbox.lease)
    ground.rest(sandbox)
    ground.give_to(sandbox, worker)
    ground.create(sandbox, pod("in-cycle"))
    ground.set_clock(sandbox, steps=Steps("point", 3))
    eventually(sandbox.under_way, "it stands at a point")
    began = time.monotonic()
    worker.kill()
    ground.set_clock(sandbox, paused=False)
    ground.recover("worker killed in a cycle", sandbox, began, "the cycle is told to be cut off")
    assert any(isinstance(event, CycleCutOff) for event in trace(sandbox))


def test_a_worker_stops_for_longer_than_its_lease_in_the_middle_of_a_slice(
    ground: Ground, doomed: Doomed
) -> None:
    """It is stopped as it sends a commit, which reaches Redis when another worker has taken over."""
    worker, proxy = doomed
    sandbox = ground.make("stopped", [node("n")])
    eventually(sandbox.lease)
    ground.rest(sandbox)
    stopped: list[float] = []

    def watch(command: Command) -> Act:
        if not stopped and commit(sandbox.name)(command):
            stopped.append(time.monotonic())
            worker.send(signal.SIGSTOP)
            eventually(lambda: ground.leader(sandbox) is ground.workers[0], "the other one leads")
        return "pass"

    proxy.watch = watch
    ground.give_to(sandbox, worker)
    ground.create(sandbox, *(pod(f"p{i}") for i in range(8)))
    ground.set_clock(sandbox, paused=False)
    eventually(lambda: ground.leader(sandbox) is ground.workers[0], "the other one leads")
    ground.bind(sandbox, "while-it-stands")
    seconds = time.monotonic() - stopped[0]
    worker.send(signal.SIGCONT)
    ground.bind(sandbox, "continued")
    ground.rest(sandbox)
    assert_all_holds(ground.store, sandbox, ground.promised[sandbox.name])
    note("worker stopped for longer than its lease, continued", seconds, ", ".join(CHECKED))
    eventually(lambda: worker.alive() and ground.name_of(worker), "it lives again")


def test_the_broker_is_emptied(ground: Ground, doomed: Doomed) -> None:
    """The store says of each lost message that it waits for the leader, so that no other one is sent."""
    sandbox = ground.make("emptied", [node("n")])
    eventually(sandbox.lease)
    ground.rest(sandbox)
    redis, lease = ground.store.redis, sandbox.lease()
    assert lease
    began = time.monotonic()
    redis.set(waiting_key(sandbox.name), lease.holder, ex=WAITING_SECONDS)
    ground.promised[sandbox.name] += create(sandbox, [pod(f"p{number}") for number in range(3)])
    sandbox.set_clock(sandbox.clock().rebased(sandbox.wall(), paused=False))
    redis.zadd(KEY, {sandbox.name: 0})
    redis.delete("none", *redis.keys(f"{KEY_PREFIX}*"))
    ground.until_bound(sandbox, *(f"p{number}" for number in range(3)))
    ground.recover("broker emptied", sandbox, began)


def test_messages_come_twice_late_and_to_a_worker_that_does_not_lead(ground: Ground, doomed: Doomed) -> None:
    worker, _ = doomed
    sandbox = ground.make("twice", [node("n"), pod("first")])
    ground.until_bound(sandbox, "first")
    began = time.monotonic()
    orders = [None, 0, ground.due.mark(sandbox.name).order]
    queues = [
        SLICES_QUEUE,
        *(own_queue(SLICES_QUEUE, ground.name_of(w)).name for w in (worker, ground.workers[0])),
    ]
    options = {"global_keyprefix": KEY_PREFIX}
    with Connection(ground.redis.url, transport_options=options) as connection:
        for number in range(10):
            ground.create(sandbox, pod(f"p{number}"))
            for order in orders:
                for queue in queues:
                    app.send_task(TASK, (sandbox.name, order), queue=queue, connection=connection)
    ground.until_bound(sandbox, *(f"p{number}" for number in range(10)))
    ground.recover("each message delivered nine times", sandbox, began)
