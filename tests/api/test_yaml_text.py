"""YAML as kube-apiserver writes it."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from schedviz.api.yaml_text import MOST_BYTES, MOST_COMMAS, is_large, yaml_of

SCALARS = st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8", categories=["L"]))
VALUES = st.recursive(
    SCALARS, lambda each: st.lists(each) | st.dictionaries(st.text("abc-_.1"), each), max_leaves=10
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("web", "web"),
        ("", '""'),
        ("109", '"109"'),
        ("2023-11-14T22:13:20Z", '"2023-11-14T22:13:20Z"'),
        ("true", '"true"'),
        ("y", '"y"'),
        ("1:20", '"1:20"'),
        ("null", '"null"'),
        ("a: b", "'a: b'"),
        ("one\ntwo\n", "|\n  one\n  two"),
    ],
)
def test_a_text_is_quoted_where_it_would_be_read_as_something_else(text: str, written: str) -> None:
    assert yaml_of({"a": text}) == f"a: {written}\n"


def test_keys_of_thousands_of_digits_are_sorted() -> None:
    ones, twos = "1" * 5_000, "2" * 5_000
    assert list(yaml.safe_load(yaml_of({twos: 0, ones: 0}))) == [ones, twos]


def test_keys_are_sorted_with_letters_last_and_by_their_numbers() -> None:
    keys = ["b", "a10", "a2", "B", "a", "a_b", "aB", ".", "f:x"]
    given = {key: [] for key in keys}
    assert yaml_of(given).split(": []\n")[:-1] == [".", "B", "a", "a_b", "a2", "a10", "aB", "b", "f:x"]


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    assert yaml.safe_load(yaml_of(value)) == value


def test_a_large_document_stays_json() -> None:
    assert not is_large([b"," * MOST_COMMAS])
    assert is_large([b"," * (MOST_COMMAS + 1)])
    assert is_large([b" " * (MOST_BYTES + 1)])
