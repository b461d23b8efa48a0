"""Measures requests on the real processes, with a visitor of another sandbox beside."""

import http.client
import re
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from schedviz.api.write import create_sandbox
from schedviz.loop.due import KEY, RETRY_SECONDS
from schedviz.store import Meta, Sandbox
from simulator.api import SECOND
from simulator.scenario import DEFAULT_PACE
from tests.programs.costs.cases import Answer, Case, Send, prepare
from tests.programs.costs.requests import Request
from tests.programs.load.site import node, pod
from tests.stack import Stack
from tests.waiting import eventually

PATIENCE: Final = 60.0
"""Seconds for an answer."""
_OFTEN: Final = 0.1
"""Seconds between two requests of the visitor."""
_SETTLED: Final = 1.0
"""Seconds for the worker to do what a write makes due, if it has no end. A sandbox is settled when nothing is
due for RETRY_SECONDS, for which a slice is due that runs."""
_CSRF: Final = "a" * 32
_HEADERS: Final = {"Cookie": f"csrftoken={_CSRF}", "X-CSRFToken": _CSRF}
_RESET_PEAK: Final = "5"
_KILOBYTES: Final = 1024
_SLICE: Final = re.compile(r"a slice of (\S+) took ([\d.]+) s, ([\d.]+) s of them on the CPU")


class Cost(NamedTuple):
    """``status``: 0 = there was no answer. ``megabytes``: by which the server grew at its peak. ``waited``:
    the longest wait of the visitor."""

    name: str
    entries: int
    status: int
    is_fault: bool
    seconds: float
    megabytes: float
    waited: float

    def __str__(self) -> str:
        figures = f"{self.seconds:6.2f} s {self.megabytes:5.0f} MB, waited {self.waited:5.2f} s"
        return f"{figures} ({self.status})  {self.entries:6} entries: {self.name}"


class LongSlice(NamedTuple):
    name: str
    seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s ({self.cpu_seconds:.2f} s of CPU): {self.name}"


class Server:
    """The real server and worker, and what their requests cost."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.store = stack.store
        self._process = psutil.Process(stack.logs[0].process.popen.pid)
        self._names: dict[str, str] = {}
        """Names of sandboxes -> the names of the cases."""
        self.visitor = Visitor(stack)

    def cost_of(self, case: Case) -> Cost | None:
        """Measure a request of half the permitted size in a new sandbox. None: there is no such request."""
        with self._sandbox(case) as sandbox:
            send = sender(self._stack.port, sandbox.name)
            request = prepare(case, case.half(), send)
            if request is None:
                return None
            self._settle(sandbox)
            began, cpu, memory = time.monotonic(), self._cpu(), self._memory("VmRSS")
            answer = send(request)
            seconds, megabytes = self._cpu() - cpu, self._memory("VmHWM") - memory
            self._settle(sandbox)
            waited = self.visitor.longest_since(began)
            return Cost(case.name, case.half(), answer.status, answer.is_fault, seconds, megabytes, waited)

    @contextmanager
    def _sandbox(self, case: Case) -> Iterator[Sandbox]:
        name = f"cost-{len(self._names)}"
        self._names[name] = case.name
        meta = Meta(name=name, created=self.store.wall(), seed=1, pace=DEFAULT_PACE)
        sandbox = create_sandbox(self.store, meta, [node("node"), *case.definitions()])
        try:
            yield sandbox
        finally:
            self.store.delete(name)

    def _settle(self, sandbox: Sandbox) -> None:
        """Wait until the worker has done what is due, but not for long."""
        end = time.monotonic() + _SETTLED
        while time.monotonic() < end:
            due = self.store.redis.zscore(KEY, sandbox.name)
            if due is None or due / SECOND > self.store.wall() + RETRY_SECONDS:
                return
            time.sleep(_OFTEN / 10)

    def _cpu(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _memory(self, field: str) -> float:
        """Return MB of the server: now (VmRSS), which begins a new peak, or at the peak since then (VmHWM).
        0 where the system does not say them."""
        folder = Path(f"/proc/{self._process.pid}")
        if not folder.exists():
            return 0.0
        if field == "VmRSS":
            (folder / "clear_refs").write_text(_RESET_PEAK, encoding="ascii")
        lines = (folder / "status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1]) / _KILOBYTES

    def long_slices(self) -> list[LongSlice]:
        """Return the slices of the worker that took longer than LONG_SLICE_SECONDS."""
        text = "".join(log.process.output for log in self._stack.logs[1:-1])
        return [
            LongSlice(self._names.get(name, name), float(seconds), float(cpu))
            for name, seconds, cpu in _SLICE.findall(text)
        ]


def sender(port: int, sandbox: str) -> Send:
    """Return a function that sends to a sandbox of the real server."""

    def send(request: Request) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        headers = {**_HEADERS, "Accept": request.accept}
        if request.body:
            headers["Content-Type"] = request.media_type
        try:
            connection.request(request.method, f"/s/{sandbox}{request.path}", request.body or None, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        except (OSError, http.client.HTTPException):  # it took too long, or cannot be read
            return Answer(0)
        finally:
            connection.close()

    return send


class Visitor:
    """Reads the page and the pods of a sandbox of its own, in turns, and notes how long each answer takes."""

    def __init__(self, stack: Stack) -> None:
        self.waited: list[tuple[float, float]] = []
        """When each request was sent, by time.monotonic(), and the seconds until its answer."""
        meta = Meta(name="visitor", created=stack.store.wall(), seed=1, pace=DEFAULT_PACE)
        create_sandbox(stack.store, meta, [node("node"), pod("a")])
        self._send = sender(stack.port, "visitor")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._visit)

    def __enter__(self) -> "Visitor":
        self._thread.start()
        eventually(lambda: len(self.waited) > 2, "the visitor has answers")
        self.waited.clear()  # of the first ones much is imported
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _visit(self) -> None:
        paths = ("/", "/api/v1/pods")
        while not self._ended.wait(_OFTEN):
            began = time.monotonic()
            answer = self._send(Request("GET", paths[len(self.waited) % len(paths)]))
            self.waited.append((began, time.monotonic() - began if answer.is_accepted else PATIENCE))

    def longest_since(self, began: float) -> float:
        return max((waited for sent, waited in self.waited[-1000:] if sent + waited >= began), default=0.0)

    def p95(self) -> float:
        return statistics.quantiles((waited for _, waited in self.waited), n=20)[-1]
