"""What every test may ask for: the real Redis, a store, a sandbox of its own.

Processes are started once a session and shared; tests keep apart by sandbox names that nobody else has.
"""

import os
import re
import uuid
from collections.abc import Iterator

import pytest

from schedviz.embedded_redis import EmbeddedRedis, free_port, lock

# The settings are read once, so the address must be known before the server behind it is started.
PORT = free_port()
PASSWORD = "test"
os.environ["REDIS_URL"] = f"redis://:{PASSWORD}@127.0.0.1:{PORT}/0"
os.environ["DJANGO_SETTINGS_MODULE"] = "schedviz.settings"

from schedviz.store import Meta, Sandbox, Store  # noqa: E402 (as above)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis for the session, the one that settings.REDIS_URL names."""
    directory = tmp_path_factory.mktemp("redis")
    with lock(directory) as held:
        server = EmbeddedRedis.start(directory, held, PORT, PASSWORD)
        yield server.url
        server.stop()


@pytest.fixture(scope="session")
def store(redis_url: str) -> Iterator[Store]:
    store = Store(redis_url)
    yield store
    store.close()


@pytest.fixture
def sandbox_name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses, with a part of the test's own to recognise it by."""
    part = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-")
    return f"{part}-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """An empty sandbox of the test's own, deleted afterwards."""
    yield store.create(Meta(name=sandbox_name, created=1_700_000_000.0))
    if any(meta.name == sandbox_name for meta in store.sandboxes()):
        store.delete(sandbox_name)
