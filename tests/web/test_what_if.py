"""The buttons of what-if suggestions, and the fields with which a browser names a suggestion."""

from typing import Any, Final, cast

import pytest
from django.test import RequestFactory

from schedviz.jobs.question import Question
from schedviz.web.presenters.what_if import suggestion_sentence
from schedviz.web.views.why import chosen_suggestion
from simulator.what_if.answer import AttemptOutcome, Suggestion

SUGGESTIONS: Final = [cast("Suggestion", "first"), cast("Suggestion", "second")]


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
            "Remove the selector device.driver == 'b' from claim x. It is not true of a/gpu-0.",
        ),
        ("claim-selector", "true", "", "Remove the selector true from claim x."),
    ],
)
def test_a_suggestion_for_a_claim_names_the_devices(kind: Any, what: str, before: str, sentence: str) -> None:
    said = Suggestion(kind, "default/x", what, before, "5", 6, [], AttemptOutcome("bound", "a"))
    assert suggestion_sentence(said) == sentence
