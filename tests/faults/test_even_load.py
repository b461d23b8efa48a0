"""Two real workers, of which one has far more to do."""

import time
from itertools import count

from tests.faults.conftest import Ground, note
from tests.faults.proxy import Act, Command
from tests.faults.truths import CHECKED, assert_all_holds
from tests.loop.conftest import node, pod
from tests.waiting import eventually

SLOW_SECONDS = 0.02
"""That each command of the busy worker takes."""


def test_a_slow_worker_hands_sandboxes_over_to_one_that_has_less_to_do(ground: Ground) -> None:
    """Each command of the worker to Redis takes a while, so that it runs slices all the time."""
    ground.start_worker()
    worker, proxy = ground.behind_proxy()
    sandboxes = [ground.make(f"shared-{number}", [node("n")]) for number in range(6)]
    for sandbox in sandboxes:
        eventually(sandbox.lease)
        ground.give_to(sandbox, worker)

    def slow(command: Command) -> Act:
        if command[0] == b"EVALSHA":
            time.sleep(SLOW_SECONDS)
        return "pass"

    proxy.watch = slow
    began = time.monotonic()
    number = count()

    def shared() -> int:
        for sandbox in sandboxes:
            ground.create(sandbox, pod(f"p{next(number)}", cpu="1m"))
        eventually(lambda: not ground.store.unseen(), "the leaders have seen it")
        led = [sandbox for sandbox in sandboxes if ground.leader(sandbox) is worker]
        return len(led) < len(sandboxes) - 1

    eventually(shared, "the other one leads some")
    seconds = time.monotonic() - began
    proxy.watch = lambda command: "pass"
    for sandbox in sandboxes:
        ground.bind(sandbox, "last")
        ground.rest(sandbox)
        assert_all_holds(ground.store, sandbox, ground.promised[sandbox.name])
    note("one worker far busier than the other: two are handed over", seconds, ", ".join(CHECKED))
