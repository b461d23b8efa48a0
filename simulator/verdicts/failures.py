"""The verdict on a scheduler's message that a pod cannot be scheduled, in one state of the cluster."""

import re
from typing import Final, NamedTuple

from simulator.scheduler.attempt_record import message
from simulator.scheduler.outside import CUT_OFF
from simulator.trace.verdicts import Verdict
from simulator.verdict_words import UNTRIED
from simulator.verdicts.bindings import run_attempt
from simulator.what_if.situation import Situation

NO_PROFILE: Final = "no profile has this schedulerName"

IN_BINDING: Final = re.compile(
    r"running (Reserve|Permit|PreBind|PreBindPreFlight|Bind) |waiting on permit for pod"
)
"""How the messages begin of a fault that followed the search for a node (frameworkImpl.Run... in
pkg/scheduler/framework/runtime/framework.go)."""


class FailureFinding(NamedTuple):
    """The fields of a :class:`simulator.trace.FailureJudged` that depend on the state alone."""

    verdict: Verdict
    model: str = ""
    best: str = ""

    @property
    def fits(self) -> bool:
        return self.verdict != "differs" and self.model not in UNTRIED


def judge_failure(situation: Situation, said: str) -> FailureFinding:
    """Return the verdict on a message about the situation's pod."""
    framework = situation.framework
    if framework is None:
        return FailureFinding("not this scheduler", NO_PROFILE)
    gate = framework.run_pre_enqueue(situation.pod)
    if gate is not None:
        return FailureFinding("differs", gate.message)
    if IN_BINDING.match(said):
        return FailureFinding("unknown", "it found a node, and failed after that")
    made = run_attempt(situation, framework)
    if made.selected is not None:
        return FailureFinding("differs", best=situation.cluster.node(made.selected).name)
    found = message(made)
    return FailureFinding("agrees") if is_same_message(said, found) else FailureFinding("differs", found)


def is_same_message(said: str, model: str) -> bool:
    """Whether a message, which an Event may cut off, is the model's."""
    begins = said.removesuffix(CUT_OFF)
    return said == model or (begins != said and model.startswith(begins))
