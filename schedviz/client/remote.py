"""Sandboxes of a server, by its APIs."""

import builtins
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import quote

from msgspec import UNSET

from schedviz.client.connection import Connection
from schedviz.client.interface import Sandbox
from schedviz.sandbox_documents import (
    EVENTS_AT_MOST,
    PATH,
    PLAYED_PATH,
    BranchRequest,
    ClusterAnswer,
    CreatedSandbox,
    CreateRequest,
    ObjectList,
    ObjectsRequest,
    PlayAnswer,
    PlayRequest,
    QuestionAnswer,
    SandboxAnswer,
    SandboxList,
    SpeedRequest,
    StepRequest,
    TraceAnswer,
)
from simulator.api import Manifest, Micros
from simulator.apiserver.resource import Resource
from simulator.arrivals.play_run import PlayedFigures
from simulator.explanation import Explanation
from simulator.objects.durations import format_duration
from simulator.questions.ask import AnyAnswer
from simulator.questions.fields import QuestionFields
from simulator.scenario import Scenario
from simulator.scheduler.stepping import Unit
from simulator.trace import Event
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.eviction import Prevention

T = TypeVar("T")
FIRST_POLL_SECONDS: Final = 0.02
LAST_POLL_SECONDS: Final = 0.5
"""The longest interval between two requests of a wait, which become rarer with time."""
WAIT_SECONDS: Final = 120.0
"""Wall time after which a wait for the worker is given up."""

PLAY_SECONDS: Final = 900.0
"""The same for a workload, which waits for others and takes minutes itself."""


class Server:
    """A server of schedviz."""

    def __init__(self, url: str, token: str = "") -> None:
        """token: the token of a link to a sandbox (docs/SHARING.md); "" = the program owns the sandboxes that
        it creates, as long as this object exists. Raises ValueError for an address that is no URL."""
        self._connection = Connection(url, token)

    def sandboxes(self) -> list[str]:
        """Return the names of the sandboxes that the program may see."""
        found = self._connection.ask(SandboxList, "GET", PATH)
        return [each.name for each in found.items]

    def open(self, name: str) -> "RemoteSandbox":
        """Return a sandbox that exists. It is paused; closing it changes nothing. Its start is its time
        now."""
        sandbox = RemoteSandbox(self._connection, name, closes=False)
        sandbox.pause()
        return sandbox.begin()

    def play(self, asked: PlayRequest) -> PlayedFigures:
        """Have a workload played, and return the result. Raises StatusError for a file that cannot be read,
        RuntimeError for a workload that was not played to its end."""
        found = self._connection.ask(PlayAnswer, "POST", PLAYED_PATH, asked)
        found = poll(
            "the workload is played",
            lambda: self._connection.ask(PlayAnswer, "GET", f"{PLAYED_PATH}/{found.id}"),
            lambda answer: answer.state not in ("waiting", "running"),
            PLAY_SECONDS,
        )
        if found.state != "done" or found.result is None:
            raise RuntimeError(f"the workload is {found.state}: {found.trouble}")
        return found.result

    def create(
        self,
        scenario: Scenario,
        name: str = "",
        arrivals: bytes = b"",
        nodes: bytes = b"",
        *,
        anyway: bool = False,
    ) -> "RemoteSandbox":
        """Return a new sandbox, which is deleted when it is closed. name: "" = one that the server chooses.
        arrivals, nodes: the files of a workload to play in it, ``anyway`` also if pods fit no node."""
        asked = CreateRequest(
            name=name,
            title=scenario.title,
            manifests=scenario.manifests,
            config=UNSET if scenario.config is None else scenario.config,
            seed=scenario.seed,
            pace=format_duration(scenario.pace),
            queue=scenario.queue,
            kubernetes=scenario.features.version.patch,
            feature_gates=scenario.features.gates,
            paused=True,
            arrivals_base64=arrivals,
            nodes_base64=nodes,
            anyway=anyway,
        )
        made = self._connection.ask(CreatedSandbox, "POST", PATH, asked)
        sandbox = RemoteSandbox(self._connection, made.name, closes=True)
        sandbox.notes = made.notes
        return sandbox.begin()


