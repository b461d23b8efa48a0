"""All of schedviz on a Redis that runs out of memory: the messages to users and programs, and the
recovery."""

import asyncio
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPMessage
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from websockets.asyncio.client import ClientConnection, connect

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, question_key
from schedviz.loop.leadership import living_workers
from schedviz.store import Meta, Sandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port
from schedviz.up.programs import SERVER
from tests.conftest import answers
from tests.loop.conftest import bound, node, pod, until_bound
from tests.processes import CELERY, Process
from tests.waiting import PATIENCE, eventually

PODS = "/s/sandbox/api/v1/namespaces/default/pods"
TOKEN = "x" * 32


class Answer(NamedTuple):
    status: int
    headers: HTTPMessage
    text: str


class Stack:
    """A Redis, a server, a worker and a job runner."""

    def __init__(self, directory: Path, redis: EmbeddedRedis) -> None:
        self.redis = redis
        self.store = Store(redis.url)
        self._directory = directory
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.processes: dict[str, Process] = {}
        self.start("server", ["-m", SERVER, f"--port={port}"])
        self.start("worker", [*CELERY, *WORKER_ARGUMENTS])
        self.start("job-runner", [*CELERY, *JOB_RUNNER_ARGUMENTS])
        eventually(lambda: self.alive() and living_workers(self.store), "the worker lives")
        eventually(lambda: self.alive() and answers(f"{self.url}/healthz"), "the server answers")

    def start(self, name: str, command: Sequence[str]) -> None:
        log = self._directory / name
        self.processes[name] = Process(command, log, {"REDIS_URL": self.redis.url})

    def kill(self, name: str) -> None:
        self.processes.pop(name).kill()

    def alive(self) -> bool:
        return all(process.alive() for process in self.processes.values())

    def request(self, method: str, path: str, body: Any = None, language: str = "en") -> Answer:
        headers = {
            "Accept-Language": language,
            "Cookie": f"csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "Content-Type": "application/json"
            if isinstance(body, dict)
            else "application/x-www-form-urlencoded",
        }
        data = json.dumps(body) if isinstance(body, dict) else body
        request = urllib.request.Request(
            self.url + path, data=data.encode() if data is not None else None, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return Answer(response.status, response.headers, response.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read().decode())

    def set_memory(self, *, full: bool) -> None:
        self.store.redis.config_set("maxmemory", 1 if full else 0)

    def stored(self) -> dict[bytes, bytes]:
        """All that is stored of sandboxes and of jobs."""
        keys = [key for key in self.store.redis.keys("schedviz:*") if b"{" in key or b":jobs:" in key]
        return {key: self.store.redis.dump(key) or b"" for key in sorted(keys)}

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
        self.store.close()


@pytest.fixture
def stack(tmp_path: Path, own_redis: EmbeddedRedis) -> Iterator[Stack]:
    stack = Stack(tmp_path, own_redis)
    yield stack
    stack.close()


async def until_banner(connection: ClientConnection, text: str) -> None:
    """Take frames until the banner says so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            frame = str(await connection.recv())
            said = re.search(r'<div id="trouble"[^>]*>(.*?)</div>', frame)
            if said and (text in said[1] if text else not said[1]):
                return


@pytest.mark.long
async def test_without_memory_all_report_it_store_nothing_and_continue_automatically(stack: Stack) -> None:
    manifests = [node("n"), pod("first"), pod("waits", cpu="64")]
    sandbox = await asyncio.to_thread(make, stack, manifests)
    socket = stack.url.replace("http:", "ws:") + "/s/sandbox/live/?lang=zh-hans"
    async with connect(socket, origin=stack.url, max_size=2**22) as watching:
        stack.set_memory(full=True)
        await until_banner(watching, "Redis 内存不足")
        async with connect(socket.replace("zh-hans", "en"), origin=stack.url, max_size=2**22) as late:
            await until_banner(late, "Redis is out of memory")
        await asyncio.to_thread(refused, stack)
        await asyncio.to_thread(deleted, stack, sandbox)
        stack.set_memory(full=False)
        await until_banner(watching, "")
    await asyncio.to_thread(goes_on, stack, sandbox)


def make(stack: Stack, manifests: list[dict[str, Any]]) -> Sandbox:
    sandbox = stack.store.create(Meta("sandbox"))
    for manifest in manifests:
        path = PODS if manifest["kind"] == "Pod" else "/s/sandbox/api/v1/nodes"
        assert stack.request("POST", path, manifest).status == 201
    eventually(until_bound(sandbox, 1), "the first is bound")
    eventually(lambda: lane_of(sandbox, "default/waits") == "unschedulable", "the other one was tried")
    sandbox.set_clock(sandbox.clock().rebased(sandbox.wall(), paused=True))
    return sandbox


def lane_of(sandbox: Sandbox, pod: str) -> str:
    entry = sandbox.queue_place(pod)
    return entry.lane if entry else ""


def refused(stack: Stack) -> None:
    before = stack.stored()
    for language, words in (("en", "Redis is out of memory"), ("zh-hans", "Redis 内存不足")):
        for path, form in (
            ("/s/sandbox/new/yaml/", "yaml=" + urllib.parse.quote(json.dumps(pod("form")))),
            ("/s/sandbox/clock/", "do=resume"),
            ("/s/sandbox/pods/default/waits/whatif/", "do=ask"),
            ("/compare/", "workload=sandbox:sandbox&a=own&b=default&until=2m"),
        ):
            answer = stack.request("POST", path, form, language)
            assert (answer.status, answer.headers["Retry-After"]) == (503, "2"), path
            assert f"<h1>{words}</h1>" in answer.text
            assert 'http-equiv="refresh"' not in answer.text, "a form is not sent again by itself"
    answer = stack.request("POST", PODS, pod("api"))
    status = json.loads(answer.text)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert (status["kind"], status["reason"], status["code"]) == ("Status", "ServiceUnavailable", 503)
    assert "out of memory" in status["message"]
    for path in ("/", "/s/sandbox/", "/s/sandbox/pods/default/waits/", PODS):
        assert stack.request("GET", path).status == 200, "what is stored can be read"
    ready = stack.request("GET", "/readyz")
    assert ready.status == 503
    assert (
        "[+]redis ok\n[-]redis-writes failed: Redis is out of memory (its maxmemory) and stores nothing\n"
        in ready.text
    )
    # Those that start now find no memory either, and wait for it.
    stack.start("late worker", [*CELERY, *WORKER_ARGUMENTS])
    stack.start("late job runner", [*CELERY, *JOB_RUNNER_ARGUMENTS])
    stack.start("demo", ["manage.py", "demo"])
    for name in ("late worker", "late job runner", "demo"):
        output = stack.processes[name]
        eventually(lambda process=output: process.alive() and "maxmemory" in process.output, name)
    assert stack.stored() == before


def deleted(stack: Stack, sandbox: Sandbox) -> None:
    assert stack.request("DELETE", f"{PODS}/waits").status == 200
    assert sandbox.get("pods", "default/waits") is None


def goes_on(stack: Stack, sandbox: Sandbox) -> None:
    assert stack.processes.pop("demo").wait() == 0
    assert {meta.name for meta in stack.store.sandboxes()} == {"sandbox", "demo"}
    assert stack.request("POST", "/s/sandbox/clock/", "do=resume").status in (200, 204)
    assert stack.request("POST", PODS, pod("second")).status == 201
    eventually(lambda: stack.alive() and "second" in bound(sandbox), "the loop goes on")
    eventually(lambda: stack.request("GET", "/readyz").status == 200, "all is ready")
    stack.kill("worker")
    stack.kill("job-runner")
    assert stack.request("POST", PODS, pod("third", cpu="64")).status == 201
    eventually(lambda: stack.alive() and lane_of(sandbox, "default/third"), "the late worker leads")
    assert stack.request("POST", "/s/sandbox/pods/default/third/whatif/", "do=ask").status == 200
    uid = (sandbox.get("pods", "default/third") or {})["metadata"]["uid"]
    questions = JobStore(stack.store, QUESTIONS)

    def answered() -> bool:
        question = questions.read(question_key("what-if", "sandbox", "default/third", uid=uid))
        return stack.alive() and question is not None and question.state == "done"

    eventually(answered, "the late job runner answers")
