"""What tests of pages ask for."""

import pytest

from schedviz.api import write
from schedviz.store import Sandbox


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
