"""The buttons of what-if suggestions, and the fields with which a browser names a suggestion."""

from typing import Any, Final, cast

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from schedviz.jobs.question import Question
from schedviz.web.pods.what_if_views import chosen_suggestion
from schedviz.web.text.node_names import ShortNodeNames, using
from schedviz.web.what_if.what_if import (
    alike_sentence,
    offer,
    pod_links,
    present_what_if,
    suggestion_sentence,
)
from simulator.what_if.answer import AttemptOutcome, ChangePart, Suggestion
from simulator.what_if.edit import create_object

SUGGESTIONS: Final = [cast("Suggestion", "first"), cast("Suggestion", "second")]


def suggestion(kind: Any, *words: str, **more: Any) -> Suggestion:
    outcome = AttemptOutcome("bound", "a", feasible_count=1)
    return Suggestion(kind, *words, **{"cost": 6, "edits": [], "outcome": outcome} | more)


@pytest.mark.parametrize("number", ["2", "-1", "", "a", "01", "٣", "9" * 5_000])
def test_an_unknown_number_names_no_suggestion(number: str) -> None:
    question = Question(id="1", kind="what-if", sandbox="demo", pod="default/a", suggestions=SUGGESTIONS)
    post = RequestFactory().post
    assert chosen_suggestion(question, post("/", {"id": "1", "number": number})) is None
    assert chosen_suggestion(question, post("/", {"id": "1", "number": "1"})) == "second"
    assert chosen_suggestion(question, post("/", {"id": "2", "number": "1"})) is None


@pytest.mark.parametrize(
    ("kind", "what", "before", "sentence"),
    [
        (
            "free-device",
            "a/gpu-0, a/gpu-1, …",
            "default/of-x",
            "Delete the pod x (priority 5), whose claim of-x has a/gpu-0, a/gpu-1, ….",
        ),
        (
            "claim-selector",
            "device.driver == 'b'",
            "a/gpu-0",
            "Remove the selector device.driver == 'b' of gpu from claim x. It is not true of a/gpu-0.",
        ),
        ("claim-selector", "true", "", "Remove the selector true of gpu from claim x."),
    ],
)
def test_a_suggestion_for_a_claim_names_the_devices(kind: Any, what: str, before: str, sentence: str) -> None:
    assert suggestion_sentence(suggestion(kind, "default/x", what, before, "5", within="gpu")) == sentence


def test_two_changes_are_two_sentences_and_an_added_node_has_no_link() -> None:
    """The name of the added node differs from that of the node like it, also without the domain."""
    names = [f"ip-10-0-{place}.eu-west-1.compute.internal" for place in ("6-120", "7-121", "8-122")]
    new = names[0].replace("120", "120-2")
    taint = "toleration", "default/p", "own:NoSchedule", "", "own:NoSchedule"
    said = suggestion(
        *taint,
        further=[ChangePart("node", new, names[0], "", new)],
        edits=[create_object("nodes", new, {})],
        outcome=AttemptOutcome("bound", new, feasible_count=1),
    )
    with using(ShortNodeNames(names)):
        shown = offer(0, said, "/s/demo/", "", "")
    assert shown.sentences == [
        "Add a toleration for own:NoSchedule to the pod.",
        "Add one more node like 6-120: 6-120-2.",
    ]
    assert shown.then == "Then it is bound to 6-120-2, the only node that fits."


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (0, "The same change is enough for 7-121."),
        (21, "The same change is enough for 7-121. 21 more were not tried."),
    ],
)
def test_a_list_of_targets_says_how_many_more_there_are(more: int, sentence: str) -> None:
    names = [f"ip-10-0-{place}.eu-west-1.compute.internal" for place in ("6-120", "7-121", "8-122")]
    said = suggestion("uncordon", names[0], "unschedulable", "true", "", alike=[names[1]], alike_more=more)
    with using(ShortNodeNames(names)):
        assert alike_sentence(said) == sentence


def test_a_list_of_victims_says_how_many_more_there_are() -> None:
    assert pod_links([f"default/p{i}" for i in range(9)], "/").endswith("</a> and 3 more")


@pytest.mark.parametrize(
    ("state", "said"), [("done", True), ("stopped", True), ("running", False), ("failed", False)]
)
def test_an_answer_says_of_which_cluster_it_is(state: Any, said: bool) -> None:
    question = Question(id="1", kind="what-if", sandbox="demo", pod="default/a", state=state, version=41)
    page = render_to_string("what_if/found.html", {"view": present_what_if(question, "/s/demo/", {})})
    assert ("about the cluster at resourceVersion 41 and does not follow" in page) is said
