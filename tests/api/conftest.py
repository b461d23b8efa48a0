"""The official client, pointed at a sandbox of the test's own."""

from collections.abc import Iterator

import pytest
from kubernetes import client

from schedviz.api import write
from schedviz.store import Meta, Store


@pytest.fixture
def cluster(store: Store, sandbox_name: str) -> Iterator[str]:
    """The name of a sandbox with what every cluster has."""
    write.create_sandbox(store, Meta(name=sandbox_name, created=1_700_000_000.0))
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
