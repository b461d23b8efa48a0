"""What learners do wrong at a step: each act that the page of the step offers, derived from its cluster and
its solution."""

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from schedviz.lessons import evaluate
from schedviz.lessons.choose_hint import offers_restart
from schedviz.lessons.lesson import Action, Lesson, Run
from schedviz.lessons.offline import NotReached, OfflineSandbox
from schedviz.lessons.situation import KINDS, Situation, situation_of
from simulator.api import Manifest
from simulator.apiserver.status import StatusError
from simulator.scheduler.stepping import Unit

SETTLED_SECONDS = 60
"""The time after which the outcome of an act is known. Pods that wait for longer stay as they are."""
OTHER_CONFIGURATION: Manifest = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "multiPoint": {"disabled": [{"name": "DefaultPreemption"}, {"name": "NodeAffinity"}]}
            },
        }
    ],
}


class Learner:
    """A learner at a step of a lesson, whose steps before were done as their solutions do them. The sandbox
    is on the simulator; the page is looked at after each act."""

    def __init__(self, lesson: Lesson, step: int) -> None:
        self.lesson = lesson
        self.sandbox = OfflineSandbox(lesson)
        self.progress = evaluate.begin(lesson, lesson.name, self.sandbox.meta().created, 0)
        for each in lesson.steps[:step]:
            for action in each.solution:
                self.sandbox.play(action)
        self.go_to(step)

    @property
    def situation(self) -> Situation:
        return situation_of(self.sandbox, self.progress)

    @property
    def hint(self) -> str:
        """The hint that is shown, without its step and check."""
        return self.progress.hint.partition("/")[2].partition("/")[2]

    @property
    def complete(self) -> bool:
        """Whether the goals of the step are reached."""
        step = self.lesson.steps[self.progress.step]
        return all(self.progress.has_passed(step, check) for check in step.checks)

    @property
    def has_acted(self) -> bool:
        """Whether something has changed since the step was reached."""
        reached = self.progress.reached
        assert reached is not None
        is_changed = self.situation.changes != reached.changes
        return is_changed or self.situation.seconds != reached.seconds

    @property
    def is_offered_restart(self) -> bool:
        """Whether a hint is shown that offers to restart the step."""
        if not self.progress.hint:
            return False
        _, name, hint = self.progress.hint.split("/", 2)
        step = self.lesson.steps[self.progress.step]
        return offers_restart(next(each for each in step.checks if each.id == name), hint)

    def look(self) -> None:
        self.progress = evaluate.evaluate(self.lesson, self.progress, self.situation, 0)

    def go_to(self, step: int) -> None:
        self.progress = evaluate.go_to_step(self.lesson, self.progress, step, 0)
        self.look()

    def play(self, *actions: Action) -> None:
        """Play actions as far as it is possible."""
        for action in actions:
            with suppress(StatusError, NotReached):
                self.sandbox.play(action)
        self.look()

    def step_time(self, unit: Unit, count: int = 1) -> None:
        self.sandbox.step(unit, count)
        self.look()

    def settle(self) -> None:
        """Let time run until the outcome of what was done is known."""
        if not self.complete:
            self.play(Action(run=Run(until="idle", seconds=SETTLED_SECONDS)))


class Act(NamedTuple):
    kind: str
    """Acts of one kind are alike: of two acts in a row, the first one of each kind is tried."""
    name: str
    do: Callable[[Learner], object]


