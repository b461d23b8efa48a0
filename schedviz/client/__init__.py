"""The Python client: sandboxes in this process, without a server, and sandboxes of a server, by
the same methods (docs/PYTHON.md)."""

from schedviz.client.interface import Sandbox
from schedviz.client.local import LocalSandbox
from schedviz.client.make import sandbox
from schedviz.client.play import play
from schedviz.client.remote import RemoteSandbox, Server
from simulator.apiserver.status import StatusError
from simulator.explanation import Explanation, NodeVerdict
from simulator.memory_sandbox import NotReached
from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.eviction import Prevention

__all__ = [
    "Explanation",
    "LocalSandbox",
    "NodeVerdict",
    "NotReached",
    "Prevention",
    "RemoteSandbox",
    "Sandbox",
    "Server",
    "StatusError",
    "Suggestion",
    "WhatIfAnswer",
    "play",
    "sandbox",
]
