"""Examples: small sandboxes of one visitor, which begin paused, so that they take no work of a worker after
the visitor has left. They are not among the sandboxes of the home page.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from schedviz.access.record import continued
from schedviz.api.from_scenario import create, groups_of, names_to_delete
from schedviz.bundled_scenarios import FOLDER, scenarios
from schedviz.store import Meta, NoSandbox, Sandbox, Store
from simulator.scenario import Scenario, load_scenario

ExampleKind = Literal["idea", "guide"]
"""The kind of an example: that of an idea page, or that of a guide for first visitors."""
BROWSER_ID: Final = re.compile(r"[0-9a-f]{12}")
"""The identifier of a browser: a random number, drawn for the first example and kept in a cookie."""
EXAMPLES_AT_MOST: Final = 150
"""Maximum number of examples of all visitors: one for each in a class. Beyond it the oldest one of the
address that has most is deleted."""
KEPT_SECONDS: Final = 3600
"""Seconds after which examples are deleted when another one starts: this is longer than a lesson."""


class Example(NamedTuple):
    """An example, of which each visitor may have a sandbox."""

    kind: ExampleKind
    name: str

    @property
    def path(self) -> str:
        """The path of the example: ``Meta.scenario`` of its sandboxes, and its file below the folder of the
        scenarios."""
        return f"{self.kind}s/{self.name}"

    @property
    def scenario(self) -> Scenario:
        return _load(self.path)

    def sandbox(self, browser_id: str) -> str:
        """Return the name of a visitor's sandbox."""
        return f"{self.kind}-{self.name}-{browser_id}"


@cache
def _load(path: str) -> Scenario:
    return load_scenario((FOLDER / f"{path}.yaml").read_text())


@cache
def examples() -> dict[str, Example]:
    """Return all examples by their paths."""
    found = [
        Example(kind, file.stem) for kind in get_args(ExampleKind) for file in FOLDER.glob(f"{kind}s/*.yaml")
    ]
    return {example.path: example for example in found}


def example_in(meta: Meta) -> Example | None:
    """Return the example of which the sandbox is a visitor's; None for other sandboxes, and for a branch of
    one."""
    example = examples().get(meta.scenario)
    stem = example.sandbox("") if example else ""
    return example if BROWSER_ID.fullmatch(meta.name.removeprefix(stem)) else None


def is_example(meta: Meta) -> bool:
    return example_in(meta) is not None


def start_example(store: Store, example: Example, browser_id: str, access: str = "") -> Sandbox:
    """Create the visitor's example, paused at its beginning; an existing one is deleted. access: its
    access record. Raises StatusError if there are too many sandboxes."""
    name, now = example.sandbox(browser_id), store.wall()
    with store.replacing(name) as kept:
        delete_old(store, now, room=1)
        access = continued(kept, access)
        sandbox = create(store, example.scenario, example.path, [name], paused=True, access=access)
    # Several requests at the same time may each have created one.
    delete_old(store, now, room=0)
    return sandbox


def can_start_over(meta: Meta) -> bool:
    """Whether the sandbox was made from a bundled scenario or is an example; a branch of one is neither."""
    return meta.origin is None and (meta.scenario in scenarios() or is_example(meta))


def start_over(store: Store, meta: Meta, *, paused: bool) -> Sandbox:
    """Delete a sandbox and create it again from its scenario, with its name, its version, its queue, its
    owner and its links; an example is paused in any case. Raises StatusError."""
    with store.replacing(meta.name) as access:  # "" also where another user has deleted it
        if example := example_in(meta):
            return create(store, example.scenario, example.path, [meta.name], paused=True, access=access)
        made = scenarios()[meta.scenario]
        return create(
            store,
            made,
            meta.scenario,
            [meta.name],
            queue=meta.queue,
            features=meta.features(),
            paused=paused,
            access=access,
        )


def delete_old(store: Store, now: float, room: int) -> None:
    found = [meta for meta in store.sandboxes() if is_example(meta)]
    groups = groups_of(store.access_records()) if len(found) + room > EXAMPLES_AT_MOST else {}
    for name in examples_to_delete(found, now, room, groups, store.held_among(found)):
        with suppress(NoSandbox):  # another visitor's request deleted it
            store.delete(name)


def examples_to_delete(
    examples: Iterable[Meta],
    now: float,
    room: int,
    groups: Mapping[str, str] = {},
    held: Collection[str] = (),
) -> list[str]:
    """Return the names of the examples to delete, so that ``room`` more can be created. groups, held: see
    :func:`names_to_delete`."""
    at_most = EXAMPLES_AT_MOST - room
    return names_to_delete(
        examples, now, kept_seconds=KEPT_SECONDS, at_most=at_most, groups=groups, held=held
    )