def acts_at(learner: Learner) -> Iterator[Act]:
    """Yield the acts that the page of the present step offers."""
    lesson, number = learner.lesson, learner.progress.step
    step, shown = lesson.steps[number], lesson.shown(number)
    for action in step.solution:
        if action.create is not None and "create" in shown:
            yield from _creations(action.create)
        elif action.apply is not None:
            yield from _changes(action.apply)
    if "create" in shown:
        extra = _pod("extra", {"requests": {"cpu": "2", "memory": "64Mi"}})
        yield _play("another pod", "create extra", Action(create=extra))
        yield _play("another configuration", "another configuration", Action(scheduler=OTHER_CONFIGURATION))
    if "clock" in shown:
        yield Act("time", "finish cycle", lambda each: each.step_time("cycle"))
        yield Act("time", "next event", lambda each: each.step_time("event"))
        yield _play("long time", "run 600 s", Action(run=Run(seconds=600)))
    for variable in KINDS:
        for name in learner.situation.objects(variable):
            if not name.startswith("system-"):
                act = Action(delete=f"{variable}/{name}")
                yield _play("delete", f"delete {name}", act)
    for name, node in learner.situation.objects("nodes").items():
        yield from _node_acts(name, node)


def _play(kind: str, name: str, *actions: Action) -> Act:
    return Act(kind, name, lambda learner: learner.play(*actions))


def _creations(right: Manifest) -> Iterator[Act]:
    name = right["metadata"]["name"]
    yield _play("right", f"create {name}", Action(create=right))
    yield _play("wrong name", f"create {name}{name[-1]}", Action(create=_named(right, name + name[-1])))
    for what, wrong in _variants(right):
        yield _play("wrong value", f"create {name} {what}", Action(create=wrong))


def _variants(right: Manifest) -> Iterator[tuple[str, Manifest]]:
    if right["kind"] != "Pod":
        labels = right["metadata"].get("labels", {})
        for key in labels:
            yield f"with another {key}", _changed(right, ["metadata", "labels", key], "other")
        if "value" in right:
            yield "with another value", _changed(right, ["value"], 7)
        return
    for field in right["spec"]:
        if field != "containers":
            yield f"without {field}", _changed(right, ["spec", field], None)
    resources = right["spec"]["containers"][0].get("resources", {})
    for field in resources:
        kept = {key: value for key, value in resources.items() if key != field}
        yield f"without {field}", _with_resources(right, kept)
    for cpu in ("100m", "3"):
        requests = {**resources.get("requests", {}), "cpu": cpu}
        yield f"with {cpu} CPU", _with_resources(right, {**resources, "requests": requests})


def _changes(right: Manifest) -> Iterator[Act]:
    name = right["metadata"]["name"]
    yield _play("right change", f"change {name}", Action(apply=right))
    for key, value in right["metadata"].get("labels", {}).items():
        wrong = _changed(right, ["metadata", "labels", key], value.upper())
        yield _play("wrong change", f"change {name} {key}={value.upper()}", Action(apply=wrong))


def _node_acts(name: str, node: Manifest) -> Iterator[Act]:
    def patch(**fields: Any) -> Action:
        named = {"name": name, **fields.pop("metadata", {})}
        return Action(apply={"apiVersion": "v1", "kind": "Node", "metadata": named, **fields})

    yield _play("a node", f"cordon {name}", patch(spec={"unschedulable": True}))
    taint = {"key": "other", "value": "x", "effect": "NoExecute"}
    yield _play("a node", f"taint {name}", patch(spec={"taints": [taint]}))
    for label in node["metadata"].get("labels", {}):
        if label.startswith("kubernetes.io/"):  # the kubelet's own
            continue
        yield _play("a node", f"change {label} of {name}", patch(metadata={"labels": {label: "other"}}))


def _pod(name: str, resources: Manifest) -> Manifest:
    container = {"name": "main", "image": "registry.example/app:1", "resources": resources}
    spec = {"containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _named(manifest: Manifest, name: str) -> Manifest:
    return _changed(manifest, ["metadata", "name"], name)


def _with_resources(pod: Manifest, resources: Manifest) -> Manifest:
    container = {**pod["spec"]["containers"][0], "resources": resources}
    return _changed(pod, ["spec", "containers"], [container])


def _changed(manifest: Manifest, path: list[str], value: object) -> Manifest:
    """Return a copy with another value at a path; None = without it."""
    found = copy.deepcopy(manifest)
    place = found
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return found
