"""The official client, configured for a sandbox of the test."""

from collections.abc import Iterator

import pytest
from kubernetes import client

from schedviz.store import Clock, Meta, Store
from simulator.api import SECOND
from simulator.apiserver.new_cluster import new_cluster

CREATED = 1_700_000_000


@pytest.fixture
def cluster(store: Store, sandbox_name: str) -> Iterator[str]:
    """The name of a sandbox with the objects of every cluster. Its time stands still, so that only the test
    acts."""
    meta = Meta(name=sandbox_name, created=CREATED)
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    store.create(meta, new_cluster([], clock.sim), clock)
    yield sandbox_name
    store.delete(sandbox_name)


@pytest.fixture
def url(server: str, cluster: str) -> str:
    return f"{server}/s/{cluster}"


@pytest.fixture
def api_client(url: str) -> Iterator[client.ApiClient]:
    with client.ApiClient(client.Configuration(host=url)) as api_client:
        yield api_client


@pytest.fixture
def core(api_client: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(api_client)


@pytest.fixture
def scheduling(api_client: client.ApiClient) -> client.SchedulingV1Api:
    return client.SchedulingV1Api(api_client)
