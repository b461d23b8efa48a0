"""Begins watches of nodes as a request does."""

from django.http import StreamingHttpResponse
from django.test import RequestFactory

from schedviz.access.standing import Standing
from schedviz.api import body
from schedviz.api import watch as module
from schedviz.api.representation import Representation
from schedviz.api.target import Target
from schedviz.store import Sandbox
from simulator.apiserver.list_options import ListOptions
from simulator.apiserver.resources import NODES


def watch_nodes(sandbox: Sandbox, **query: str) -> StreamingHttpResponse:
    """The response of a watch. query: the parameters beside ``watch``."""
    request = RequestFactory().get("/", {"watch": "1", **query})
    return module.watch(
        sandbox,
        NODES,
        Target("", "v1", "nodes"),
        ListOptions.of(body.query(request)),
        selected=None,
        form=Representation.of(request),
        standing=Standing(sandbox.name, None),
    )
