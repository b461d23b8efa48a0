"""Selectors by which a small change makes a browser calculate the styles of the whole page again.

A selector names by its last part the elements that are calculated again. Beside ``*``, a part with only
pseudo-classes names all of them."""

import re
from pathlib import Path

STYLES = Path(__file__).parent.parent.parent / "static" / "made" / "schedviz.css"


def test_no_change_of_an_element_reaches_all_others() -> None:
    selectors = [each for rule in re.findall(r"([^{}]+)\{", STYLES.read_text()) for each in _split(rule)]
    assert ".door>:where(:not)" in selectors, "the way to read them"
    for selector in selectors:
        *before, previous, combinator, last = ["", "", *re.split(r"([ >+~])", selector)]
        is_of_any = combinator in {"+", "~"} and not re.search(r"[.#[]", previous)
        has = ":has" in "".join([*before, previous])
        if is_of_any or has:
            assert re.search(r"\w", re.sub(r"::?[\w-]+", "", last)), selector
        # All selectors with :has() together name what a change below <body> reaches.
        assert not has or last.split(":")[0] not in {"a", "b", "li", "small", "span", "td", "th"}, selector


def _split(rule: str) -> list[str]:
    """Return the selectors of a rule, without what is in its ``:not()`` and ``:has()``."""
    while rule != (shorter := re.sub(r":(not|has)\([^()]*\)", r":\1", rule)):
        rule = shorter
    rule = re.sub(r"\([^()]*\)", lambda found: re.sub("[ >+~,]", "_", found[0]), rule)
    return rule.strip().split(",")
