"""Two web servers, one of them with two processes, and two workers on one Redis, as with several machines:
any server serves any page."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.rooms.room import sandbox_name
from schedviz.store import Store
from schedviz.up.embedded_redis import free_port
from tests.processes import CELERY, Process, answers
from tests.programs.load.site import Answer, create_sandboxes, opened
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import close_all, faults, open_all
from tests.programs.workshop_load.visitor import Visitor
from tests.waiting import PATIENCE, eventually

SANDBOXES = 4
KEY = {"SECRET_KEY": "the same on all machines, 32 characters"}


@pytest.fixture(scope="module")
def ports(store: Store, worker: Process, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    """Two web servers, and one more worker beside that of the session."""
    logs = tmp_path_factory.mktemp("machines")
    ports = [free_port(), free_port()]
    processes = [
        Process(["manage.py", "web", f"--port={port}"], logs / str(port), {**KEY, "WEB_PROCESSES": processes})
        for port, processes in zip(ports, ("1", "2"), strict=True)
    ]
    processes.append(Process([*CELERY, *WORKER_ARGUMENTS, "--hostname=second"], logs / "worker", KEY))
    for port in ports:
        eventually(lambda: answers(f"http://127.0.0.1:{port}/healthz"), "the server answers")  # noqa: B023
    eventually(lambda: len(living_workers(store)) >= 2, "both workers live")
    yield ports
    for process in processes:
        process.stop()


@pytest.mark.long
async def test_a_page_of_one_server_shows_what_another_one_wrote(store: Store, ports: list[int]) -> None:
    names = [f"machines-{number}" for number in range(SANDBOXES)]
    create_sandboxes(store, names, nodes=2)
    async with opened(ports[0], store) as first, opened(ports[1], store) as second:
        viewers = [Viewer(site, name) for name in names for site in (first, second)]
        await open_all(viewers)
        for number, name in enumerate(names):
            for viewer in viewers[2 * number : 2 * number + 2]:
                viewer.expect("web-1")
                viewer.expect("web-2")
            await first.create_pod(name, "web-1")
            await second.create_pod(name, "web-2")
        for viewer in viewers:
            await viewer.settled(time.monotonic() + PATIENCE)
        await close_all(viewers)
        assert faults(first, viewers) + faults(second, viewers) == []
        assert all(pod.bound for viewer in viewers for pod in viewer.pods)
    leaders = set(store.holders(names).values())
    assert leaders <= set(living_workers(store))
    for name in names:
        store.delete(name)


@pytest.mark.long
async def test_a_room_is_used_through_both_servers(store: Store, ports: list[int]) -> None:
    """As behind a proxy that sends each request to another server: cookies and tokens are valid on both."""
    async with opened(ports[0], store, kind=ByTurns) as teacher, opened(ports[1], store, kind=ByTurns) as ada:
        for visitor in (teacher, ada):
            visitor.origins = [f"http://127.0.0.1:{port}" for port in ports]
        await teacher.open_page("/rooms/new/")
        fields = {"what": "lesson:walk", "mode": "own", "minutes": "60", "title": "Monday"}
        place = await teacher.post_form("/rooms/new/", fields)
        code = place.split("/")[2]
        await ada.open_page(f"/rooms/{code}/")
        await ada.post_form(f"/rooms/{code}/", {"name": "Ada"})
        sandbox = sandbox_name(code, 1)
        for _ in ports:
            assert b"Ada" in await teacher.get(f"/rooms/{code}/teach/")
            assert sandbox.encode() in await teacher.get(f"/s/{sandbox}/")
            assert sandbox.encode() in await ada.get(f"/s/{sandbox}/")
        await teacher.post_part(f"/rooms/{code}/teach/do/", {"do": "pause"})
        assert store.sandbox(sandbox).clock().paused
        assert teacher.errors + ada.errors == []
    store.delete(sandbox)


class ByTurns(Visitor):
    """A visitor whose requests go to several servers by turns."""

    origins: Sequence[str] = ()
    _requests = 0

    async def send(self, method: str, path: str, **options: Any) -> Answer:
        self.origin = self.origins[self._requests % len(self.origins)]
        self._requests += 1
        if "headers" in options:  # the proxy has one origin
            options["headers"] = {**(options["headers"] or {}), "Origin": self.origin}
        return await super().send(method, path, **options)