class RemoteSandbox(Sandbox):
    """A sandbox of a server. Its time moves as fast as the worker of the server can follow."""

    def __init__(self, connection: Connection, name: str, *, closes: bool) -> None:
        """closes: whether it is deleted when it is closed."""
        self.name = name
        self.start = 0
        self._connection = connection
        self._closes = closes
        self._path = f"{PATH}/{quote(name, safe='')}"

    def begin(self) -> "RemoteSandbox":
        self._connection.send("POST", f"{self._path}/speed", SpeedRequest("max"))
        self.start = self.now
        return self

    def close(self) -> None:
        if self._closes:
            self._connection.send("DELETE", self._path)
            self._closes = False

    def describe(self) -> SandboxAnswer:
        """Return the sandbox as the server describes it."""
        return self._connection.ask(SandboxAnswer, "GET", self._path)

    @property
    def url(self) -> str:
        """The URL of its page."""
        return f"{self._connection.url}/s/{self.name}/"

    @property
    def now(self) -> Micros:
        return self.describe().time

    # Time that runs by itself, on the server only

    def pause(self) -> None:
        self._connection.send("POST", f"{self._path}/pause")
        self._wait_for("the sandbox stands still", lambda found: found.paused and found.observed)

    def resume(self) -> None:
        self._connection.send("POST", f"{self._path}/resume")

    def set_speed(self, speed: float) -> None:
        self._connection.send("POST", f"{self._path}/speed", SpeedRequest(speed))

    # As all sandboxes

    def step(self, unit: Unit = "cycle", count: int = 1) -> None:
        self._connection.send("POST", f"{self._path}/step", StepRequest(unit, count))
        self._wait_for("the steps are taken", lambda found: not found.steps and found.observed)

    def trace_head(self) -> int:
        return self.describe().last_event

    def branch(self, at: int | None = None) -> "RemoteSandbox":
        """Create a branch, which is deleted when it is closed. Without ``at``, its scheduler queues the
        pending pods again."""
        asked = BranchRequest(at=at)
        made = self._connection.ask(SandboxAnswer, "POST", f"{self._path}/branches", asked)
        branch = RemoteSandbox(self._connection, made.name, closes=True).begin()
        branch.start = self.start
        return branch

    def _create(self, documents: Sequence[Manifest]) -> builtins.list[Manifest]:
        asked = ObjectsRequest([*documents])
        return self._connection.ask(ObjectList, "POST", f"{self._path}/objects", asked).items

    def _get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        return self._connection.ask(dict[str, Any], "GET", self._object_path(resource, namespace, name))

    def _list(self, resource: Resource) -> builtins.list[Manifest]:
        found = self._connection.ask(dict[str, Any], "GET", self._object_path(resource, "", ""))
        # The items of a list do not say what they are.
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        return [kind | item for item in found["items"]]

    def _patch(self, resource: Resource, namespace: str, name: str, changes: Manifest) -> Manifest:
        path = self._object_path(resource, namespace, name)
        self._connection.send("PATCH", path, changes, content_type="application/merge-patch+json")
        return self._get(resource, namespace, name)

    def _delete(self, resource: Resource, namespace: str, name: str, grace_seconds: int | None) -> None:
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        self._connection.send("DELETE", self._object_path(resource, namespace, name), options)

    def _object_path(self, resource: Resource, namespace: str, name: str) -> str:
        root = "apis" if resource.group else "api"
        place = f"namespaces/{quote(namespace, safe='')}/" if namespace else ""
        path = f"/s/{self.name}/{root}/{resource.api_version}/{place}{resource.plural}"
        return f"{path}/{quote(name, safe='')}" if name else path

    def _configure(self, config: Manifest | None) -> None:
        self._connection.send("PATCH", f"/s/{self.name}/scheduler", {"configuration": config})

    def _set_gates(self, gates: dict[str, bool]) -> None:
        self._connection.send("PATCH", f"/s/{self.name}/scheduler", {"featureGates": gates})

    def _run(self, until: str, end: Micros, pod: str) -> None:
        # What was written before happens before time moves.
        found = self._wait_for("the scheduler observes what was written", lambda found: found.observed)
        asked: dict[str, Any] = {"until": until} | ({"pod": pod} if pod else {})
        asked |= {"time": end} if until == "time" else {"for": f"{(end - found.time)}us"}
        self._connection.send("POST", f"{self._path}/run", asked)
        self._wait_for("the run ends", lambda found: found.paused)

    def _explain(self, pod: str) -> Explanation:
        return self._connection.ask(Explanation, "GET", f"{self._pod_path(pod)}/explanation")

    def _what_if(self, pod: str) -> WhatIfAnswer:
        answer = self._ask(f"{self._pod_path(pod)}/question").answer
        assert answer is not None, "a question that is done has it"
        return answer

    def _preventions(self, pod: str) -> builtins.list[Prevention]:
        return self._ask(f"{self._pod_path(pod)}/preventions").preventions

    def _ask(self, path: str) -> QuestionAnswer:
        """Ask a question, and wait for its answer. Raises RuntimeError for a question that has no answer."""
        self._connection.send("POST", path)
        found = self._poll(
            "the question is answered",
            lambda: self._connection.ask(QuestionAnswer, "GET", path),
            lambda found: found.state not in ("waiting", "running"),
        )
        if found.state != "done":
            raise RuntimeError(f"the question is {found.state}: {found.trouble}")
        return found

    def _ask_cluster(self, fields: QuestionFields) -> AnyAnswer:
        path = f"{self._path}/questions"
        asked = self._connection.ask(ClusterAnswer, "POST", path, fields)
        found = self._poll(
            "the question is answered",
            lambda: self._connection.ask(ClusterAnswer, "GET", f"{path}/{asked.id}"),
            lambda found: found.state not in ("waiting", "running"),
        )
        if found.answer is None:
            raise RuntimeError(f"the question is {found.state}: {found.trouble}")
        return found.answer

    def _pod_path(self, pod: str) -> str:
        namespace, _, name = pod.partition("/")
        return f"{self._path}/pods/{quote(namespace, safe='')}/{quote(name, safe='')}"

    def _trace(self, after: int) -> Sequence[tuple[int, Event]]:
        events: builtins.list[tuple[int, Event]] = []
        while True:
            path = f"{self._path}/trace?after={after}&limit={EVENTS_AT_MOST}"
            found = self._connection.ask(TraceAnswer, "GET", path)
            events += [(each.seq, each.event) for each in found.items]
            if not found.items or found.items[-1].seq >= found.last:
                return events
            after = found.items[-1].seq

    def _wait_for(self, what: str, done: Callable[[SandboxAnswer], bool]) -> SandboxAnswer:
        """Wait until the sandbox is in a state. Raises TimeoutError; RuntimeError if the loop of the sandbox
        has failed."""

        def is_over(found: SandboxAnswer) -> bool:
            if found.failure:
                raise RuntimeError(f"the loop of {self.name} has failed: {found.failure}")
            return done(found)

        return self._poll(what, self.describe, is_over)

    def _poll(self, what: str, read: Callable[[], T], done: Callable[[T], bool]) -> T:
        return poll(f"{self.name}: {what}", read, done)


def poll(what: str, read: Callable[[], T], done: Callable[[T], bool], seconds: float = WAIT_SECONDS) -> T:
    """Read until it is done, and return what was read last. Raises TimeoutError after some wall time."""
    given_up, pause = time.monotonic() + seconds, FIRST_POLL_SECONDS
    while True:
        found = read()
        if done(found):
            return found
        if time.monotonic() > given_up:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)
        pause = min(pause * 1.5, LAST_POLL_SECONDS)
