"""An extender without a network: its answers follow from what it is asked, and some are failures."""

import zlib
from typing import Any

import msgspec

from simulator.api import Manifest

FAILURES = 12
"""One answer out of so many is a failure."""


class ScriptedExtender:
    """A :class:`simulator.scheduler.extender.Transport`."""

    def __init__(self) -> None:
        self._asked = 0

    def allows(self, url: str) -> bool:
        return True

    def post(self, url: str, body: bytes, timeout_seconds: float) -> tuple[int, bytes]:
        self._asked += 1
        verb = url.rpartition("/")[2]
        chance = number(verb, str(self._asked)) % FAILURES
        if chance == 0:
            return (500, b"") if self._asked % 2 else (200, b'{"error": "out of order"}')
        answer: Any = getattr(self, f"_{verb}")(msgspec.json.decode(body))
        return 200, msgspec.json.encode(answer)

    def _filter(self, asked: Manifest) -> Manifest:
        names = node_names(asked)
        pod = asked["Pod"]["metadata"]["name"]
        drawn = {name: number(pod, name) % 8 for name in names}
        passed = [name for name, draw in drawn.items() if draw > 1]
        answer: Manifest = {
            "FailedNodes": {name: "not licensed" for name, draw in drawn.items() if draw == 0},
            "FailedAndUnresolvableNodes": {name: "no such chip" for name, draw in drawn.items() if draw == 1},
        }
        if asked["Nodes"] is None:
            return {**answer, "NodeNames": passed}
        return {**answer, "Nodes": {"items": [{"metadata": {"name": name}} for name in passed]}}

    def _prioritize(self, asked: Manifest) -> list[Manifest]:
        pod = asked["Pod"]["metadata"]["name"]
        return [{"Host": name, "Score": number(name, pod) % 11} for name in node_names(asked)]

    def _preempt(self, asked: Manifest) -> Manifest:
        by_name = asked["NodeNameToVictims"] or {}
        by_uid = asked["NodeNameToMetaVictims"] or {}
        found = {}
        for name, victims in {**by_name, **by_uid}.items():
            if number("preempt", name) % 5 == 0:
                continue
            uids = [pod.get("UID") or pod["metadata"]["uid"] for pod in victims["Pods"] or ()]
            found[name] = {
                "Pods": [{"UID": uid} for uid in uids],
                "NumPDBViolations": victims["NumPDBViolations"],
            }
        return {"NodeNameToMetaVictims": found}

    def _bind(self, asked: Manifest) -> Manifest:
        return {}


def node_names(asked: Manifest) -> list[str]:
    if asked["NodeNames"] is not None:
        return list(asked["NodeNames"])
    return [node["metadata"]["name"] for node in asked["Nodes"]["items"]]


def number(*words: str) -> int:
    """The same for the same words."""
    return zlib.crc32("/".join(words).encode())
