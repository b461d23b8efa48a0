"""The operations of the API: which methods each URL has, with the types of bodies and answers."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from schedviz import sandbox_documents as documents
from simulator.explanation import Explanation

Method = Literal["get", "post", "delete"]


class QueryParameter(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, Any]


class Operation(NamedTuple):
    id: str
    summary: str
    answer: Any = None
    """The type of the body of the response; None = no body."""
    body: Any = None
    status: int = 200
    query: tuple[QueryParameter, ...] = ()
    can_fail: bool = True
    """Whether it is answered with a Status otherwise."""


_CLOCK: Final = "Answered at once; the worker follows."
_EVENTS: Final = (
    QueryParameter("after", "only events after this number", {"type": "integer", "minimum": 0, "default": 0}),
    QueryParameter(
        "limit",
        "at most so many",
        {
            "type": "integer",
            "minimum": 1,
            "maximum": documents.EVENTS_AT_MOST,
            "default": documents.EVENTS_AT_MOST,
        },
    ),
)

OPERATIONS: Final[Mapping[str, Mapping[Method, Operation]]] = {
    "sandbox-openapi": {
        "get": Operation("readOpenApi", "This document", dict[str, Any], can_fail=False),
    },
    "sandbox-scenarios": {
        "get": Operation("listScenarios", "The bundled scenarios", documents.ScenarioList, can_fail=False),
    },
    "sandboxes": {
        "get": Operation("listSandboxes", "The sandboxes that you may see", documents.SandboxList),
        "post": Operation(
            "createSandbox",
            "Create a sandbox: empty, from a scenario, from manifests",
            documents.SandboxAnswer,
            documents.CreateRequest,
            201,
        ),
    },
    "one-sandbox": {
        "get": Operation("readSandbox", "A sandbox with its clock", documents.SandboxAnswer),
        "delete": Operation("deleteSandbox", "Delete a sandbox", status=204),
    },
    "sandbox-branches": {
        "post": Operation(
            "branchSandbox",
            "Create a branch, as the sandbox is now or was at a past moment",
            documents.SandboxAnswer,
            documents.BranchRequest,
            201,
        ),
    },
    "sandbox-objects": {
        "post": Operation(
            "createObjects",
            "Create the objects of manifests, all of them or none",
            documents.ObjectList,
            documents.ObjectsRequest,
            201,
        ),
    },
    "sandbox-pause": {
        "post": Operation("pauseSandbox", f"Stop simulated time. {_CLOCK}", documents.SandboxAnswer),
    },
    "sandbox-resume": {
        "post": Operation("resumeSandbox", f"Let simulated time run on. {_CLOCK}", documents.SandboxAnswer),
    },
    "sandbox-speed": {
        "post": Operation(
            "setSpeed",
            "Set the ratio of simulated time to wall time, or max",
            documents.SandboxAnswer,
            documents.SpeedRequest,
        ),
    },
    "sandbox-step": {
        "post": Operation(
            "stepSandbox", f"Pause, and take steps. {_CLOCK}", documents.SandboxAnswer, documents.StepRequest
        ),
    },
    "sandbox-run": {
        "post": Operation(
            "runSandbox",
            f"Let simulated time run until a condition holds, then pause. {_CLOCK}",
            documents.SandboxAnswer,
            documents.RunRequest,
        ),
    },
    "sandbox-trace": {
        "get": Operation("readTrace", "The trace, the oldest first", documents.TraceAnswer, query=_EVENTS),
    },
    "sandbox-explanation": {
        "get": Operation("explainPod", "Where a pod is and why", Explanation),
    },
    "sandbox-question": {
        "get": Operation(
            "readQuestion", "The question about a pod, and its answer", documents.QuestionAnswer
        ),
        "post": Operation(
            "askQuestion", "Ask which changes would let a pod run", documents.QuestionAnswer, status=202
        ),
    },
    "sandbox-preventions": {
        "get": Operation(
            "readPreventions", "The question about an evicted pod, and its answer", documents.QuestionAnswer
        ),
        "post": Operation(
            "askPreventions",
            "Ask what would have prevented the eviction of a pod",
            documents.QuestionAnswer,
            status=202,
        ),
    },
}
"""Name of the URL -> method -> operation."""
