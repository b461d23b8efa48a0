"""The ideas of the scheduler. Each has a page with an explanation, an example to step through, and a common
misconception.

An idea is a file in ``schedviz/ideas``; its example (:mod:`schedviz.web.examples`) is the scenario of the
same name in ``schedviz/scenarios/ideas``.
"""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from django.utils.translation import gettext, gettext_noop

from schedviz.bundled_scenarios import FOLDER as SCENARIOS
from schedviz.web.examples import Example
from simulator.kernel.prepared_types import prepared

FOLDER: Final = SCENARIOS.parent / "ideas"
PARTS: Final = ("queue", "nodes", "informer", "leader", "cycle", "past", "priority")
"""The parts of a sandbox's page that a page of an idea can embed."""
WATCH: Final = "watch"
"""The word among embedded parts that leaves out what changes the sandbox: for a screen that only shows it."""
WORDS: Final = ("title", "says", "misconception", "truth")
"""The fields of an idea that are translated."""
UPSTREAM: Final = "https://github.com/kubernetes/kubernetes/blob/v1.36.2/"
DOCS: Final = gettext_noop("https://kubernetes.io/docs/")
"""Kubernetes' documentation. Its translation is the address in that language."""


class Idea(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An idea, in English as in its file; :func:`translated_idea` translates it."""

    order: int
    """The position in the list of ideas."""
    title: str
    """The title as within a sentence: "the queue"."""
    says: str
    """The idea in one sentence."""
    misconception: str
    """The common misconception, as a sentence of a person who has it."""
    truth: str
    source: str
    """The path of upstream's source file, in v1.36."""
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
        return gettext(DOCS) + self.docs


@cache
def ideas() -> dict[str, Idea]:
    """Return all ideas by name, sorted by ``order``. The files are read once."""
    read = [_read_idea(path) for path in FOLDER.glob("*.yaml")]
    return {idea.name: idea for idea in sorted(read, key=lambda idea: idea.order)}


def _read_idea(path: Path) -> Idea:
    idea = msgspec.yaml.decode(path.read_bytes(), type=prepared(Idea))
    return msgspec.structs.replace(idea, name=path.stem, watch=example_of(path.stem).scenario.summary)


def example_of(idea: str) -> Example:
    return Example("idea", idea)


def translated_idea(idea: Idea) -> Idea:
    """Return the idea in the active language."""
    return msgspec.structs.replace(idea, **{word: gettext(getattr(idea, word)) for word in (*WORDS, "watch")})


def chosen_parts(text: str) -> list[str]:
    """Return the parts in a comma-separated text such as ``"queue,cycle"``, with WATCH; other words are
    ignored."""
    return [part for part in (*PARTS, WATCH) if part in text.split(",")]
