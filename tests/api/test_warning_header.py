"""Warnings of a response, as kube-apiserver limits them."""

import pytest
from django.http import HttpResponse

from schedviz.api import warning_header
from schedviz.api.warning_header import limited, with_warnings
from simulator.apiserver.warnings import MAX_WARNINGS


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warning_header, "MAX_CHARACTERS", 25)
    monkeypatch.setattr(warning_header, "MAX_CUT_OFF", 5)


@pytest.mark.parametrize(
    ("warnings", "written"),
    [
        (["long-warning", "short", "long-warning"], ["long-warning", "short"]),
        (["größere-warnung", "0123456789"], ["größere-warnung", "0123456789"]),
        (["größere-warnung", "0123456789", "x"], ["größe", "01234", "x"]),
        (["a" * 26], ["aaaaa"]),
        # The one that reaches the limit is written, and no later one.
        ([letter * 9 for letter in "abcdefg"], [letter * 5 for letter in "abcde"]),
        ([*(letter * 9 for letter in "abc"), "e", "f" * 9], ["aaaaa", "bbbbb", "ccccc", "e", "fffff"]),
    ],
)  # fmt: skip
def test_warnings_are_cut_off_where_all_are_too_long(warnings: list[str], written: list[str]) -> None:
    assert limited(warnings) == written


def test_a_response_has_no_more_headers_than_clients_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warning_header, "MAX_CHARACTERS", 4096)
    warnings = limited(f"{number}" for number in range(2 * MAX_WARNINGS))
    assert warnings == [f"{number}" for number in range(MAX_WARNINGS)]


def test_warnings_of_a_response_are_limited_together() -> None:
    response = with_warnings(HttpResponse(), ['one "quoted" text', "a\nb", ""])
    assert response["Warning"] == '299 - "one \\"quoted\\" text"'
    assert with_warnings(response, ["earlier"])["Warning"] == '299 - "earlier", 299 - "one \\"quoted\\" text"'
    assert with_warnings(response, ["first"])["Warning"] == '299 - "first", 299 - "earli", 299 - "one \\""'
