"""The rounds of the fuzz: new sandboxes, requests by all clients at once, a canary in each sandbox."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from urllib.parse import unquote

from schedviz import bundled_scenarios
from schedviz.api import write
from schedviz.api.from_scenario import create_from_scenario
from schedviz.store import Meta, Sandbox
from tests.programs.fuzz import CLIENTS, ROUND, canary, objects
from tests.programs.fuzz.clients import Client, Outcome
from tests.programs.fuzz.findings import Findings, cause_of
from tests.programs.fuzz.generate import request, sandbox_of
from tests.programs.fuzz.request import Request
from tests.stack import Stack

DELIBERATE = (503, 504)
"""Statuses from 500 on that are intended: try again later."""

REPORTED = 10 * ROUND
"""Requests between two lines that report the progress."""

SLOWEST = 5
"""Requests shown at the end."""


class Rounds:
    def __init__(self, stack: Stack, findings: Findings, seed: int, *, show: bool) -> None:
        self.stack = stack
        self.findings = findings
        self.seed = seed
        self.show = show
        self.statuses: Counter[str] = Counter()
        self.slowest: list[tuple[float, str]] = []
        self._lock = Lock()
        self._faults: list[tuple[str, str]] = []
        """Errors in the logs that belong to no response yet: process and text."""

    def send(self, numbers: range) -> None:
        clients = [Client(self.stack.port) for _ in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as pool:
            for part in rounds(numbers):
                if part.start % REPORTED == 0:
                    print(f"request {part.start}", flush=True)
                made = self._sandboxes(part.start // ROUND)
                shares = [[number for number in part if number % CLIENTS == each] for each in range(CLIENTS)]
                [*pool.map(self._send_all, clients, shares)]
                [*pool.map(self._check, made, [part] * CLIENTS)]
                for name, fault in self._claim(""):
                    self.findings.add(f"{name}: {cause_of(fault)}", fault, numbers=part)
        for client in clients:
            client.close()

    def _sandboxes(self, number: int) -> list[tuple[Sandbox, Meta]]:
        """New ones, each of a scenario, with an object of each kind; none but these."""
        for meta in self.stack.store.sandboxes():
            self.stack.store.delete(meta.name)
        known = [*bundled_scenarios.scenarios(), ""]
        made = []
        for each in range(CLIENTS):
            sandbox = create_from_scenario(
                self.stack.store, known[(number + each) % len(known)], sandbox_of(each)
            )
            write.create(sandbox, objects.valid())
            canary.prepare(self.stack.store, sandbox, sandbox.meta())
            made.append((sandbox, sandbox.meta()))
        return made

    def _send_all(self, client: Client, numbers: list[int]) -> None:
        for number in numbers:
            made = request(self.seed, number)
            outcome = client.send(made)
            if self.show:
                print(f"{made.whole()}\n\n{outcome.status} {outcome.trouble}\n{outcome.text}\n")
            self.judge(made, outcome)

    def judge(self, made: Request, outcome: Outcome) -> None:
        with self._lock:
            self.statuses[str(outcome.status or outcome.trouble or "not awaited")] += 1
            self.slowest = sorted([*self.slowest, (outcome.seconds, f"{made.number} {made}")])[-SLOWEST:]
        if outcome.trouble:
            self.findings.add(f"{outcome.trouble}: {made.method}", str(made), only=made.number)
        if outcome.status >= 500 and outcome.status not in DELIBERATE and not is_plain_error(outcome):
            path = unquote(made.path.partition("?")[0])
            faults = self._claim(path) or [("server", f"{outcome.status} without a word in the log: {made}")]
            for name, fault in faults:
                self.findings.add(
                    f"{outcome.status}, {name}: {cause_of(fault)}", f"{made}\n{fault}", only=made.number
                )

    def _claim(self, path: str) -> list[tuple[str, str]]:
        """The errors in the logs that name a path; with "" all that belong to no request."""
        with self._lock:
            self._faults += [(log.name, fault) for log in self.stack.logs for fault in log.faults()]
            end = f" {path}" if path else ""
            claimed = [each for each in self._faults if each[1].partition("\n")[0].endswith(end)]
            self._faults = [each for each in self._faults if each not in claimed]
        return claimed

    def _check(self, made: tuple[Sandbox, Meta], part: range) -> None:
        sandbox, meta = made
        try:
            canary.prepare(self.stack.store, sandbox, meta)
            canary.check(self.stack.port, sandbox)
        except canary.NotBound as error:
            self.findings.add(
                f"stopped loop: {str(error).partition(':')[0]}", f"{sandbox.name}: {error}", numbers=part
            )

    def __str__(self) -> str:
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(self.statuses.items()))
        slow = "\n".join(f"    {seconds:.1f} s {text}" for seconds, text in reversed(self.slowest))
        return f"answers: {statuses}\nslowest:\n{slow}"


def is_plain_error(outcome: Outcome) -> bool:
    """Whether a 500 is intended: kube-apiserver, too, answers some wrong requests with a Status of code 500
    that has no reason. A fault of the server has the reason InternalError."""
    try:
        body = json.loads(outcome.text)
    except ValueError:
        return False
    return isinstance(body, dict) and body.get("kind") == "Status" and "reason" not in body


def rounds(numbers: range) -> Iterator[range]:
    """Split at the multiples of ROUND for any beginning, so that a part repeats the rounds of the whole."""
    first = numbers.start
    while first < numbers.stop:
        end = min((first // ROUND + 1) * ROUND, numbers.stop)
        yield range(first, end)
        first = end
