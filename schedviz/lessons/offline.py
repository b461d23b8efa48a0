"""A lesson's sandbox without a store and without time that passes: the simulator plays the actions of
solutions and wrong answers."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from schedviz.lessons.action_rules import split_target
from schedviz.lessons.catalogue import scenario_of
from schedviz.lessons.lesson import Action, Lesson, Run
from schedviz.lessons.read_cluster import START
from schedviz.store import Clock, Listing, Meta
from simulator.api import SECOND, Change, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.memory_sandbox import MemorySandbox, NotReached, SandboxOptions

__all__ = ["NotReached", "OfflineSandbox"]

CLUSTERS_HELD: Final = 32
"""Maximum number of admitted clusters that a process holds."""


class OfflineSandbox(MemorySandbox):
    """A sandbox outside of the store, with the methods that a :class:`~schedviz.lessons.situation.Situation`
    reads."""

    steps_at_most = 100_000
    """Maximum number of steps in one run. A cluster in which more happens is not one of a lesson."""

    def __init__(self, lesson: Lesson, created: float = START / SECOND, seed: int | None = None) -> None:
        """created: ``Meta.created``, with which simulated time begins. seed: None = the lesson's."""
        cluster, start = lesson.cluster, int(created) * SECOND
        self._meta = Meta(
            name=lesson.name,
            scenario=scenario_of(lesson),
            created=created,
            seed=cluster.seed if seed is None else seed,
            pace=cluster.pace,
            config=cluster.config,
            queue=cluster.queue,
            kubernetes=cluster.features.version.patch,
            feature_gates=cluster.features.gates,
        )
        super().__init__(
            SandboxOptions(
                lesson.name,
                imported=_create_cluster(lesson, start),
                seed=self._meta.seed,
                pace=cluster.pace,
                config=cluster.config,
                queue=cluster.queue,
                features=cluster.features,
                start=start,
            )
        )

    def meta(self) -> Meta:
        return replace(self._meta, config=self.config())

    def clock(self) -> Clock:
        """Return a paused clock: time moves only by what is played."""
        return Clock(sim=self.now(), wall=0.0, paused=True)

    def list(self, resource: str, namespace: str = "") -> Listing:  # type: ignore[override]  # it has the same fields
        found = super().list(resource, namespace)
        return Listing([*found.items], found.version)

    def play(self, action: Action, after_step: Callable[[], object] = lambda: None) -> None:
        """Play an action; a guess does nothing here. ``after_step`` is called after each change of the
        sandbox. Raises StatusError if the API refuses the action, NotReached."""
        if action.create is not None:
            self.create([action.create])
        elif action.apply is not None:
            self.patch_named(action.apply)
        elif action.delete:
            self.delete(*split_target(action.delete))
        elif action.scheduler is not None:
            self.configure(action.scheduler)
        after_step()
        if action.run is not None:
            self._run(action.run, after_step)

    def _run(self, run: Run, after_step: Callable[[], object]) -> None:
        end = self.now() + round(run.seconds * SECOND)
        pod = run.until.removeprefix("bound ") if run.until not in ("", "idle") else ""
        key = pod if "/" in pod else f"default/{pod}"
        self.run(f"bound {key} before {end}" if pod else f"before {end}", after_step)
        if pod and not self.is_bound(key):
            raise NotReached(f"{pod} is not bound after {run.seconds:g} s")
        if run.until == "":
            self.move_to(end)
            after_step()


@lru_cache(maxsize=CLUSTERS_HELD)
def _create_cluster(lesson: Lesson, start: Micros) -> list[Change]:
    """Return the creations of the lesson's objects and of those that each new cluster has. A lesson is played
    again and again."""
    return new_cluster(lesson.cluster.manifests, start, lesson.cluster.features)
