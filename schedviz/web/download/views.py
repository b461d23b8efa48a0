"""The downloads of a sandbox: its objects, as stored or to be applied, and a picture of its nodes. The
recording and the trace are in :mod:`schedviz.api.views`."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.translation import gettext

from schedviz.api.large_answers import response_of
from schedviz.api.yaml_text import is_large
from schedviz.cache import Current
from schedviz.web.answers import panel
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.nodes import svg as nodes_svg
from schedviz.web.nodes.cards import summary
from schedviz.web.picture.live_picture import read_picture
from schedviz.web.picture.priority import SYSTEM_RANK
from schedviz.web.scenarios import translated_meta
from schedviz.web.sources import find_present
from simulator.api import Manifest, bare
from simulator.dumps.exported import manifests_to_apply
from simulator.dumps.imported_kinds import IMPORTED_RESOURCES
from simulator.kernel.work import check_waiting

WRITTEN_AS_YAML = 1_000
"""Maximum number of objects that are written as YAML. More are written as JSON, which kubectl also reads, and
which is written a hundred times as fast."""


def choice(request: HttpRequest, name: str) -> HttpResponse:
    return panel(request, find_present(name), "download/download.html", {"subject": gettext("Download")})


def objects(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return all objects as stored, in the format of ``kubectl get -A -o json``, for import into another
    server."""
    return _file(name, "objects.json", [*_encoded(_objects(find_present(name)))])


def manifests(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return the manifests that create the same cluster: without the fields that the API server and
    controllers set."""
    found = [*_encoded(manifests_to_apply(_objects(find_present(name))))]
    if len(found) > WRITTEN_AS_YAML or is_large(found):
        return _file(name, "manifests.json", found)
    as_yaml = to_yaml([msgspec.json.decode(each) for each in found]).encode()
    return _response(name, "manifests.yaml", [as_yaml], "application/yaml")


def picture(request: HttpRequest, name: str) -> HttpResponse:
    """Return a picture of the nodes, as SVG."""
    response = HttpResponse(draw_picture(find_present(name)), content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{name}.nodes.svg"'
    return response


def draw_picture(sandbox: Current) -> str:
    """Return the picture of the nodes, as SVG."""
    with read_picture(sandbox) as seen:
        drawn, words = nodes_svg.draw_nodes_svg(seen), summary(seen)
    meta = sandbox.meta()
    ranks = [(rank, nodes_svg.colours()[f"r{rank}"]) for rank in range(SYSTEM_RANK + 1)]
    title = translated_meta(meta).title or sandbox.name
    named = gettext("Nodes of %(name)s") % {"name": title}
    context = {"drawing": drawn, "ranks": ranks, "named": named, "title": title, "summary": words}
    return render_to_string("download/nodes.svg", context)


def _objects(sandbox: Current) -> Iterator[Manifest]:
    """Yield all objects; owners before their dependents, unknown kinds last."""
    found = sandbox.iterate_all()
    for resource in (*IMPORTED_RESOURCES, *sorted(found.keys() - {*IMPORTED_RESOURCES})):
        for manifest in found.get(resource, ()):
            check_waiting()
            yield bare(manifest)


def _encoded(found: Iterable[Manifest]) -> Iterator[bytes]:
    return map(msgspec.json.encode, found)


def _file(name: str, suffix: str, objects: Sequence[bytes]) -> HttpResponseBase:
    """Return a file with a list of objects, which are given as JSON."""
    parts = [b'{"apiVersion":"v1","kind":"List","items":[\n']
    for encoded in objects:
        parts += [encoded, b",\n"]
    return _response(name, suffix, [*(parts[:-1] if objects else parts), b"\n]}\n"], "application/json")


def _response(name: str, suffix: str, parts: Sequence[bytes], content_type: str) -> HttpResponseBase:
    response = response_of(parts, content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response
