"""The fixtures of all tests: the real Redis, server, worker and browser, and a sandbox for each test.
Processes are started once a session and shared. Each test has its own names of sandboxes.
"""

import gc
import os
import re
import uuid
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from tests import chromium
from tests.processes import CELERY, RUNNING, Process, answers
from tests.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The settings are read once, so the address must be known before the server behind it is started.
PORT = free_port()
PASSWORD = "test"
os.environ["REDIS_URL"] = f"redis://:{PASSWORD}@127.0.0.1:{PORT}/0"
os.environ["DJANGO_SETTINGS_MODULE"] = "schedviz.settings"
os.environ["LESSONS_DIR"] = str(Path(__file__).parent / "lessons" / "folders")

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS  # noqa: E402 (as above)
from schedviz.loop.leadership import living_workers  # noqa: E402
from schedviz.store import Meta, NoSandbox, Sandbox, Store, connected_mirrors  # noqa: E402
from schedviz.up.programs import SERVER  # noqa: E402

PHASE = pytest.StashKey[int]()

# How long an example takes says how busy the machine is.
hypothesis_settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("any speed")


def pytest_sessionstart(session: pytest.Session) -> None:
    """The processes that share the tests have addresses of their own: their Django, set up before they
    read this file, must not find the first one's."""
    if session.config.getoption("numprocesses", None):
        del os.environ["DJANGO_SETTINGS_MODULE"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing that is collected becomes garbage. To look for garbage takes almost half of the time of a
    collection, and later a part of each test's time."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need no worker come before the session has one: it would act in their sandboxes too. Browser
    tests come last: Playwright's sync API keeps an event loop running in this thread.

    Of several processes each takes a file at a time, in this order: no file's fixtures are made twice. It
    takes browser tests one by one, as they share what is started for the session: all processes end at about
    the same time.
    """
    for item in items:
        browser = item.get_closest_marker("browser") is not None
        phase = 2 if browser else int("worker" in getattr(item, "fixturenames", ()))
        item.stash[PHASE] = phase
        group = item.nodeid if browser else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(f"{phase} {group}"))
    items.sort(key=lambda item: item.stash[PHASE])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the state of the test's processes to the report of a failure, as they have ended when it is
    read."""
    report = yield
    if report.failed:
        report.sections += [(f"Process {process.command}", process.describe()) for process in RUNNING]
    return report


@pytest.fixture(autouse=True)
def _default_language() -> None:
    """A request leaves its language active in its thread, here that of the tests."""
    translation.deactivate()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis for the session, the one that settings.REDIS_URL names."""
    directory = tmp_path_factory.mktemp("redis")
    with lock(directory) as held:
        server = EmbeddedRedis.start(directory, held, PORT, PASSWORD)
        yield server.url
        server.stop()


@pytest.fixture
def own_redis(tmp_path: Path, redis_url: str) -> Iterator[EmbeddedRedis]:
    """A Redis for one test, which it may stop and fill, beside that of the session."""
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held)
        yield server
        server.stop()


@pytest.fixture(scope="session")
def store(redis_url: str) -> Iterator[Store]:
    store = Store(redis_url)
    yield store
    store.close()


@pytest.fixture
def mirrors(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[connected_mirrors.ConnectedMirrors]:
    """The clusters that pages connect: none. What a test offers does not end while it is slow."""
    monkeypatch.setattr(connected_mirrors, "OFFER_SECONDS", 600.0)
    yield connected_mirrors.ConnectedMirrors(store.redis)
    store.redis.delete(connected_mirrors.KEEPER, connected_mirrors.OFFERED)
    store.redis.delete(connected_mirrors.WANTED, connected_mirrors.PROGRESS)


@pytest.fixture(autouse=True)
def _delete_new_sandboxes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Delete the sandboxes that the test made and left: the session's worker would run them beside those of
    later tests. A room has a hundred of them."""
    if "redis_url" not in request.fixturenames:
        yield
        return
    store: Store = request.getfixturevalue("store")
    before = {meta.name for meta in store.sandboxes()}
    yield
    for meta in store.sandboxes():
        if meta.name not in before:
            # The server may be deleting those of a room that has ended.
            with suppress(NoSandbox):
                store.delete(meta.name)


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


@pytest.fixture(scope="session")
def worker(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A real Celery worker, on the session's Redis."""
    log = tmp_path_factory.mktemp("worker") / "log"
    process = Process([*CELERY, *WORKER_ARGUMENTS], log)
    eventually(lambda: process.alive() and living_workers(store), "the worker lives")
    yield process
    process.stop()


@pytest.fixture(scope="session")
def job_runner(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A real job runner; jobs wait until it has started."""
    log = tmp_path_factory.mktemp("job-runner") / "log"
    process = Process([*CELERY, *JOB_RUNNER_ARGUMENTS], log)
    yield process
    process.stop()


@pytest.fixture(scope="session")
def server(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real ASGI server; its URL, without a slash at the end."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = Process(["-m", SERVER, f"--port={port}"], tmp_path_factory.mktemp("server") / "log")
    eventually(lambda: process.alive() and answers(f"{url}/healthz"), "the server answers")
    yield url
    process.stop()


@pytest.fixture(scope="session")
def stack(server: str, worker: Process) -> str:
    """Server and worker; the server's URL."""
    return server


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """A real Chromium."""
    path = chromium.find()
    assert path, chromium.missing()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "Browser", stack: str) -> "Iterator[Page]":
    """A page of its own session, the size of a projector. An uncaught error in its scripts fails the test,
    and so does what its Content-Security-Policy refuses."""
    context = browser.new_context(base_url=stack, viewport={"width": 1280, "height": 720}, locale="en")
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None
    )
    yield page
    context.close()
    assert errors == []
