"""The ideas of the scheduler. Each has a page with an explanation, an example to step through, and a common
misconception.

An idea is a file in ``schedviz/ideas``; its example is the scenario of the same name in
``schedviz/scenarios/ideas``. Each visitor gets a sandbox of the example. It is paused, so that it takes no
work of a worker after the visitor has left.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from django.utils.translation import get_language, gettext

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, NoSandbox, Sandbox, Store
from schedviz.web.scenarios import FOLDER as SCENARIOS
from simulator.api import SECOND
from simulator.scenario import Scenario, load_scenario

FOLDER: Final = SCENARIOS.parent / "ideas"
MARK: Final = "ideas/"
"""Prefix of ``Meta.scenario`` in the sandboxes of examples."""
VISITOR: Final = re.compile(r"[0-9a-f]{12}")
"""A visitor's identifier: a random number, drawn for the first example and kept in a cookie."""
EXAMPLES_AT_MOST: Final = 60
"""Examples of all visitors: about a tenth of MAX_SANDBOXES. Above this the oldest is deleted."""
KEPT_SECONDS: Final = 3600
"""Older examples are deleted when another one starts: this is longer than a lesson."""
PARTS: Final = ("queue", "nodes", "informer", "leader", "cycle", "past", "priority")
"""The parts of a sandbox's page that a page of an idea can embed."""
WORDS: Final = ("title", "says", "misconception", "truth")
"""The fields of an idea that are translated."""
UPSTREAM: Final = "https://github.com/kubernetes/kubernetes/blob/v1.34.0/"
SITE: Final = "https://kubernetes.io/"


class Idea(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An idea, in English as in its file; :func:`translated_idea` translates it."""

    order: int
    """Its position in the list of ideas."""
    title: str
    """As within a sentence: "the queue"."""
    says: str
    """The idea in one sentence."""
    misconception: str
    """The common misconception, as a sentence of somebody who has it."""
    truth: str
    source: str
    """Path of upstream's source file, in v1.34."""
    docs: str
    """A page of Kubernetes' documentation: its path below ``docs/``."""
    docs_title: str
    """The title of that page."""
    shows: list[str]
    """The embedded parts of the example's page, of :data:`PARTS`."""
    name: str = ""
    """The name of the file, without its extension."""
    watch: str = ""
    """The summary of the example."""

    @property
    def source_address(self) -> str:
        return UPSTREAM + self.source

    @property
    def docs_address(self) -> str:
        chinese = (get_language() or "").startswith("zh")
        return f"{SITE}{'zh-cn/' if chinese else ''}docs/{self.docs}"


@cache
def ideas() -> dict[str, Idea]:
    """All ideas by name, sorted by ``order``. The files are read once."""
    read = [_read_idea(path) for path in FOLDER.glob("*.yaml")]
    return {idea.name: idea for idea in sorted(read, key=lambda idea: idea.order)}


def _read_idea(path: Path) -> Idea:
    idea = msgspec.yaml.decode(path.read_bytes(), type=Idea)
    return msgspec.structs.replace(idea, name=path.stem, watch=example(path.stem).summary)


@cache
def example(name: str) -> Scenario:
    return load_scenario((SCENARIOS / "ideas" / f"{name}.yaml").read_text())


def translated_idea(idea: Idea) -> Idea:
    """The idea in the active language."""
    return msgspec.structs.replace(idea, **{word: gettext(getattr(idea, word)) for word in (*WORDS, "watch")})


def chosen_parts(text: str) -> list[str]:
    """The parts in a comma-separated text such as ``"queue,cycle"``; other words are ignored."""
    return [part for part in PARTS if part in text.split(",")]


def is_example(meta: Meta) -> bool:
    """Whether the sandbox is a visitor's example. A branch of one is not."""
    idea = meta.scenario.removeprefix(MARK)
    return idea in ideas() and VISITOR.fullmatch(meta.name.removeprefix(sandbox_of(idea, ""))) is not None


def sandbox_of(idea: str, visitor: str) -> str:
    """The name of a visitor's example."""
    return f"idea-{idea}-{visitor}"


def start_example(store: Store, idea: str, visitor: str) -> Sandbox:
    """Create the visitor's example, paused at its beginning; an existing one is deleted. Raises StatusError
    if there are too many sandboxes."""
    name, now = sandbox_of(idea, visitor), store.wall()
    with suppress(NoSandbox):
        store.delete(name)
    delete_old(store, now, room=1)
    made = example(idea)
    meta = Meta(
        name=name,
        title=made.title,
        summary=made.summary,
        scenario=f"{MARK}{idea}",
        created=now,
        seed=made.seed,
        pace=made.pace,
        config=made.config,
        queue=made.queue,
    )
    clock = Clock(sim=int(now) * SECOND, wall=now, paused=True)
    sandbox = create_sandbox(store, meta, made.manifests, clock)
    # Several requests at the same time may each have created one.
    delete_old(store, now, room=0)
    return sandbox


def delete_old(store: Store, now: float, room: int) -> None:
    for name in examples_to_delete([meta for meta in store.sandboxes() if is_example(meta)], now, room):
        with suppress(NoSandbox):  # another visitor's request deleted it
            store.delete(name)


def examples_to_delete(examples: Iterable[Meta], now: float, room: int) -> list[str]:
    """The names of the examples (oldest first) to delete, so that ``room`` more can be created."""
    seen = list(examples)
    fresh = [meta.name for meta in seen if now - meta.created < KEPT_SECONDS]
    old = [meta.name for meta in seen if now - meta.created >= KEPT_SECONDS]
    return old + fresh[: max(0, len(fresh) + room - EXAMPLES_AT_MOST)]
