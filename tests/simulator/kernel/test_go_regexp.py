"""Patterns of users: RE2, in bounded work."""

import pytest

from simulator.kernel.go_regexp import PatternFault, Regexp, find_fault
from simulator.kernel.work import OutOfWork, limit_work


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("(a+", "missing closing ): `(a+`"),
        ("[a", "missing closing ]: `[a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("((a{100}){100}){100}", "invalid repeat count: `{100}`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("(?P<1x", "invalid named capture: `(?P<1x`"),
        ("a\\", "trailing backslash at end of expression"),
        ("a)", "unexpected ): `a)`"),
    ],
)
def test_what_go_refuses_is_refused_in_its_words(pattern: str, fault: str) -> None:
    assert find_fault(pattern) == f"error parsing regexp: {fault}"
    with pytest.raises(PatternFault):
        Regexp(pattern)


@pytest.mark.parametrize("pattern", ["", "^(a+)+$", r"\pL{255}", r"(?i)x", r"(?P<name>x)", "[[:alpha:]]"])
def test_what_go_takes_is_taken(pattern: str) -> None:
    assert find_fault(pattern) == ""


def test_a_match_is_searched_in_the_whole_text() -> None:
    assert Regexp("b+").is_found_in("abbc")
    assert not Regexp("^b").is_found_in("ab")
    assert Regexp("^.é$").is_found_in("éé")


def test_all_matches_are_found_as_go_finds_them() -> None:
    assert [*Regexp("a*").find_all("baabé")] == ["", "aa", "", ""]
    assert [*Regexp("(a)(b)?").find_all("abxa")] == ["ab", "a"]


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "(x*)*y", "(a|b)*a(a|b){1000}$"])
def test_work_grows_with_the_text_and_the_pattern_only(pattern: str) -> None:
    """Python's expressions take 2 to the power of the text's length."""

    def work(size: int) -> int:
        with limit_work() as allowed:
            before = allowed.left
            Regexp(pattern).is_found_in("a" * size + "!")
            return before - allowed.left

    assert 0 < work(2_000) <= 2.1 * work(1_000)


def test_the_work_of_all_patterns_is_bounded_together() -> None:
    pattern = Regexp("^a$")
    with limit_work(1_000):
        for _ in range(500):
            pattern.is_found_in("a" * 10)
        with pytest.raises(OutOfWork):
            pattern.is_found_in("a" * 100_000)


def test_each_pattern_has_the_work_of_its_compilation() -> None:
    """The library compiles thousands of patterns again and again: some 12 us each."""
    with limit_work() as allowed:
        before = allowed.left
        for number in range(300):
            Regexp(f"^a{number}$")
    assert before - allowed.left >= 300 * 12


def test_a_pattern_that_is_too_large_is_refused() -> None:
    assert find_fault(r"\pL{1000}" * 3) == "error parsing regexp: expression too large"


def test_an_inner_limit_is_part_of_the_outer_one() -> None:
    with limit_work(100) as outer:
        with limit_work(1_000) as inner:
            inner.spend(60)
        assert outer.left == 40
        with limit_work(1_000) as inner, pytest.raises(OutOfWork):
            inner.spend(60)
