"""The bundled scenarios, as the home page offers them."""

import time
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Final

import msgspec

from schedviz.api.write import create_sandbox
from schedviz.store import Meta, Sandbox, Store
from simulator.api import Manifest
from simulator.apiserver.manifest import documents

FOLDER: Final = Path(__file__).resolve().parent.parent / "scenarios"
FIRST: Final = "online-vs-offline"
"""The one to begin with stands first."""


class Offer(msgspec.Struct, frozen=True):
    name: str
    title: str
    summary: str


@cache
def offers() -> list[Offer]:
    """All scenarios in the folder; read once, as they come with the program."""
    heads = [documents(path.read_bytes())[0] for path in sorted(FOLDER.glob("*.yaml"))]
    found = [
        Offer(head["metadata"]["name"], head["spec"]["title"], " ".join(head["spec"]["summary"].split()))
        for head in heads
    ]
    return sorted(found, key=lambda offer: offer.name != FIRST)


def text(name: str) -> bytes:
    """The scenario's YAML. Raises KeyError."""
    if name not in {offer.name for offer in offers()}:
        raise KeyError(name)
    return (FOLDER / f"{name}.yaml").read_bytes()


class Scenario(msgspec.Struct):
    title: str = ""
    summary: str = ""
    seed: int = 1
    pace: int = 0
    manifests: list[Manifest] = []


def parse(text: bytes) -> Scenario:
    head, *rest = documents(text)
    spec = head["spec"]
    entries = []
    manifests = []
    for document in rest:
        times = {key: document.pop(key) for key in ("at", "every", "until") if key in document}
        if times:
            entries.append({**times, "object": document})
        else:
            manifests.append(document)
    if entries:
        manifests.append(
            {
                "apiVersion": "schedviz/v1",
                "kind": "Timetable",
                "metadata": {"name": head["metadata"]["name"]},
                "spec": {"entries": entries},
            }
        )
    pace = int(spec.get("pace", "0ms").removesuffix("ms")) * 1000
    return Scenario(spec["title"], " ".join(spec["summary"].split()), spec.get("seed", 1), pace, manifests)


def create(store: Store, scenario: str, name: str) -> Sandbox:
    """A new sandbox, of a scenario or (with "") empty. Without a name it gets a free one: the scenario's,
    numbered where that is taken. Raises KeyError for an unknown scenario, StatusError, ValueError for a name
    that is none."""
    made = parse(text(scenario)) if scenario else Scenario()
    meta = Meta(
        name=name or free_name(store, scenario or "sandbox"),
        title=made.title,
        summary=made.summary,
        scenario=scenario,
        created=time.time(),
        seed=made.seed,
        pace=made.pace,
    )
    return create_sandbox(store, meta, made.manifests)


def free_name(store: Store, wish: str) -> str:
    taken = {meta.name for meta in store.sandboxes()}
    numbered = (f"{wish}-{number}" for number in count(2))
    return next(name for name in chain([wish], numbered) if name not in taken)
