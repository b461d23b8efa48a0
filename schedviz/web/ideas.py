"""The ideas of the scheduler, each with a page: what it is, an example to step through, what many get wrong.

An idea is a file in ``schedviz/ideas``; its example is the scenario of the same name in
``schedviz/scenarios/ideas``. A visitor gets a sandbox of each example, paused, so that one who has gone costs
nothing.
"""

import re
import time
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
from simulator.scenario import Scenario, load

FOLDER: Final = SCENARIOS.parent / "ideas"
MARK: Final = "ideas/"
"""How the scenario of an example's sandbox begins in its :class:`Meta`: nobody else's does."""
VISITOR: Final = re.compile(r"[0-9a-f]{12}")
"""Whose examples are whose: a number drawn at the first one."""
EXAMPLES_AT_MOST: Final = 60
"""Of all visitors: a tenth of what the store has room for. The oldest makes room for the next."""
KEPT_SECONDS: Final = 3600
"""How long an example lives at least, if not so many others want one: longer than a lesson."""
PARTS: Final = ("queue", "nodes", "informer", "leader", "cycle", "past", "priority")
"""What of a sandbox's page can be embedded by itself."""
WORDS: Final = ("title", "says", "misconception", "truth")
"""What of an idea's file is translated."""
UPSTREAM: Final = "https://github.com/kubernetes/kubernetes/blob/v1.34.0/"
SITE: Final = "https://kubernetes.io/"


class Idea(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All words in English, as in the file; :func:`told` has them in the reader's language."""

    order: int
    """Where it stands among the others."""
    title: str
    """As within a sentence: "the queue"."""
    says: str
    """The idea in one sentence."""
    misconception: str
    """What many believe, in their words."""
    truth: str
    source: str
    """Upstream's file, in v1.34."""
    docs: str
    """The page of Kubernetes' documentation, by its path below ``docs/`` ..."""
    docs_title: str
    """... and by its title."""
    shows: list[str]
    """Of :data:`PARTS`: what is live on the page."""
    name: str = ""
    """The file's."""
    watch: str = ""
    """What one sees in the example: its summary."""

    @property
    def source_address(self) -> str:
        return UPSTREAM + self.source

    @property
    def docs_address(self) -> str:
        chinese = (get_language() or "").startswith("zh")
        return f"{SITE}{'zh-cn/' if chinese else ''}docs/{self.docs}"


@cache
def ideas() -> dict[str, Idea]:
    """All ideas by name, in their order; read once, as they come with the program."""
    read = [_read(path) for path in FOLDER.glob("*.yaml")]
    return {idea.name: idea for idea in sorted(read, key=lambda idea: idea.order)}


def _read(path: Path) -> Idea:
    idea = msgspec.yaml.decode(path.read_bytes(), type=Idea)
    return msgspec.structs.replace(idea, name=path.stem, watch=example(path.stem).summary)


@cache
def example(name: str) -> Scenario:
    return load((SCENARIOS / "ideas" / f"{name}.yaml").read_text())


def told(idea: Idea) -> Idea:
    """In the active language."""
    return msgspec.structs.replace(idea, **{word: gettext(getattr(idea, word)) for word in (*WORDS, "watch")})


def chosen_parts(text: str) -> list[str]:
    """``"queue,cycle"`` as parts; what is none is left out."""
    return [part for part in PARTS if part in text.split(",")]


def is_example(meta: Meta) -> bool:
    """Whether it is a visitor's example; what somebody branched from one is their own."""
    idea = meta.scenario.removeprefix(MARK)
    return idea in ideas() and VISITOR.fullmatch(meta.name.removeprefix(sandbox_of(idea, ""))) is not None


def sandbox_of(idea: str, visitor: str) -> str:
    """The name of a visitor's example."""
    return f"idea-{idea}-{visitor}"


def start(store: Store, idea: str, visitor: str) -> Sandbox:
    """The example anew, paused at its beginning. Raises StatusError where there is no room."""
    name, now = sandbox_of(idea, visitor), time.time()
    with suppress(NoSandbox):
        store.delete(name)
    for old in too_many([meta for meta in store.sandboxes() if is_example(meta)], now):
        with suppress(NoSandbox):  # somebody else was faster
            store.delete(old)
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
    return create_sandbox(store, meta, made.manifests, Clock(sim=int(now) * SECOND, wall=now, paused=True))


def too_many(examples: Iterable[Meta], now: float) -> list[str]:
    """Which of the examples, oldest first, are to go before there is one more."""
    seen = list(examples)
    fresh = [meta.name for meta in seen if now - meta.created < KEPT_SECONDS]
    old = [meta.name for meta in seen if now - meta.created >= KEPT_SECONDS]
    return old + fresh[: max(0, len(fresh) + 1 - EXAMPLES_AT_MOST)]
