"""A condition that may take long is refused when it is read, or ends when it is evaluated."""

import pytest

from schedviz.lessons.conditions import Condition, ConditionError, Values

DEAR = (
    "trace.all(a, trace == trace)",
    "trace.all(a, a in trace)",
    "pods.all(a, pods.all(b, pods[a].spec == pods[b].spec))",
    "pods.all(a, pods.all(b, pods[a] == pods[b]))",
)
LARGE = (
    "trace.all(a, [trace, trace] == [trace, trace])",
    "[[trace, trace]].all(x, [[x, x, x, x]].all(y, [[y, y, y, y]].all(z, [[z, z, z]].all(w, w == w))))",
    "trace.all(a, trace.all(b, trace.all(c, a.pod == c.pod)))",
    "trace.all(a, trace.all(b, a.pod + b.pod != a.type))",
    "(trace + trace + trace + trace + trace + trace).all(a, a.pod == 'web')",
)
CHEAP = (
    "trace.exists(e, e.type == 'Bound' && e.pod == 'web')",
    "trace.filter(e, e.type == 'CycleStarted')[0].pod == 'web'",
    "nodes.filter(n, bound.exists(p, bound[p] == n)).size() > 3",
    "evicted.all(e, trace.exists(t, t.type == 'VictimDeleted' && t.pod == e.pod))",
    "pods.all(p, pods[p].metadata.labels == pods['web'].metadata.labels)",
    "trace == trace",
    "trace.map(a, trace + trace).size() > 0",
    "nodes.all(n, bound.filter(p, bound[p] == n).size() <= 2)",
    "pods.all(p, bound.all(q, nodes.all(n, bound[q] == n || p == q)))",
    "[1, 2].map(x, 'a' + string(x)).exists(p, p in pods)",
    "(trace + trace).map(a, a).size() > 0",
)


@pytest.mark.parametrize("text", DEAR)
def test_a_condition_that_looks_at_too_many_values_is_refused(text: str) -> None:
    with pytest.raises(ConditionError, match=r"costs too much: it may look at [\d,]+ values"):
        Condition(text)


@pytest.mark.parametrize("text", CHEAP)
def test_the_conditions_of_the_lessons_are_within_the_bound(text: str) -> None:
    assert Condition(text).cost > 0


@pytest.mark.parametrize("text", LARGE)
def test_what_takes_long_in_a_large_sandbox_does_not_hold_there(text: str) -> None:
    """The estimate does not know how large lists within lists are, nor how long the trace is."""
    condition, event = Condition(text), {"type": "QueueMoved", "pod": "web", "seconds": 1.0}
    assert condition.holds(Values({"trace": [event] * 3}))
    assert not condition.holds(Values({"trace": [event] * 2_000}))


def test_the_cost_of_a_macro_is_that_of_its_elements() -> None:
    once, twice = Condition("trace.all(e, e.pod == 'a')").cost, Condition("evicted.all(e, e.pod == 'a')").cost
    assert once == twice, "both lists have at most as many elements"
    assert Condition("['a', 'b'].all(p, p in bound)").cost < 100


@pytest.mark.parametrize(
    "text",
    [
        "'a'.matches('(a|b)*')",
        "trace" + ".a" * 400 + " == 1",
        "1" + " + 1" * 200 + " == 2",
        "(" * 99 + "true" + ")" * 99,
    ],
)
def test_regular_expressions_and_deep_trees_are_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        Condition(text)


def test_values_are_those_of_json() -> None:
    event = {"type": "Nominated", "victims": ("a", "b"), "rule": 1, "none": None, "ok": True}
    values = Values({"trace": [event], "bound": {"a": "n"}, "edits": 2, "seconds": 3.0, "guesses": {}})
    for text in (
        "trace[0].victims == ['a', 'b'] && trace[0].victims.size() == 2 && 'b' in trace[0].victims",
        "trace[0] == {'type': 'Nominated', 'victims': ['a', 'b'], 'rule': 1, 'none': null, 'ok': true}",
        "type(trace[0]) == map && type(trace[0].rule) == int && trace[0].ok",
        "has(trace[0].rule) && !has(trace[0].nothing) && trace[0].none == null",
        "bound.all(p, bound[p] == 'n') && bound == {'a': 'n'} && edits == 2 && seconds > 2.5",
        "[1, 2].map(x, 'a' + string(x)) == ['a1', 'a2'] && guesses == {}",
    ):
        assert Condition(text).holds(values), text
    for text in (
        "trace[0].nothing == 1",
        "trace[1].rule == 1",
        "bound[1] == 'n'",
        "trace[0].rule",
        "edits / 0 == 1",
    ):
        try:
            assert not Condition(text).holds(values), text
        except ConditionError:
            assert text == "bound[1] == 'n'", "its key is of another type"
