"""The states of a hub: after any order of joins and leaves, it ends when no viewer was connected for long,
and never before."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedviz.live import lifecycle
from schedviz.live.lifecycle import LINGER_SECONDS, Ended, Lifecycle

MEMBERS = ["a", "b", "c"]


class Loop(asyncio.SelectorEventLoop):
    """A clock that only the test moves."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        """Run the timers that are due then, in their order."""
        self.now += seconds
        self.run_until_complete(asyncio.sleep(0))


operations = st.one_of(
    st.tuples(st.sampled_from(["join", "leave"]), st.sampled_from(MEMBERS)),
    st.tuples(st.just("wait"), st.sampled_from([LINGER_SECONDS / 2, LINGER_SECONDS + 1])),
)


@given(st.lists(operations, max_size=30))
def test_a_hub_ends_when_no_viewer_was_connected_for_long_and_never_before(
    story: list[tuple[str, str | float]],
) -> None:
    """Compared with a model: the connected viewers, and the time since which there is none."""
    loop = Loop()
    expired: list[float] = []

    async def make() -> Lifecycle[str]:
        return Lifecycle(expired=lambda: expired.append(loop.now))

    async def act(what: str, member: str) -> None:
        getattr(life, what)(member)

    life = loop.run_until_complete(make())
    connected: set[str] = set()
    idle_since: float | None = 0.0
    for what, value in story:
        if what == "wait":
            loop.pass_(float(value))
        elif expired:
            if what == "join":
                with pytest.raises(Ended):
                    loop.run_until_complete(act(what, str(value)))
        else:
            loop.run_until_complete(act(what, str(value)))
            if what == "join":
                connected.add(str(value))
                idle_since = None
            elif connected:
                connected.discard(str(value))
                idle_since = None if connected else loop.now
        over = idle_since is not None and loop.now - idle_since >= LINGER_SECONDS
        assert bool(expired) == over
        assert life.members == connected
        assert life.state == ("ended" if over else "watched" if connected else "idle")
    assert len(expired) <= 1
    loop.close()


async def test_no_viewer_joins_a_hub_that_was_ended_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "LINGER_SECONDS", 0.0)
    expired: list[bool] = []
    life = Lifecycle[str](expired=lambda: expired.append(True))
    life.join("a")
    life.end()
    life.leave("a")
    await asyncio.sleep(0)
    assert life.state == "ended"
    assert expired == []
    with pytest.raises(Ended):
        life.join("b")
