"""The heap of activeQ and backoffQ, compared with a dict."""

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.queueing.keyed_heap import MAX_EXTRA_OUTDATED, KeyedHeap

NAMES = st.sampled_from("abcdefgh")
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), NAMES, st.integers(0, 9)),
        st.tuples(st.just("remove"), NAMES),
        st.tuples(st.just("pop")),
    ),
    max_size=200,
)


@settings(derandomize=True, deadline=None)
@given(OPERATIONS)
def test_pop_returns_the_least_item_after_any_replacements(
    operations: list[tuple[str, ...]],
) -> None:
    heap: KeyedHeap[tuple[int, str]] = KeyedHeap(lambda item: item)
    model: dict[str, tuple[int, str]] = {}
    for operation, *arguments in operations:
        if operation == "set":
            name, rank = arguments
            heap.set(name, (int(rank), name))
            model[name] = (int(rank), name)
        elif operation == "remove":
            assert heap.remove(arguments[0]) == model.pop(arguments[0], None)
        else:
            least = min(model.values(), default=None)
            assert heap.peek() == heap.pop() == least
            if least is not None:
                del model[least[1]]
        assert list(heap) == sorted(model.values())
        assert len(heap) == len(model)
    for name, item in model.items():
        assert name in heap
        assert heap.get(name) == item


def test_outdated_entries_are_removed() -> None:
    heap: KeyedHeap[tuple[int, str]] = KeyedHeap(lambda item: item)
    for rank in range(10_000):
        heap.set("a", (rank, "a"))
    assert len(heap._heap) <= 2 + MAX_EXTRA_OUTDATED
