"""All of schedviz on a Redis that it reaches by TLS as a user with the rights of docs/OPERATIONS.md."""

import asyncio
import json
import re
import ssl
import stat
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
from redis import Redis
from redis.exceptions import AuthenticationError
from websockets.sync.client import connect
from websockets.typing import Origin

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, question_key
from schedviz.store import Meta, Store
from schedviz.up.embedded_redis import SOCKET_BYTES, EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from tests.loop.conftest import bound, node, pod
from tests.processes import CELERY, ROOT, Process
from tests.waiting import PATIENCE, eventually

TLS = Path(__file__).parent / "tls"
"""A certificate for 127.0.0.1, which signs itself, and its key."""

SECRET = "s3cr3t"
PASSWORD = f"{SECRET}/w0rd"


class TlsFront:
    """Speaks TLS on a port of loopback and passes everything on to a Unix socket."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.accepted = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.port: int = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    async def _listen(self) -> int:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "ca.pem", TLS / "server.key")
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        to_redis = await asyncio.open_unix_connection(self._path)
        await asyncio.gather(_pass_on(reader, to_redis[1]), _pass_on(to_redis[0], writer))

    def close(self) -> None:
        """When the clients have ended."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def documented_rules() -> list[str]:
    [line] = re.findall(r"^    ACL SETUSER schedviz (.+)$", (ROOT / "docs/OPERATIONS.md").read_text(), re.M)
    return [rule.replace(">password", f">{PASSWORD}") for rule in line.split()]


@pytest.fixture
def restricted(own_redis: EmbeddedRedis) -> Iterator[str]:
    """The URL, without the password, of the test's own Redis as the user ``schedviz``."""
    with Redis.from_url(own_redis.url) as admin:
        admin.execute_command("ACL", "SETUSER", "schedviz", *documented_rules())
        path = admin.config_get("unixsocket")["unixsocket"]
    front = TlsFront(path)
    yield f"rediss://schedviz@127.0.0.1:{front.port}/0?ssl_ca_certs={TLS / 'ca.pem'}"
    assert front.accepted
    front.close()


@pytest.mark.long
def test_everything_works_by_tls_with_the_documented_rights(
    own_redis: EmbeddedRedis, restricted: str, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    environment = {"REDIS_URL": restricted, "REDIS_PASSWORD_FILE": str(tmp_path / "password")}
    commands = {
        "server": ["-m", SERVER, f"--port={port}"],
        "worker": [*CELERY, *WORKER_ARGUMENTS],
        "job-runner": [*CELERY, *JOB_RUNNER_ARGUMENTS],
    }
    with ExitStack() as ends:
        processes = []
        for name, command in commands.items():
            processes.append(Process(command, tmp_path / name, environment))
            ends.callback(processes[-1].stop)
        store = Store(own_redis.url)
        ends.callback(store.close)

        def is_ready() -> bool:
            assert all(process.alive() for process in processes)
            with suppress(OSError), urllib.request.urlopen(f"{url}/readyz", timeout=PATIENCE) as answer:
                return "failed" not in answer.read().decode()
            return False

        eventually(is_ready, "all is ready")
        sandbox = store.create(Meta(name="sandbox"))
        send(f"{url}/s/sandbox/api/v1/nodes", json.dumps(node("n")), "application/json")
        with connect(f"ws://127.0.0.1:{port}/s/sandbox/live/", origin=Origin(url), max_size=None) as watching:
            for name, cpu in (("fits", "1"), ("waits", "64")):
                pods = f"{url}/s/sandbox/api/v1/namespaces/default/pods"
                send(pods, json.dumps(pod(name, cpu)), "application/json")
            eventually(lambda: sandbox.queue_place("default/waits") and bound(sandbox), "both were tried")
            while "waits" not in str(watching.recv(PATIENCE)):
                pass
        send(f"{url}/s/sandbox/pods/default/waits/whatif/", "do=ask")
        waiting = sandbox.get("pods", "default/waits")
        assert waiting
        key = question_key("what-if", "sandbox", "default/waits", uid=waiting["metadata"]["uid"])
        questions = JobStore(store, QUESTIONS)
        eventually(lambda: (asked := questions.read(key)) and asked.finished, "the question is answered")
        processes[1].kill()
        processes.append(Process(commands["worker"], tmp_path / "another", environment))
        ends.callback(processes[-1].stop)
        del processes[1]
        eventually(is_ready, "another worker removes what the killed one left")
        # Redis 6.2 counts all of CLIENT as dangerous. redis-py sends its name with it, and ignores the
        # refusal.
        denied = {entry[b"object"] for entry in store.redis.execute_command("ACL", "LOG")}
        assert denied <= {b"client"}
        assert not any(SECRET in process.output for process in processes)


def send(url: str, body: str, content_type: str = "application/x-www-form-urlencoded") -> None:
    token = "x" * 32
    headers = {"Content-Type": content_type, "Cookie": f"csrftoken={token}", "X-CSRFToken": token}
    request = urllib.request.Request(url, body.encode(), headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert answer.status in (200, 201)


@pytest.mark.long
def test_a_wrong_password_is_not_printed(restricted: str, tmp_path: Path) -> None:
    wrong = {"REDIS_URL": restricted, "REDIS_PASSWORD": f"not-{SECRET}"}
    up = Process(["manage.py", "up"], tmp_path / "up", {**wrong, "PORT": str(free_port())})
    assert up.wait() == 1
    (line,) = up.output.splitlines()
    assert line.startswith("schedviz: the Redis at REDIS_URL refuses the password: ")
    worker = Process([*CELERY, *WORKER_ARGUMENTS], tmp_path / "worker", wrong)
    try:
        eventually(lambda: worker.alive() and "waiting for Redis" in worker.output)
    finally:
        worker.kill()
    assert SECRET not in up.output + worker.output


def test_only_the_same_user_can_open_its_socket(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    path = tmp_path / "socket" / "redis"
    assert own_redis.url == f"unix://{path}?db=0"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    listening = [c for c in psutil.Process(own_redis.process.pid).net_connections() if c.status == "LISTEN"]
    assert listening == []


def test_redis_listens_on_loopback_with_a_password_if_the_socket_path_is_too_long(tmp_path: Path) -> None:
    directory = tmp_path / ("long-" * SOCKET_BYTES)[:SOCKET_BYTES]
    with lock(directory) as held:
        server = EmbeddedRedis.start(directory, held)
        try:
            assert re.fullmatch(r"redis://:[\w-]{32}@127\.0\.0\.1:\d+/0", server.url)
            with (
                Redis.from_url(re.sub(r":[^/]+@", "", server.url)) as stranger,
                pytest.raises(AuthenticationError),
            ):
                stranger.ping()
        finally:
            server.stop()
