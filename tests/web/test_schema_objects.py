"""Every page shows any object that the API server stores.

The long form: ``OBJECTS=2000 pytest tests/web/test_schema_objects.py``."""

from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote

import hypothesis.strategies as st
from django.test import Client
from hypothesis import HealthCheck, given, settings

from schedviz.api import write
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND, Manifest
from simulator.apiserver.admission import resource_of
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.status import StatusError
from tests.schema_objects import any_object, examples, objects

CREATED = 1_735_689_600
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


@settings(examples(4), suppress_health_check=[*HealthCheck])
@given(st.lists(objects(NODES) | objects(PODS) | any_object(), min_size=2, max_size=5))
def test_every_page_shows_any_object(store: Store, sandbox_name: str, manifests: list[Manifest]) -> None:
    client = Client(headers={"host": "localhost"})
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    sandbox = store.create(Meta(name=sandbox_name, created=CREATED), new_cluster([], clock.sim), clock)
    try:
        for path in pages(sandbox, manifests):
            answer = client.get(f"/s/{sandbox_name}/{path}")
            assert answer.status_code in (200, 302), path
        for manifest in manifests:
            resource = resource_of(manifest, sandbox)
            prefix = f"apis/{resource.group}" if resource.group else "api"
            answer = client.get(
                f"/s/{sandbox_name}/{prefix}/{resource.version}/{resource.plural}", headers=TABLE
            )
            assert answer.status_code == 200, resource.id
    finally:
        store.delete(sandbox_name)


def pages(sandbox: Sandbox, manifests: list[Manifest]) -> Iterator[str]:
    """The addresses of all pages after these objects were created."""
    yield from ("", "nodes/", "objects/", "scheduler/", "leader/")
    yield from ("download/objects/", "download/manifests/", "download/nodes.svg", "command/?line=get+pods")
    for manifest in manifests:
        with suppress(StatusError):
            for stored in write.create(sandbox, [manifest]):
                yield from pages_of(sandbox, stored)
    yield from ("", "nodes/", "download/objects/", "download/manifests/", "download/nodes.svg")


def pages_of(sandbox: Sandbox, stored: Manifest) -> Iterator[str]:
    resource, metadata = resource_of(stored, sandbox), stored["metadata"]
    key = resource.key(metadata.get("namespace", ""), metadata["name"])
    for verb in ("objects", "edit"):
        yield f"{verb}/{resource.id}/{quote(key)}/"
    yield f"objects/{resource.id}/"
    if resource == PODS:
        yield f"pods/{quote(key)}/"
        yield f"pods/{quote(key)}/?kubectl=describe"
    if resource == NODES:
        yield f"nodes/{quote(key)}/"
