"""The interface of a sandbox for programs, in this process or on a server."""

import builtins
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver.lookup import find_by_name
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import PODS
from simulator.explanation import Explanation
from simulator.kernel.prepared_types import prepared
from simulator.memory_sandbox import NotReached
from simulator.objects.durations import parse_duration
from simulator.objects.status import FINISHED_PHASES
from simulator.questions.ask import AnyAnswer
from simulator.questions.fields import QuestionFields, QuestionName
from simulator.scheduler.stepping import Unit
from simulator.trace import Event, Nominated
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.eviction import Prevention

E = TypeVar("E", bound=Event)
WITHIN = "1h"
"""Simulated time after which a run ends at the latest, if the call gives no other."""


class Sandbox(ABC):
    """A sandbox whose simulated time stands still between the calls. It is closed at the end of a ``with``
    block.

    Durations are written as ``400ms``, ``12s`` or ``1m30s``. A pod is named ``web``, ``namespace/web``, or by
    its manifest. A kind is any name that kubectl accepts: ``pod``, ``pods``, ``deployments.apps``. A request
    that the API server refuses raises StatusError, with its ``reason`` and ``code``."""

    name: str
    start: Micros
    """The simulated time from which :meth:`run_until` counts, in microseconds since the Unix epoch."""
    notes: Sequence[str] = ()
    """What of the arrivals is not played, or fits no node, each as a line."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End the use of the sandbox. A sandbox of a server is deleted if this program created it."""

    # Objects

    def create(self, manifest: Mapping[str, Any]) -> Manifest:
        """Create an object, and return it as it was stored."""
        [made] = self._create([{**manifest}])
        return made

    def load(self, source: str | Path) -> list[Manifest]:
        """Create the objects of a YAML or JSON text, or of a file: all of them, or none."""
        return self._create(parse_manifests(source.read_text() if isinstance(source, Path) else source))

    def get(self, kind: str, name: str, namespace: str = "default") -> Manifest:
        resource = resource_named(kind)
        return self._get(resource, namespace if resource.namespaced else "", name)

    def list(self, kind: str, namespace: str = "") -> builtins.list[Manifest]:
        """Return the objects of a kind. namespace: "" = of all namespaces."""
        found = self._list(resource_named(kind))
        return [each for each in found if namespace in ("", each["metadata"].get("namespace", ""))]

    def patch(self, kind: str, name: str, changes: Mapping[str, Any], namespace: str = "default") -> Manifest:
        """Apply a JSON merge patch, and return the object as it is now."""
        resource = resource_named(kind)
        return self._patch(resource, namespace if resource.namespaced else "", name, {**changes})

    def delete(
        self, kind: str, name: str, namespace: str = "default", *, grace_seconds: int | None = None
    ) -> None:
        resource = resource_named(kind)
        self._delete(resource, namespace if resource.namespaced else "", name, grace_seconds)

    def configure(self, config: Mapping[str, Any] | None) -> None:
        """Restart the scheduler with another KubeSchedulerConfiguration; None = the default one."""
        self._configure(None if config is None else {**config})

    def set_feature_gates(self, gates: Mapping[str, bool]) -> None:
        """Restart the scheduler with these feature gates set, the others at their default. Raises
        StatusError."""
        self._set_gates({**gates})

    # Time

    @property
    @abstractmethod
    def now(self) -> Micros:
        """The simulated time in microseconds since the Unix epoch, as ``t`` of the trace events."""

    @property
    def elapsed(self) -> timedelta:
        """The simulated time since the start."""
        return timedelta(microseconds=self.now - self.start)

    def run_for(self, duration: str) -> None:
        """Let a simulated time pass."""
        self._run("time", self.now + parse_duration(duration), "")

    def run_until(self, condition: str, *, pod: str | Mapping[str, Any] = "", within: str = WITHIN) -> None:
        """Let simulated time run until a condition holds, at most for the time ``within``. The condition:

        * a duration since the start of the sandbox (``30s``)
        * ``idle``: nothing is due any more
        * ``bound``: the ``pod`` is bound to a node
        * ``nothing-pending``: no pod waits to be scheduled, but those that are gated
        * ``preemption``: the next one

        Raises NotReached if ``bound``, ``nothing-pending`` or ``preemption`` does not come to hold;
        ValueError for another condition, and for a time that is over."""
        if condition not in ("idle", "bound", "nothing-pending", "preemption"):
            end = self.start + parse_duration(condition)
            if end < self.now:
                raise ValueError(f"{condition} after the start is over")
            self._run("time", end, "")
            return
        if (condition == "bound") != bool(pod):
            raise ValueError("the condition bound, and no other, needs a pod")
        key, head = pod_key(pod) if pod else "", self.trace_head()
        if condition == "nothing-pending":
            # The controllers have yet to create the pods of what was written just now.
            self._run("time", self.now, "")
        self._run(condition, self.now + parse_duration(within), key)
        if not self._holds(condition, key, head):
            raise NotReached(f"{condition} {key}".strip() + f": not within {within}")

    def _holds(self, condition: str, pod: str, head: int) -> bool:
        match condition:
            case "bound":
                namespace, _, name = pod.partition("/")
                return bool(self._get(PODS, namespace, name)["spec"].get("nodeName"))
            case "nothing-pending":
                return not any(is_pending(each) for each in self._list(PODS))
            case "preemption":
                return bool(self.trace(Nominated, after=head))
        return True

    @abstractmethod
    def step(self, unit: Unit = "cycle", count: int = 1) -> None:
        """Take steps: ``point``, the next extension point; ``cycle``, a whole scheduling cycle; ``event``,
        what is due next; ``decision``."""

    # The scheduler

    def explain(self, pod: str | Mapping[str, Any]) -> Explanation:
        """Explain where a pod is and why. Raises StatusError (NotFound) for a pod that never existed."""
        return self._explain(pod_key(pod))

    def what_if(self, pod: str | Mapping[str, Any]) -> WhatIfAnswer:
        """Return the smallest single changes that would let a pending pod run. Each was tried on a copy."""
        return self._what_if(pod_key(pod))

    def preventions(self, pod: str | Mapping[str, Any]) -> builtins.list[Prevention]:
        """Return the changes that would have prevented the eviction of a pod. Each was tried on the cluster
        as it was before the cycle of the preemptor. Raises StatusError (NotFound) for a pod that was not
        evicted."""
        return self._preventions(pod_key(pod))

    def ask(self, question: QuestionName, **fields: Any) -> AnyAnswer:
        """Ask about the whole cluster, on a copy: ``fits``, ``more``, ``drain``, ``removable``, ``add`` or
        ``evictions``. fields: those of :class:`simulator.questions.fields.QuestionFields`, such as
        ``manifests=[...]``. Raises ValueError for wrong ones, StatusError for a refused manifest."""
        return self._ask_cluster(msgspec.convert({"question": question, **fields}, prepared(QuestionFields)))

    def trace(
        self,
        kind: type[E] = Event,  # type: ignore[assignment]  # the default means all events
        *,
        pod: str | Mapping[str, Any] = "",
        after: int = 0,
    ) -> builtins.list[E]:
        """Return the trace events (:mod:`simulator.trace`), the oldest first. kind: only those of this class.
        pod: only those of this pod. after: only those after this number (:meth:`trace_head`)."""
        return [event for _, event in self.numbered_trace(kind, pod=pod, after=after)]

    def numbered_trace(
        self,
        kind: type[E] = Event,  # type: ignore[assignment]  # as above
        *,
        pod: str | Mapping[str, Any] = "",
        after: int = 0,
    ) -> builtins.list[tuple[int, E]]:
        """Return the events of :meth:`trace` with their numbers, which :meth:`branch` takes. The first number
        of a sandbox of a server is greater than 1 if there was a sandbox of the same name before."""
        key = pod_key(pod) if pod else ""
        return [
            (number, event)
            for number, event in self._trace(max(after, 0))
            if isinstance(event, kind) and key in ("", getattr(event, "pod", ""))
        ]

    @abstractmethod
    def trace_head(self) -> int:
        """Return the number of the last trace event."""

    @abstractmethod
    def branch(self, at: int | None = None) -> "Sandbox":
        """Return a new sandbox in the state of this one, now or after the trace event with this number."""

    # What each kind of sandbox does in its own way

    @abstractmethod
    def _create(self, documents: Sequence[Manifest]) -> builtins.list[Manifest]: ...
    @abstractmethod
    def _get(self, resource: Resource, namespace: str, name: str) -> Manifest: ...
    @abstractmethod
    def _list(self, resource: Resource) -> builtins.list[Manifest]: ...
    @abstractmethod
    def _patch(self, resource: Resource, namespace: str, name: str, changes: Manifest) -> Manifest: ...
    @abstractmethod
    def _delete(self, resource: Resource, namespace: str, name: str, grace_seconds: int | None) -> None: ...
    @abstractmethod
    def _configure(self, config: Manifest | None) -> None: ...
    @abstractmethod
    def _set_gates(self, gates: dict[str, bool]) -> None: ...
    @abstractmethod
    def _run(self, until: str, end: Micros, pod: str) -> None: ...
    @abstractmethod
    def _explain(self, pod: str) -> Explanation: ...
    @abstractmethod
    def _what_if(self, pod: str) -> WhatIfAnswer: ...
    @abstractmethod
    def _preventions(self, pod: str) -> builtins.list[Prevention]: ...
    @abstractmethod
    def _ask_cluster(self, fields: QuestionFields) -> AnyAnswer: ...
    @abstractmethod
    def _trace(self, after: int) -> Sequence[tuple[int, Event]]: ...


def resource_named(kind: str) -> Resource:
    """Return the resource of that name. Raises ValueError."""
    found = find_by_name(kind)
    if found is None:
        raise ValueError(f"there is no kind {kind!r}")
    return found


def pod_key(pod: str | Mapping[str, Any]) -> str:
    """Return the key of a pod: ``namespace/name``."""
    if isinstance(pod, str):
        return pod if "/" in pod else f"default/{pod}"
    metadata = pod["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"


def is_pending(pod: Manifest) -> bool:
    """Whether it waits to be scheduled."""
    spec, phase = pod["spec"], (pod.get("status") or {}).get("phase", "")
    waits = not spec.get("nodeName") and phase not in FINISHED_PHASES
    return waits and not spec.get("schedulingGates") and not pod["metadata"].get("deletionTimestamp")
