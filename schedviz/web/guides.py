"""The guides: each leads a newcomer through one small example (:mod:`schedviz.web.examples`), in which the
newcomer creates one pod.

A guide is a file in ``schedviz/guides``; its example is the scenario of the same name in
``schedviz/scenarios/guides``.
"""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.bundled_scenarios import FOLDER as SCENARIOS
from schedviz.store import Meta
from schedviz.web.examples import Example, example_in
from simulator.kernel.prepared_types import prepared

FOLDER: Final = SCENARIOS.parent / "guides"
WORDS: Final = ("title", "goal", "learned")
"""The fields of a guide that are translated."""
FIRST: Final = "preemption"


class Guide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guide, in English as in its file; :func:`translated_guide` translates it."""

    order: int
    title: str
    """The title as within a sentence: "preemption"."""
    goal: str
    """The newcomer's task and its result, in a sentence or two."""
    learned: str
    """The rule that the end of the example shows."""
    pod: dict[str, str]
    """The fields of the form of the pod that the newcomer creates."""
    name: str = ""
    """The name of the file, without its extension."""

    @property
    def example(self) -> Example:
        return Example("guide", self.name)


@cache
def guides() -> dict[str, Guide]:
    """Return all guides by name, sorted by ``order``. The files are read once."""
    read = [_read_guide(path) for path in FOLDER.glob("*.yaml")]
    return {guide.name: guide for guide in sorted(read, key=lambda guide: guide.order)}


def _read_guide(path: Path) -> Guide:
    return msgspec.structs.replace(
        msgspec.yaml.decode(path.read_bytes(), type=prepared(Guide)), name=path.stem
    )


def translated_guide(guide: Guide) -> Guide:
    """Return the guide in the active language."""
    return msgspec.structs.replace(guide, **{word: gettext(getattr(guide, word)) for word in WORDS})


def next_guide(guide: Guide) -> Guide | None:
    """Return the guide after this one; None after the last one."""
    later = (each for each in guides().values() if each.order > guide.order)
    return next(later, None)


def guide_in(meta: Meta) -> Guide | None:
    """Return the guide of which the sandbox is a visitor's example; None for other sandboxes."""
    example = example_in(meta)
    return guides()[example.name] if example and example.kind == "guide" else None
