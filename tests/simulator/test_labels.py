import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cluster.cluster import Cluster
from simulator.cluster.node_selectors import match_node_selector
from simulator.objects.label_sets import LabelSet, LabelSets, label_set
from simulator.objects.labels import Requirement, Selector, label_selector, parse_int64, selector_text
from simulator.objects.node import Node
from simulator.objects.node_selector import NodeSelectorTerm, node_selector_matches


@pytest.mark.parametrize(
    ("operator", "values", "of_value", "of_absence"),
    [
        ("In", ["a", "b"], True, False),
        ("In", ["b"], False, False),
        ("NotIn", ["a"], False, True),
        ("NotIn", ["b"], True, True),
        ("Exists", [], True, False),
        ("DoesNotExist", [], False, True),
        ("Gt", ["1"], False, False),
        ("Something", ["a"], False, False),
    ],
)
def test_requirements_match_labels_and_their_absence(
    operator: str, values: list[str], of_value: bool, of_absence: bool
) -> None:
    selector = label_selector({"matchExpressions": [{"key": "k", "operator": operator, "values": values}]})
    assert selector is not None
    assert selector.matches({"k": "a"}) is of_value
    assert selector.matches({}) is of_absence


def test_gt_and_lt_compare_integers_only() -> None:
    gt, lt = Requirement("k", "Gt", ("5",)), Requirement("k", "Lt", ("5",))
    assert gt.matches({"k": "10"})
    assert lt.matches({"k": "-10"})
    assert not gt.matches({"k": "5"})
    assert not gt.matches({"k": "6.0"})
    assert not gt.matches({"k": "ten"})
    assert parse_int64("9223372036854775807") == (1 << 63) - 1
    assert parse_int64("9223372036854775808") is None
    assert parse_int64("1_0") is None


def test_no_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert label_selector(None) is None
    everything = label_selector({})
    assert everything == Selector(())
    assert everything.matches({})


def test_a_selector_is_written_as_by_kubernetes() -> None:
    operators = {"x": "In", "y": "DoesNotExist", "w": "NotIn", "e": "Exists"}
    given = [{"key": key, "operator": operator, "values": ["b", "a"]} for key, operator in operators.items()]
    one = [{"key": "app", "operator": "In", "values": ["web"]}]
    assert selector_text({"matchLabels": {"z": "1", "a": "2"}, "matchExpressions": given}) == (
        "a=2,e,w notin (a,b),x in (a,b),!y,z=1"
    )
    assert selector_text({"matchLabels": {"app": "web"}}) == "app=web"
    assert selector_text({"matchExpressions": one}) == "app in (web)"
    assert selector_text({}) == selector_text(None) == ""


def test_equal_selectors_have_the_same_key() -> None:
    one = label_selector({"matchLabels": {"a": "1", "b": "2"}})
    other = label_selector(
        {
            "matchExpressions": [
                {"key": "b", "operator": "In", "values": ["2"]},
                {"key": "a", "operator": "In", "values": ["1"]},
            ]
        }
    )
    assert one == other
    assert hash(one) == hash(other)


KEYS, VALUES = st.sampled_from(["zone", "gen"]), st.sampled_from(["a", "b", "1", "2", "10"])
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement,
        KEYS,
        st.sampled_from(["In", "NotIn"]),
        st.lists(VALUES, max_size=2).map(lambda v: tuple(sorted(v))),
    ),
    st.builds(Requirement, KEYS, st.sampled_from(["Exists", "DoesNotExist"]), st.just(())),
    st.builds(Requirement, KEYS, st.sampled_from(["Gt", "Lt"]), VALUES.map(lambda v: (v,))),
)
NAMES = st.lists(st.sampled_from(["n0", "n1", "n2", "ghost"]), min_size=1, max_size=2)
FIELDS = st.builds(
    Requirement,
    st.just("metadata.name"),
    st.sampled_from(["In", "NotIn"]),
    NAMES.map(lambda v: tuple(sorted(v))),
)
TERMS = st.builds(
    NodeSelectorTerm,
    st.lists(REQUIREMENTS, max_size=2).map(tuple),
    st.lists(FIELDS, max_size=1).map(tuple),
)
NODE_LABELS = st.dictionaries(KEYS, VALUES)


@given(st.lists(NODE_LABELS, min_size=3, max_size=3), st.lists(TERMS, max_size=3).map(tuple), NODE_LABELS)
def test_a_node_selector_over_columns_selects_what_it_selects_node_by_node(
    labels: list[dict[str, str]], selector: tuple[NodeSelectorTerm, ...], later: dict[str, str]
) -> None:
    cluster = Cluster()
    nodes = [Node.parse({"metadata": {"name": f"n{i}", "labels": own}}) for i, own in enumerate(labels)]
    for node in nodes:
        cluster.add_node(node)
    assert match_node_selector(cluster, selector).tolist() == [
        node_selector_matches(selector, n.name, n.labels) for n in nodes
    ]
    nodes[1] = Node.parse({"metadata": {"name": "n1", "labels": later}})
    cluster.add_node(nodes[1])
    assert match_node_selector(cluster, selector).tolist() == [
        node_selector_matches(selector, n.name, n.labels) for n in nodes
    ]


LABEL_SETS = st.dictionaries(st.sampled_from("ab"), st.sampled_from("xyz")).map(label_set)
REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from("ab"),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(st.sampled_from("xyz"), max_size=2, unique=True).map(lambda values: tuple(sorted(values))),
)


@given(st.lists(LABEL_SETS), st.data())
def test_sets_of_labels_are_found_by_selector_in_their_order(
    sets: list[LabelSet], data: st.DataObject
) -> None:
    there = dict.fromkeys(sets)
    known = LabelSets(sets)
    for removed in data.draw(st.lists(st.sampled_from([*there]), unique=True)) if there else ():
        del there[removed]
        known.remove(removed)
    selector = Selector(tuple(data.draw(st.lists(REQUIREMENTS, max_size=3))))
    assert known.matching(selector) == [each for each in there if selector.matches(dict(each))]
