"""The downloads of a sandbox: its objects, as stored or to be applied, and a picture of its nodes. The
recording and the trace are in :mod:`schedviz.api.views`."""

from collections.abc import Iterable, Iterator

import msgspec
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from schedviz.api.yaml_text import is_large
from schedviz.cache import Current
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.presenters import nodes_svg
from schedviz.web.presenters.load import load
from schedviz.web.presenters.nodes import summary
from schedviz.web.presenters.picture import WATCHED
from schedviz.web.presenters.priority import SYSTEM_RANK
from schedviz.web.scenarios import translated_meta
from schedviz.web.screens import followed_screens
from schedviz.web.views.page import find_present, panel
from simulator.api import Manifest, bare
from simulator.dumps.exported import manifests_to_apply
from simulator.dumps.imported_kinds import IMPORTED_RESOURCES

WRITTEN_AS_YAML = 1_000
"""Maximum number of objects that are written as YAML. More are written as JSON, which kubectl also reads, and
which is written a hundred times as fast."""


@require_safe
def choice(request: HttpRequest, name: str) -> HttpResponse:
    return panel(request, find_present(name), "panels/download.html", {"subject": gettext("Download")})


@require_safe
def objects(request: HttpRequest, name: str) -> HttpResponse:
    """Return all objects as stored, in the format of ``kubectl get -A -o json``, for import into another
    server."""
    return _file(name, "objects.json", _list(_objects(find_present(name))))


@require_safe
def manifests(request: HttpRequest, name: str) -> HttpResponse:
    """Return the manifests that create the same cluster: without the fields that the API server and
    controllers set."""
    found = [*manifests_to_apply(_objects(find_present(name)))]
    as_json = _list(found)
    if len(found) > WRITTEN_AS_YAML or is_large(as_json):
        return _file(name, "manifests.json", as_json)
    return _file(name, "manifests.yaml", to_yaml(found).encode(), "application/yaml")


@require_safe
def picture(request: HttpRequest, name: str) -> HttpResponse:
    """Return a picture of the nodes, as SVG."""
    response = HttpResponse(draw_picture(find_present(name)), content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{name}.nodes.svg"'
    return response


def draw_picture(sandbox: Current) -> str:
    """Return the picture of the nodes, as SVG."""
    screens = followed_screens(sandbox.name)
    if screens is not None:
        with screens.lock:
            drawn, words = nodes_svg.draw_nodes_svg(screens.picture), summary(screens.picture)
    else:
        seen = load(sandbox, WATCHED)
        drawn, words = nodes_svg.draw_nodes_svg(seen), summary(seen)
    meta = sandbox.meta()
    ranks = [(rank, nodes_svg.colours()[f"r{rank}"]) for rank in range(SYSTEM_RANK + 1)]
    title = translated_meta(meta).title or sandbox.name
    named = gettext("Nodes of %(name)s") % {"name": title}
    context = {"drawing": drawn, "ranks": ranks, "named": named, "title": title, "summary": words}
    return render_to_string("downloads/nodes.svg", context)


def _objects(sandbox: Current) -> Iterator[Manifest]:
    """Yield all objects; owners before their dependents, unknown kinds last."""
    stored, _ = sandbox.list_all()
    for resource in (*IMPORTED_RESOURCES, *sorted(stored.keys() - {*IMPORTED_RESOURCES})):
        yield from (bare(manifest) for manifest in stored.get(resource, {}).values())


def _list(found: Iterable[Manifest]) -> bytes:
    body = b",\n".join(msgspec.json.encode(each) for each in found)
    return b'{"apiVersion":"v1","kind":"List","items":[\n' + body + b"\n]}\n"


def _file(name: str, suffix: str, body: bytes, content_type: str = "application/json") -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response
