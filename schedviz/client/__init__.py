"""The Python client: sandboxes in this process, without a server (docs/PYTHON.md)."""

from schedviz.client.interface import Sandbox
from schedviz.client.local import LocalSandbox
from schedviz.client.make import sandbox
from simulator.apiserver.status import StatusError
from simulator.explanation import Explanation, NodeVerdict
from simulator.memory_sandbox import NotReached
from simulator.what_if.answer import Suggestion, WhatIfAnswer

__all__ = [
    "Explanation",
    "LocalSandbox",
    "NodeVerdict",
    "NotReached",
    "Sandbox",
    "StatusError",
    "Suggestion",
    "WhatIfAnswer",
    "sandbox",
]
