"""What can be taken away from a sandbox: its objects, as they are or to be applied, and a picture of its
nodes. The recording and the trace have paths of their own (:mod:`schedviz.api.views`)."""

from collections.abc import Iterable, Iterator

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from schedviz.store import Sandbox
from schedviz.web.scenarios import told
from schedviz.web.stage import WARM
from schedviz.web.view import drawing
from schedviz.web.view.load import load
from schedviz.web.view.nodes import summary
from schedviz.web.view.picture import WATCHED
from schedviz.web.view.priority import SYSTEM_RANK
from schedviz.web.view.yaml import to_yaml
from schedviz.web.views.page import find, panel
from simulator.api import Manifest, bare
from simulator.apiserver.exported import to_apply
from simulator.apiserver.imported import TAKEN

WRITTEN_AS_YAML = 1_000
"""Objects; more are written as JSON, a hundred times as fast, which kubectl takes as well."""


@require_safe
def choice(request: HttpRequest, name: str) -> HttpResponse:
    return panel(request, find(name), "panels/download.html", {"subject": gettext("Download")})


@require_safe
def objects(request: HttpRequest, name: str) -> HttpResponse:
    """All objects as they are, as ``kubectl get -A -o json`` prints them: to be brought to another server."""
    return _file(name, "objects.json", _list(_objects(find(name))))


@require_safe
def manifests(request: HttpRequest, name: str) -> HttpResponse:
    """What is to be applied to have such a cluster: without what servers and controllers fill in."""
    found = [*to_apply(_objects(find(name)))]
    if len(found) > WRITTEN_AS_YAML:
        return _file(name, "manifests.json", _list(found))
    return _file(name, "manifests.yaml", to_yaml(found).encode(), "application/yaml")


@require_safe
def picture(request: HttpRequest, name: str) -> HttpResponse:
    """The nodes as an SVG."""
    sandbox = find(name)
    stage = WARM.get(name)
    if stage is not None:
        with stage.lock:
            drawn, words = drawing.draw(stage.picture), summary(stage.picture)
    else:
        seen = load(sandbox, WATCHED)
        drawn, words = drawing.draw(seen), summary(seen)
    meta = sandbox.meta()
    ranks = [(rank, drawing.colours()[f"r{rank}"]) for rank in range(SYSTEM_RANK + 1)]
    title = told(meta).title or name
    named = gettext("Nodes of %(name)s") % {"name": title}
    context = {"drawing": drawn, "ranks": ranks, "named": named, "title": title, "summary": words}
    response = render(request, "downloads/nodes.svg", context, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{name}.nodes.svg"'
    return response


def _objects(sandbox: Sandbox) -> Iterator[Manifest]:
    """Owners before what they own, kinds that nobody knows at the end."""
    stored, _ = sandbox.list_all()
    for resource in (*TAKEN, *sorted(stored.keys() - {*TAKEN})):
        yield from (bare(manifest) for manifest in stored.get(resource, {}).values())


def _list(found: Iterable[Manifest]) -> bytes:
    body = b",\n".join(msgspec.json.encode(each) for each in found)
    return b'{"apiVersion":"v1","kind":"List","items":[\n' + body + b"\n]}\n"


def _file(name: str, suffix: str, body: bytes, content_type: str = "application/json") -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response
