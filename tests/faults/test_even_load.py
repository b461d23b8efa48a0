"""Two real workers, of which one has much more work."""

import time
from itertools import count

import pytest

from tests.faults.conftest import FaultArena, note
from tests.faults.invariants import CHECKED, assert_invariants
from tests.faults.proxy import Act, Command
from tests.loop.conftest import node, pod
from tests.waiting import eventually

SLOW_SECONDS = 0.02
"""The time of each command of the busy worker."""


@pytest.mark.long
def test_a_slow_worker_hands_over_sandboxes_to_one_with_less_work(fault_arena: FaultArena) -> None:
    """Each command of the worker to Redis takes a while, so that it runs slices all the time."""
    fault_arena.start_worker()
    worker, proxy = fault_arena.behind_proxy()
    sandboxes = [fault_arena.make(f"shared-{number}", [node("n")]) for number in range(6)]
    for sandbox in sandboxes:
        eventually(sandbox.lease)
        fault_arena.give_to(sandbox, worker)

    def slow(command: Command) -> Act:
        if command[0] == b"EVALSHA":
            time.sleep(SLOW_SECONDS)
        return "pass"

    proxy.watch = slow
    began = time.monotonic()
    number = count()

    def shared() -> int:
        for sandbox in sandboxes:
            fault_arena.create(sandbox, pod(f"p{next(number)}", cpu="1m"))
        eventually(lambda: not fault_arena.store.unseen(), "the leaders have seen it")
        led = [sandbox for sandbox in sandboxes if fault_arena.leader(sandbox) is worker]
        return len(led) < len(sandboxes) - 1

    eventually(shared, "the other one leads some")
    seconds = time.monotonic() - began
    proxy.watch = lambda command: "pass"
    for sandbox in sandboxes:
        fault_arena.bind(sandbox, "last")
        fault_arena.rest(sandbox)
        assert_invariants(fault_arena.store, sandbox, fault_arena.acknowledged[sandbox.name])
    note("one worker far busier than the other: two are handed over", seconds, ", ".join(CHECKED))
