"""The bodies of requests and answers of the API for sandboxes (:mod:`schedviz.sandbox_api`), for the server
and the client. Its OpenAPI document is made of these types."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from simulator.arrivals.play_run import PlayedFigures
from simulator.questions.ask import AnyAnswer
from simulator.questions.fields import QuestionFields
from simulator.queueing.queue_version import QueueVersion
from simulator.scheduler.stepping import Unit
from simulator.trace import AnyEvent
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.eviction import Prevention

PATH: Final = "/api/sandboxes"
PLAYED_PATH: Final = "/api/played"
EVENTS_AT_MOST: Final = 1_000
"""Maximum number of trace events of one answer: about 200 kB."""
STEPS_AT_MOST: Final = 1_000
"""Maximum number of pending steps of a sandbox."""

Name = Annotated[str, msgspec.Meta(max_length=63, description="a DNS label")]
Duration = Annotated[
    str, msgspec.Meta(max_length=32, examples=["400ms", "30s", "1m30s"], description="of simulated time")
]
Micros = Annotated[
    int, msgspec.Meta(description="simulated time, in microseconds since the Unix epoch, as in the trace")
]
FeatureGates = Annotated[
    dict[str, bool],
    msgspec.Meta(max_length=300, description="the feature gates that are set; the others have their default"),
]
Condition = Literal["time", "idle", "nothing-pending", "preemption", "bound"]


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request."""


class WorkloadFiles(Request, frozen=True):
    """The files of a workload (docs/PLAY.md)."""

    arrivals: str = ""
    """The arrivals, as text."""
    arrivals_base64: bytes = b""
    """The arrivals, instead: any file that is read, also gzipped, in base64."""
    nodes: str = ""
    nodes_base64: bytes = b""


class CreateRequest(WorkloadFiles, frozen=True):
    """A new sandbox. Fields that are left out are those of the scenario. With arrivals, it has no scenario
    and no manifests: the file of nodes may have further objects."""

    name: Name = ""
    """The name of the sandbox; "" = a free one, made of the scenario's name."""
    scenario: str = ""
    """The name of the scenario; "" = an empty cluster."""
    title: Annotated[str, msgspec.Meta(max_length=200)] = ""
    manifests: list[dict[str, Any]] | str = []
    """Further objects; a string is YAML or JSON."""
    config: dict[str, Any] | UnsetType = UNSET
    """A KubeSchedulerConfiguration."""
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] | UnsetType = UNSET
    pace: Duration | UnsetType = UNSET
    queue: QueueVersion | UnsetType = UNSET
    kubernetes: Annotated[str, msgspec.Meta(max_length=32, examples=["v1.36"])] = ""
    """The version of Kubernetes."""
    feature_gates: FeatureGates = {}
    stands_down: bool = False
    """Whether its scheduler leaves all pods to outside schedulers."""
    paused: bool = False
    anyway: bool = False
    """Whether it is created although pods of the arrivals fit no node."""


class BranchRequest(Request, frozen=True):
    name: Name = ""
    """The name of the branch; "" = a free one, made of the sandbox's name."""
    at: Annotated[int, msgspec.Meta(ge=1, lt=1 << 53)] | None = None
    """The number of the trace event after which the branch begins; null = as the sandbox is now."""


class SpeedRequest(Request, frozen=True):
    speed: Annotated[float, msgspec.Meta(ge=0.1, le=100)] | Literal["max"]


class StepRequest(Request, frozen=True):
    unit: Unit = "cycle"
    count: Annotated[int, msgspec.Meta(ge=1, le=STEPS_AT_MOST)] = 1


class RunRequest(Request, frozen=True):
    """The condition time: until the simulated time, or for the duration. The others end after the duration
    at the latest."""

    until: Condition = "time"
    time: Annotated[Micros, msgspec.Meta(ge=0, lt=1 << 53)] | None = None
    duration: Duration | None = msgspec.field(name="for", default=None)
    pod: str = ""
    """The pod (``namespace/name``) of the condition ``bound``."""


class ObjectsRequest(Request, frozen=True):
    manifests: list[dict[str, Any]] | str
    """The manifests, as objects; as a string, YAML or JSON."""


class SandboxOrigin(msgspec.Struct, frozen=True):
    """The sandbox and the moment of which a branch was made."""

    sandbox: str
    seq: int
    """The number of the last trace event at that moment; 0 = there was none yet."""
    time: Micros
    change: str = ""
    """What was changed when the branch was created; "" = nothing."""


class SandboxMirror(msgspec.Struct, frozen=True):
    """The real cluster that a mirror follows. Nothing here changes a mirror: it can be branched."""

    context: str
    server: str
    version: str
    unknown: list[str]
    """What could not be read, and what is unknown thereby."""


