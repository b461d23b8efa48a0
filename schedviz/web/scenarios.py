"""The bundled scenarios: what the home page offers, and the sandboxes made of them."""

import time
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Final

from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.api.write import create_sandbox
from schedviz.store import Meta, Sandbox, Store
from simulator.queueing.versions import TODAY, QueueVersion
from simulator.scenario import DEFAULT_PACE, Scenario, load

FOLDER: Final = Path(__file__).resolve().parent.parent / "scenarios"
FIRST: Final = "online-vs-offline"
"""The one to begin with stands first."""
EMPTY: Final = Scenario(
    name="sandbox", title="", summary="", seed=1, pace=DEFAULT_PACE, config=None, queue=TODAY, manifests=[]
)


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios in the folder by name; read once, as they come with the program."""
    found = [load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))]
    return {each.name: each for each in sorted(found, key=lambda each: each.name != FIRST)}


def offered() -> list[Scenario]:
    """All scenarios, told in the active language."""
    return [
        replace(each, title=gettext(each.title), summary=gettext(each.summary))
        for each in scenarios().values()
    ]


def told(meta: Meta) -> Meta:
    """A sandbox's title and summary in the active language, where they are a bundled scenario's; and a
    branch's title says from where on it is one."""
    if meta.scenario:
        meta = replace(meta, title=gettext(meta.title), summary=gettext(meta.summary))
    if meta.origin:
        text = gettext("%(title)s, from event %(seq)s on")
        meta = replace(
            meta, title=text % {"title": meta.title or meta.origin.sandbox, "seq": meta.origin.seq}
        )
    return meta


def create(store: Store, scenario: str, name: str = "", queue: QueueVersion | None = None) -> Sandbox:
    """A new sandbox, of a scenario or (with "") empty; ``queue`` None is the scenario's own.

    Without a name it gets a free one: the scenario's, numbered where that is taken. Raises KeyError for an
    unknown scenario, StatusError, ValueError for a name that is none.
    """
    made = scenarios()[scenario] if scenario else EMPTY
    meta = Meta(
        name=name or free_name(store, made.name),
        title=made.title,
        summary=made.summary,
        scenario=scenario,
        created=time.time(),
        seed=made.seed,
        pace=made.pace,
        config=made.config,
        queue=queue or made.queue,
    )
    return create_sandbox(store, meta, made.manifests)


def free_name(store: Store, wish: str) -> str:
    taken = {meta.name for meta in store.sandboxes()}
    numbered = (f"{wish}-{number}" for number in count(2))
    return next(name for name in chain([wish], numbered) if name not in taken)
