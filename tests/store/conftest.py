from collections.abc import Callable

import pytest

from simulator.decision import Decision


@pytest.fixture
def make_decision() -> Callable[[int], Decision]:
    def make(cycle: int) -> Decision:
        return Decision(
            cycle=cycle, t=5, pod="default/p", uid="u", attempt=1, profile="default-scheduler", priority=0,
            requests={"cpu": 100}, nodes=["n"], pre_filter=None, filter_plugins=[], verdicts=[0], failures=[],
            feasible=[0], scores=[], pre_score_skipped=[], totals=[0], tied=["n"], selected="n",
            nominated_shortcut=False, preemption=None, unschedulable_plugins=[], message="",
            outcome="scheduled",
        )  # fmt: skip

    return make
