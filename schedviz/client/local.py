"""A sandbox in this process: the simulator alone, without a server and without waiting."""

import builtins
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from schedviz.client.interface import Sandbox
from simulator.api import Manifest, Micros
from simulator.apiserver.lookup import with_resources
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import PODS
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import Cause, Invalid, NotFound
from simulator.apiserver.value_causes import with_value
from simulator.config import ConfigError
from simulator.explanation import Explanation, explain_pod
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.plugins.registry import load, profiles
from simulator.questions.answer import AskedCluster
from simulator.questions.ask import AnyAnswer
from simulator.questions.evictions import evictions_of_trace, owners_of, sum_evictions
from simulator.questions.fields import QuestionFields, begin_question
from simulator.scheduler.stepping import Unit, run_condition
from simulator.trace import CycleStarted, Event
from simulator.versions.feature_gates import FeatureGateError
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.eviction import Prevention, find_preventions
from simulator.what_if.gang import turns_of
from simulator.what_if.rivals import with_rivals
from simulator.what_if.search import search
from simulator.what_if.situation import Situation

Act = Callable[[MemorySandbox], object]
"""A change of a sandbox."""


class LocalSandbox(Sandbox):
    """A sandbox in the memory of this process. The same calls give the same trace, byte for byte."""

    def __init__(self, options: SandboxOptions) -> None:
        """Raises StatusError for a manifest that admission refuses, ConfigError for a configuration with
        which the scheduler would not start."""
        self.name = options.name
        self.start = options.start
        self.memory = MemorySandbox(options)
        self._acts: list[Act] = []

    def close(self) -> None:
        self._acts = []

    @property
    def now(self) -> Micros:
        return self.memory.now()

    def step(self, unit: Unit = "cycle", count: int = 1) -> None:
        self._do(lambda memory: memory.step(unit, count))

    def trace_head(self) -> int:
        return len(self.memory.trace())

    def branch(self, at: int | None = None) -> "LocalSandbox":
        """Create a branch by the same calls. Its state after a trace event is that after the step of the
        simulator which the event belongs to. Raises ValueError for an event that there is not."""
        if at is not None and not 0 <= at <= self.trace_head():
            raise ValueError(f"there is no trace event {at}")
        made = LocalSandbox(self.memory.options)
        for act in self._acts:
            if at is not None and made.trace_head() >= at:
                break
            made.memory.stops_at = at
            made._do(act)
        made.memory.stops_at = None
        return made

    def _do(self, act: Act) -> None:
        """Change the sandbox, and note how: a branch repeats it. What is refused changes nothing."""
        act(self.memory)
        self._acts.append(act)

    def _create(self, documents: Sequence[Manifest]) -> builtins.list[Manifest]:
        made: list[Manifest] = []

        def create(memory: MemorySandbox) -> None:
            made[:] = memory.create(documents)

        self._do(create)
        return [*made]

    def _get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        found = self.memory.get(resource.id, resource.key(namespace, name))
        if found is None:
            raise NotFound(resource.id, name)
        return found

    def _list(self, resource: Resource) -> builtins.list[Manifest]:
        return [*self.memory.list(resource.id).items]

    def _patch(self, resource: Resource, namespace: str, name: str, changes: Manifest) -> Manifest:
        key = resource.key(namespace, name)
        self._do(lambda memory: memory.patch(resource, key, changes))
        return self._get(resource, namespace, name)

    def _delete(self, resource: Resource, namespace: str, name: str, grace_seconds: int | None) -> None:
        key = resource.key(namespace, name)
        self._do(lambda memory: memory.delete(resource, key, grace_seconds=grace_seconds))

    def _configure(self, config: Manifest | None) -> None:
        self._restart(lambda memory: memory.configure(config), config)

    def _set_gates(self, gates: dict[str, bool]) -> None:
        self._restart(lambda memory: memory.set_gates(gates))

    def _restart(self, act: Act, config: Manifest | None = None) -> None:
        try:
            self._do(act)
            return
        except ConfigError as error:
            causes = [with_value(config or {}, path, message) for path, message in error.causes]
        except FeatureGateError as error:
            causes = [Cause("featureGates", str(error))]
        raise Invalid("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", self.name, causes)

    def _run(self, until: str, end: Micros, pod: str) -> None:
        self._do(partial(MemorySandbox.run, condition=run_condition(until, end, pod)))

    def _explain(self, pod: str) -> Explanation:
        memory = self.memory
        about = [event for _, event in memory.trace() if getattr(event, "pod", "") == pod]
        try:
            return explain_pod(pod, memory, about)
        except LookupError:
            raise NotFound(PODS.id, pod.rpartition("/")[2]) from None

    def _what_if(self, pod: str) -> WhatIfAnswer:
        memory = self.memory
        manifest = memory.get(PODS.id, pod)
        if manifest is None:
            raise NotFound(PODS.id, pod.rpartition("/")[2])
        situation = _situation(memory, manifest, memory.last_cycle() + 1)
        turns = turns_of(situation.pod.pod_group, (event for _, event in reversed(memory.trace())))
        with serving(memory.features):
            answer = next(found for found in search(situation, turns) if isinstance(found, WhatIfAnswer))
        pods = [*memory.list_all()[PODS.id].values()]
        return replace(answer, suggestions=with_rivals(situation, answer.suggestions, pods))

    def _preventions(self, pod: str) -> builtins.list[Prevention]:
        cycle = self._explain(pod).evicted_in
        if not cycle:
            raise NotFound("evictions", pod)
        numbered = self.memory.trace()
        began = next(n for n, each in numbered if isinstance(each, CycleStarted) and each.cycle == cycle)
        before, preemptor = self.branch(at=began - 1).memory, self._explain(pod).preemptor
        return [*find_preventions(_situation(before, before.list_all()[PODS.id][preemptor], cycle), pod)]

    def _ask_cluster(self, fields: QuestionFields) -> AnyAnswer:
        memory = self.memory
        if fields.question == "evictions":
            events = (event for _, event in memory.trace())
            return sum_evictions(*evictions_of_trace(events), owners_of(memory.list_all()))
        seed, objects = memory.options.seed, memory.list_all()
        question = begin_question(
            AskedCluster(objects, memory.config(), memory.features, seed, memory.now()), fields
        )
        for _ in question.run():
            pass
        return question.answer()

    def _trace(self, after: int) -> Sequence[tuple[int, Event]]:
        return self.memory.trace(after)


def _situation(memory: MemorySandbox, pod: Manifest, cycle: int) -> Situation:
    """Return the cluster as it is, with a pod that the cycle with this number is about."""
    return Situation.read(
        with_resources(memory, memory.list_all()),
        pod,
        profiles(load(memory.config(), features=memory.features)),
        seed=memory.options.seed,
        cycle=cycle,
    )
