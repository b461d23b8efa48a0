"""The bundled scenarios, and the creation of sandboxes from them (:mod:`schedviz.api.from_scenario`)."""

from functools import cache
from pathlib import Path
from typing import Final

from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.api.from_scenario import create
from schedviz.api.new_sandbox import numbered
from schedviz.store import Meta, Sandbox, Store
from simulator.queueing.versions import TODAY, QueueVersion
from simulator.scenario import DEFAULT_PACE, Scenario, load_scenario

FOLDER: Final = Path(__file__).resolve().parent.parent / "scenarios"
FIRST: Final = "online-vs-offline"
"""The scenario that is first in the list."""
EMPTY: Final = Scenario(
    name="sandbox", title="", summary="", seed=1, pace=DEFAULT_PACE, config=None, queue=TODAY, manifests=[]
)


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios by name. The files are read once."""
    found = [load_scenario(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))]
    return {each.name: each for each in sorted(found, key=lambda each: each.name != FIRST)}


def offered() -> list[Scenario]:
    """All scenarios, with title and summary in the active language."""
    return [
        replace(each, title=gettext(each.title), summary=gettext(each.summary))
        for each in scenarios().values()
    ]


def translated_meta(meta: Meta) -> Meta:
    """``meta`` with title and summary of a bundled scenario in the active language. The title of a branch
    names the event at which it was branched."""
    if meta.scenario:
        meta = replace(meta, title=gettext(meta.title), summary=gettext(meta.summary))
    if meta.origin:
        text = gettext("%(title)s, from event %(seq)s on")
        meta = replace(
            meta, title=text % {"title": meta.title or meta.origin.sandbox, "seq": meta.origin.seq}
        )
    return meta


def create_from_scenario(
    store: Store,
    scenario: str,
    name: str = "",
    queue: QueueVersion | None = None,
    *,
    paused: bool = False,
    access: str = "",
) -> Sandbox:
    """Create a sandbox from a bundled scenario.

    scenario: its name; "" = an empty sandbox. name: "" = the scenario's name, with a number if that is taken.
    Raises KeyError for an unknown scenario; further as :func:`create`.
    """
    made = scenarios()[scenario] if scenario else EMPTY
    names = [name] if name else numbered(store, made.name)
    return create(store, made, scenario, names, queue=queue, paused=paused, access=access)
