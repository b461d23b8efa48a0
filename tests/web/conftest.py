"""What tests of pages ask for; some have clients and sandboxes of their own."""

from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.api import write
from schedviz.store import Sandbox


@pytest.fixture
def client() -> Iterator[Client]:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def cluster(sandbox: Sandbox) -> str:
    """A sandbox with one node, by its path."""
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-1"},
        "status": {"allocatable": amounts},
    }
    write.create(sandbox, [node])
    return f"/s/{sandbox.name}/"
