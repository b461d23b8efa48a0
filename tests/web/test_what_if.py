"""The buttons of what-if suggestions, as whatever a browser posts names them."""

from typing import Final, cast

import pytest
from django.test import RequestFactory

from schedviz.jobs.question import Question
from schedviz.web.views.why import chosen_suggestion
from simulator.what_if.answer import Suggestion

SUGGESTIONS: Final = [cast("Suggestion", "first"), cast("Suggestion", "second")]


@pytest.mark.parametrize("number", ["2", "-1", "", "a", "01", "٣", "9" * 5_000])
def test_a_number_that_no_suggestion_has_names_none(number: str) -> None:
    question = Question(id="1", kind="what-if", sandbox="demo", pod="default/a", suggestions=SUGGESTIONS)
    post = RequestFactory().post
    assert chosen_suggestion(question, post("/", {"id": "1", "number": number})) is None
    assert chosen_suggestion(question, post("/", {"id": "1", "number": "1"})) == "second"
    assert chosen_suggestion(question, post("/", {"id": "2", "number": "1"})) is None
