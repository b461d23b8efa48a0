"""Parts: the frames of a changed page turn the old page into the new one, merged in any way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedviz.live.slot import Slot
from schedviz.web.cycle.filter_matrix import Matrix
from schedviz.web.parts.parts import PartRenderer, Parts, merge
from tests.amounts import examples

from .page_model import Page


class Sample:
    """A page of a plain part, a list, a list in a part that holds it and another one, and a list whose part
    also holds another part."""

    def __init__(self) -> None:
        self._drawing = PartRenderer("/s/x/")

    def draw(self, state: "State") -> Parts:
        plain, log, head, marks = state
        draw = self._drawing.draw
        draw("pending", "queue/pending_count.html", plain)
        draw("log", "log/live.html", None)
        self._drawing.draw_list("log", "log", "cycle/total.html", log)
        draw("timeline", "past/timeline.html", head)
        draw("timeline/counts", "cycle/total.html", plain, "counts")
        draw("timeline/marks", "past/marks.html", None)
        self._drawing.draw_list("timeline/marks", "marks", "cycle/total.html", marks)
        draw("cycle", "cycle/live.html", ("matrix",))
        draw("cycle/matrix", "cycle/matrix.html", Matrix([], [], [], 0, 1, [], []), "cycle-matrix")
        fit = {"feasible": plain, "total": 3, "looked_at": 0}
        draw("cycle/matrix/fit", "cycle/fit.html", fit, "cycle-matrix-fit")
        rows = {name.replace("m", "row"): text for name, text in marks.items()}
        self._drawing.draw_list("cycle/matrix", "filter-rows", "cycle/total.html", rows)
        return self._drawing.changes()

    def whole(self) -> str:
        return "".join(self._drawing.all().values())


Views = dict[str, str]
State = tuple[int, Views, bool, Views]


def views(prefix: str) -> st.SearchStrategy[Views]:
    """A list of a few elements in any order: some stay, some change, some are removed and added again."""
    keys = st.lists(st.integers(0, 7), unique=True, max_size=6)
    return keys.flatmap(
        lambda found: st.fixed_dictionaries(
            {f"{prefix}{key}": st.sampled_from(["a text", "another"]) for key in found}
        )
    )


STATES = st.lists(st.tuples(st.integers(0, 2), views("l"), st.booleans(), views("m")), min_size=1, max_size=8)


@pytest.mark.sampled
@settings(max_examples=examples(60), deadline=None)
@given(STATES, st.data())
def test_frames_make_the_same_page_in_turn_and_merged_in_any_way(
    states: list[State], data: st.DataObject
) -> None:
    sample = Sample()
    sample.draw((0, {"l0": "first"}, False, {}))
    began = sample.whole()
    drawn = [(sample.draw(state), sample.whole()) for state in states]
    turn, merged = Page(began), Page(began)
    waiting: Parts = {}
    for parts, whole in drawn:
        turn.take(parts.values())
        assert str(turn) == str(Page(whole))
        waiting = merge(waiting, parts) if waiting else parts
        if data.draw(st.booleans()):
            merged.take(waiting.values())
            assert str(merged) == str(Page(whole))
            waiting = {}
    merged.take(waiting.values())
    assert str(merged) == str(turn)


@pytest.mark.sampled
@settings(max_examples=examples(30), deadline=None)
@given(STATES)
def test_frames_that_follow_a_whole_page_merge_into_one(states: list[State]) -> None:
    """A slot keeps these frames for a new viewer that takes none: never more than two whole pages."""
    sample = Sample()
    sample.draw((0, {}, False, {}))
    page, frame = Page(sample.whole()), sample._drawing.all()
    for state in states:
        frame = merge(frame, sample.draw(state))
    page.take(frame.values())
    assert str(page) == str(Page(sample.whole()))
    assert len(frame) <= 8


async def test_a_slot_returns_waiting_frames_merged_into_one() -> None:
    sample, slot = Sample(), Slot()
    sample.draw((0, {"l1": "a", "l2": "b"}, True, {}))
    page = Page(sample.whole())
    for number in range(3, 60):
        slot.put(sample.draw((number, {f"l{each}": "x" for each in range(number - 2, number)}, True, {})))
    frame = await slot.take()
    assert (frame.after, frame.seq) == (0, 57)
    assert len(frame.parts) == 4
    page.take(frame.parts.values())
    assert str(page) == str(Page(sample.whole()))


def test_a_frame_has_the_html_of_an_added_element_and_the_id_of_a_removed_one() -> None:
    sample = Sample()
    log = {f"l{number}": f"line {number}" for number in range(9, -1, -1)}
    sample.draw((0, log, False, {}))
    del log["l0"]
    parts = sample.draw((0, {"l10": "line 10", **log}, False, {}))
    assert parts == {
        "log": '<template hx-swap-oob="delete:#l0"></template>'
        '<template hx-swap-oob="afterbegin:#log"><b id="l10">line 10</b></template>'
    }
    assert sample.draw((0, {"l10": "line 10", **log}, False, {})) == {}


def test_a_merged_frame_has_the_latest_of_each_part_only() -> None:
    older = {"cycle": "c1", "nodes/a": "a1", "nodes/b/verdict": "v1", "log": "l1"}
    assert merge(older, {"nodes": "all", "log": "l2"}) == {"cycle": "c1", "nodes": "all", "log": "l2"}
    assert merge({"nodes": "all"}, {"nodes/a": "a2"}) == {"nodes": "all", "nodes/a": "a2"}
    assert list(merge({"log": "l1", "nodes": "n1"}, {"nodes": "n2"})) == ["log", "nodes"]


@pytest.mark.parametrize("text", ["<!--items-->", "<!--timeline/marks-->", "</template>"])
def test_text_of_users_is_not_taken_for_a_part(text: str) -> None:
    sample = Sample()
    sample.draw((0, {"l1": text}, True, {"m1": "mark"}))
    assert text not in sample._drawing.all()["log"]
