"""Plays actions on a sandbox, with the real leader: "Show solution"."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from schedviz.api import removal, schedulers, write
from schedviz.cache import read_current
from schedviz.lessons.action_rules import split_target
from schedviz.lessons.lesson import Action, Run
from schedviz.lessons.offline import NotReached
from schedviz.loop import clock
from schedviz.store import Sandbox
from simulator.api import SECOND, Manifest
from simulator.apiserver.admission import resource_of
from simulator.apiserver.status import AlreadyExists, NotFound

WALL_SECONDS: Final = 20.0
"""The longest time of one wait. A worker that is not busy plays a minute of simulated time in a second."""
SOLUTION_SECONDS: Final = 60.0
"""The longest time of a whole solution."""
POLL_SECONDS: Final = 0.02


def play_actions(sandbox: Sandbox, actions: Sequence[Action]) -> None:
    """Play actions in order, and pause. An object that the learner has created under the name of one to
    create is replaced; one to delete may be gone. A guess does nothing here.

    Raises StatusError if the API refuses an action, NotReached if a run ends before its condition holds."""
    speed = sandbox.clock().speed
    unpaced = bool(sandbox.clock().unpaced)
    clock.pause(sandbox)
    given_up = time.monotonic() + SOLUTION_SECONDS
    try:
        for action in actions:
            if time.monotonic() > given_up:
                raise NotReached(f"the solution takes more than {SOLUTION_SECONDS:g} s")
            _play(sandbox, action)
    finally:
        clock.set_speed(sandbox, clock.MAX if unpaced else speed)


def _play(sandbox: Sandbox, action: Action) -> None:
    if action.create is not None:
        _create(sandbox, action.create)
    elif action.apply is not None:
        resource = resource_of(action.apply, read_current(sandbox))
        metadata = action.apply["metadata"]
        key = resource.key(metadata.get("namespace", "default"), metadata["name"])
        write.patch(sandbox, resource.id, key, action.apply)
    elif action.delete:
        resource, key = split_target(action.delete)
        try:
            removal.delete(sandbox, resource.id, key)
        except NotFound:
            return
    elif action.scheduler is not None:
        fields = [field for field in action.scheduler if field not in ("apiVersion", "kind")]
        schedulers.configure(sandbox, action.scheduler, fields)
    elif action.run is not None:
        _run(sandbox, action.run)


def _create(sandbox: Sandbox, manifest: Manifest) -> None:
    try:
        write.create(sandbox, [manifest])
    except AlreadyExists:
        resource = resource_of(manifest, read_current(sandbox))
        metadata = manifest["metadata"]
        key = resource.key(metadata.get("namespace", "default"), metadata["name"])
        removal.delete(sandbox, resource.id, key, grace_seconds=0)
        write.create(sandbox, [manifest])


def _run(sandbox: Sandbox, run: Run) -> None:
    """Let simulated time run as the action says. The leader pauses the clock exactly where the run ends. What
    was written before happens at the beginning of the run: the leader observes it while time stands still."""
    end = sandbox.clock().sim + round(run.seconds * SECOND)
    pod = run.until.removeprefix("bound ") if run.until not in ("", "idle") else ""
    key = pod if "/" in pod else f"default/{pod}"
    _wait(lambda: sandbox.progress()[0] >= sandbox.version(), "the leader has observed all writes")
    clock.set_speed(sandbox, clock.MAX)
    clock.run_until(sandbox, f"bound {key} before {end}" if pod else f"before {end}")
    try:
        _wait(lambda: sandbox.clock().paused, "the run has ended")
    except NotReached:
        clock.pause(sandbox)
        raise
    if run.until == "":
        clock.move_to(sandbox, end)
    if pod and not (sandbox.get("pods", key) or {"spec": {}})["spec"].get("nodeName"):
        raise NotReached(f"{pod} is not bound after {run.seconds:g} s")


def _wait(done: Callable[[], bool], what: str) -> None:
    """Wait for the leader. Raises NotReached."""
    given_up = time.monotonic() + WALL_SECONDS
    while not done():
        if time.monotonic() > given_up:
            raise NotReached(f"{what}: not within {WALL_SECONDS:g} s")
        time.sleep(POLL_SECONDS)