class SandboxSummary(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    scenario: str
    created: str
    """Wall time."""
    right: Literal["view", "edit", "own"]
    """The right of the visitor."""
    kubernetes: str
    """The version of Kubernetes, with its patch."""
    paused: bool
    nodes: int
    pods: int
    pending: int
    """Pods in the scheduling queue."""


class SandboxAnswer(SandboxSummary, frozen=True, kw_only=True):
    summary: str
    seed: int
    pace: Duration
    queue: QueueVersion
    feature_gates: FeatureGates
    stands_down: bool
    """Whether its scheduler leaves all pods to outside schedulers."""
    origin: SandboxOrigin | None
    mirror: SandboxMirror | None
    """Its ``failure`` says why it does not show the present state of the cluster; "" = it does."""
    time: Micros
    speed: float | Literal["max"]
    until: str
    """The condition at which the clock is paused; "" = none."""
    steps: int
    """Pending steps."""
    observed: bool
    """Whether the scheduler has observed all that was written."""
    late: bool
    """Whether the loop is behind the clock."""
    failure: str
    """The error of the loop; "" = none."""
    last_event: int
    """The number of the last trace event."""
    last_cycle: int
    page: str
    kubernetes_api: str
    """The path under which Kubernetes' API is served."""


class CreatedSandbox(SandboxAnswer, frozen=True, kw_only=True):
    notes: list[str]
    """What of its arrivals is not played, or fits no node, each as a line."""


class SandboxList(msgspec.Struct, frozen=True):
    items: list[SandboxSummary]


class ScenarioSummary(msgspec.Struct, frozen=True):
    name: str
    title: str
    summary: str


class ScenarioList(msgspec.Struct, frozen=True):
    items: list[ScenarioSummary]


class ObjectList(msgspec.Struct, frozen=True):
    items: list[dict[str, Any]]
    """The objects as they were stored."""


class NumberedEvent(msgspec.Struct, frozen=True):
    seq: int
    event: AnyEvent


class TraceAnswer(msgspec.Struct, frozen=True):
    items: list[NumberedEvent]
    last: int
    """The number of the sandbox's last trace event: there are more if it is greater than that of the last
    item."""


class QuestionAnswer(msgspec.Struct, frozen=True):
    """A question, and its answer when ``state`` is ``done``."""

    state: Literal["waiting", "running", "done", "stopped", "late", "failed"]
    done: int
    """Stages of ``total``."""
    total: int
    tried: int
    """Changes that were tried."""
    trouble: str
    """The reason of a failure; "" = the question has not failed."""
    answer: WhatIfAnswer | None
    """The changes that would let the pod run."""
    preventions: list[Prevention]
    """The changes that would have prevented its eviction."""


class ClusterQuestion(QuestionFields, Request, frozen=True, forbid_unknown_fields=True):
    """A question about the whole cluster (docs/QUESTIONS.md)."""


class ClusterAnswer(msgspec.Struct, frozen=True):
    """A question about the whole cluster, and what was found; all of it when ``state`` is ``done``."""

    id: str
    state: Literal["waiting", "running", "done", "stopped", "late", "failed"]
    done: float
    """How much of the work is done, 1.0 = all."""
    trouble: str
    """The reason of a failure; "" = the question has not failed."""
    answer: AnyAnswer | None


class PlayedSide(Request, frozen=True):
    """A scheduler that plays a workload."""

    config: dict[str, Any] | UnsetType = UNSET
    """A KubeSchedulerConfiguration, instead of that of the file or the default one."""
    queue: QueueVersion = QueueVersion.KUBERNETES
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] | UnsetType = UNSET
    kubernetes: Annotated[str, msgspec.Meta(max_length=32, examples=["v1.36"])] = ""
    """The version of Kubernetes."""
    feature_gates: FeatureGates = {}


class PlayRequest(WorkloadFiles, frozen=True):
    """A workload to play."""

    title: Annotated[str, msgspec.Meta(max_length=100)] = ""
    pace: Duration | UnsetType = UNSET
    """The simulated time of a scheduling cycle."""
    until: Annotated[str, msgspec.Meta(max_length=32, examples=["90m"])] = ""
    """The simulated time to play; "" = an hour longer than the last pod."""
    a: PlayedSide = PlayedSide()
    b: PlayedSide | None = None
    """A second scheduler, to compare; null = there is none."""


class PlayAnswer(msgspec.Struct, frozen=True):
    """A workload that is played, and what was played until now; all of it when ``state`` is ``done``."""

    id: str
    state: Literal["waiting", "running", "done", "stopped", "late", "failed"]
    done: float
    """How much of the simulated time is done, 1.0 = all."""
    trouble: str
    """The reason of a failure; "" = it has not failed."""
    notes: list[str]
    """What of the file is not played, or fits no node, each as a line."""
    page: str
    """The path of the page with the pictures."""
    result: PlayedFigures | None


class StatusCause(msgspec.Struct, frozen=True, omit_defaults=True):
    field: str = ""
    message: str = ""
    reason: str = ""


class StatusDetails(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    name: str = ""
    group: str = ""
    kind: str = ""
    causes: list[StatusCause] = []
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An error, as Kubernetes has it."""

    kind: Literal["Status"]
    api_version: Literal["v1"]
    metadata: dict[str, Any]
    status: Literal["Failure"]
    message: str
    reason: str = ""
    code: int
    details: StatusDetails = StatusDetails()
