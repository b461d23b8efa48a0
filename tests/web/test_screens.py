"""Screens that were updated have the same parts as new screens."""

from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from schedviz.cache import Caches
from schedviz.store import Clock, Commit, Meta, Sandbox, Store
from schedviz.web.page.screen import DEFAULT, look
from schedviz.web.page.screens import SandboxScreens, screens_of
from schedviz.web.parts.parts import Parts
from simulator.api import Change
from simulator.trace import Bound, QueuePlace
from tests.web.samples import node, pod

NAME = "screens-equal"
LOOKS = [DEFAULT, look("", "p1"), look("namespace", "")]
PODS = st.tuples(
    st.just("pods"), st.sampled_from(["p1", "p2", "p3"]), st.sampled_from(["", "n1", "n2", None])
)
NODES = st.tuples(st.just("nodes"), st.sampled_from(["n1", "n2"]), st.sampled_from(["there", None]))
CLOCK = st.tuples(st.just("clock"), st.just(""), st.sampled_from(["1", "2"]))


def write(sandbox: Sandbox, number: int, what: tuple[str, str, str | None]) -> None:
    """A pod with the node it is bound to, a node, or the clock's speed; None deletes the object."""
    resource, name, value = what
    if resource == "clock":
        sandbox.set_clock(Clock(number, 0.0, float(value or 1), paused=True))
        return
    key = f"default/{name}" if resource == "pods" else name
    there = sandbox.get(resource, key)
    if value is None and there is None:
        return
    manifest: dict[str, Any] | None = None
    lanes: dict[str, QueuePlace | None] = {}
    if value is not None:
        manifest = pod(name) if resource == "pods" else node(name)
    if resource == "pods":
        if manifest is not None and value:
            manifest["spec"]["nodeName"] = value
        waits = manifest is not None and not value
        lanes[key] = QueuePlace(key, "u", "activeQ", 0, number, number, number) if waits else None
    expected = int(there["metadata"]["resourceVersion"]) if there else 0
    sandbox.commit(
        Commit(
            [Change(resource, key, manifest, expected)],
            trace=[Bound(number, number, key, "n1")],
            queue_places=lanes,
        )
    )


def pieces(parts: Parts) -> dict[str, list[str]]:
    """The tags of each part, sorted, as otherwise equal pods are in the order in which they were observed."""
    return {name: sorted(html.split("<")) for name, html in parts.items()}


@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.lists(st.one_of(PODS, NODES, CLOCK), min_size=1, max_size=4), max_size=6))
def test_updated_screens_have_the_parts_of_new_ones(
    store: Store, bursts: list[list[tuple[str, str, str | None]]]
) -> None:
    if NAME in store.names():
        store.delete(NAME)
    sandbox, caches, number = store.create(Meta(NAME)), Caches(store), 0
    cache = caches.follow(NAME)
    cache.refresh()
    screens = screens_of(cache)
    for burst in bursts:
        for what in burst:
            number += 1
            write(sandbox, number, what)
        present = caches.read(NAME)
        screens.update(cache)
        for chosen in LOOKS:
            anew = SandboxScreens(present)
            anew.load()
            assert pieces(screens.page("en", chosen)) == pieces(anew.page("en", chosen))
    caches.unfollow(cache)
    store.delete(NAME)
