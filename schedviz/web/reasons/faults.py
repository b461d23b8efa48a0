"""Explains why the API server refuses an object, in the language of the page, with upstream's text beside it.

What is said follows from the reason of a cause and from the rule that its text names (fault_rules.py).
"""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from django.utils.translation import gettext

from schedviz.web.reasons.fault_rules import (
    CHANGE,
    CHANGED_LATER,
    GENERAL,
    NEAREST,
    ONE_OF_THESE,
    RULES,
    WITH_SUGGESTION,
    WITHOUT_VALUE,
)
from simulator.apiserver.status import Cause, StatusError

SHOWN: Final = 100
"""Maximum number of characters of a refused value in an explanation. Upstream's text has more of it."""

_RULES: Final = tuple((re.compile(rule.pattern, re.DOTALL), rule) for rule in RULES)
_WITH_VALUE: Final = ("Invalid value", "Unsupported value", "Duplicate value", "Not found", "Too many")
_WITHOUT_VALUE: Final = ("Required value", "Forbidden", "Too long", "Internal error")
_WHOLE: Final = ("choices", "columns", "command")
_CHOICES: Final = re.compile(
    r"(?:supported|valid) values: (.*)|must be ('\w+'(?:(?:, | or )'\w+')+)", re.DOTALL
)


class Explanation(NamedTuple):
    """A fault in plain words. ``upstream``: the text of the API server; "" if there is none. ``is_general``:
    no rule is known for it, and upstream's text is shown at once."""

    text: str
    upstream: str = ""
    is_general: bool = False


def explain_cause(cause: Cause) -> Explanation:
    """Explain one refused field."""
    value, rule = _parts(cause.message)
    has_value = cause.message.startswith(_WITH_VALUE)
    words = {"value": _shortened(value), "name": _shortened(_last_part(cause.field))}
    for pattern, known in _RULES:
        match = pattern.fullmatch(rule)
        if match:
            found = words | words_of(match)
            # A field that is missing has no value of which the rule could speak.
            is_missing = not (found["value"] or has_value) and "%(value)s" in known.sentence
            sentence = GENERAL["FieldValueRequired"] if is_missing else known.sentence
            text = gettext(sentence) % found
            valid = known.suggest(value) if known.suggest else ""
            if valid and valid != value:
                text = gettext(WITH_SUGGESTION) % {"sentence": text, "valid": _shortened(valid)}
            return Explanation(text, str(cause))
    if any(words_of_change in rule for words_of_change in CHANGE):
        return Explanation(gettext(CHANGED_LATER), str(cause))
    sentence = GENERAL.get(cause.reason, GENERAL[""])
    if "%(value)s" in sentence and not has_value:
        sentence = WITHOUT_VALUE
    choices = _choices(rule)
    if choices:
        sentence, words = _of_choices(value, choices)
    return Explanation(gettext(sentence) % words, str(cause), is_general=bool(rule) and not choices)


def explain_refusal(refused: Exception) -> str:
    """Explain why an act was refused, in one text; where no rule is known, in the words of the refusal."""
    causes: Sequence[Cause] = (Cause("", str(refused)),)
    if isinstance(refused, StatusError):
        causes = refused.causes or (Cause("", refused.message, refused.reason),)
    return " ".join(_explain_with_field(cause) for cause in causes)


def _explain_with_field(cause: Cause) -> str:
    found = explain_cause(cause)
    if found.is_general or not cause.field:
        return found.upstream if found.is_general else found.text
    return gettext("%(field)s: %(text)s") % {"field": cause.field, "text": found.text}


def words_of(match: re.Match[str]) -> dict[str, str]:
    """Return the words of a sentence: the groups of its pattern. Values have no quotation marks, and only
    lists and commands are whole if they are long."""
    found = {name.rstrip("234"): text for name, text in match.groupdict().items() if text is not None}
    if "value" in found:
        found["value"] = _unquoted(found["value"])
    return {name: each if name in _WHOLE else _shortened(each) for name, each in found.items()}


def _last_part(path: str) -> str:
    """Return the name of a field, without what contains it: ``image`` of ``spec.containers[0].image``."""
    return path.rpartition(".")[2]


def _parts(message: str) -> tuple[str, str]:
    """Return the refused value and the rule that a message names; each may be ""."""
    kind, _, rest = message.partition(": ")
    if kind in _WITH_VALUE:
        end = _end_of_value(rest)
        return _unquoted(rest[:end]), rest[end:].removeprefix(": ")
    return "", rest if kind in _WITHOUT_VALUE else message


def _end_of_value(text: str) -> int:
    """Return where the value ends that a text begins with: quoted, JSON, JSON that was cut off, or a
    number."""
    if text.startswith('"'):
        end = 1
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        return end + 1
    if text.startswith(("{", "[")):
        try:
            return json.JSONDecoder().raw_decode(text)[1]
        except (ValueError, RecursionError):
            end = text.find("...: ")
            return end + 3 if end >= 0 else len(text)
    end = text.find(": ")
    return end if end >= 0 else len(text)


def _unquoted(value: str) -> str:
    if value.startswith("'"):
        return value[1:-1]  # as Python writes it
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:  # Go escapes some characters as JSON does not
        return value[1:-1]


def _shortened(text: str) -> str:
    plain = text.replace("`", "")
    return plain if len(plain) <= SHOWN else f"{plain[:SHOWN]}…"


def _choices(rule: str) -> list[str]:
    match = _CHOICES.fullmatch(rule)
    return re.findall(r"""["']([^"']*)["']""", match[1] or match[2]) if match else []


def _of_choices(value: str, choices: list[str]) -> tuple[str, dict[str, str]]:
    """Return the sentence for a value that is none of the choices, and its words."""
    words = {"value": _shortened(value), "choices": ", ".join(choices)}
    lower = {each.lower(): each for each in choices}
    if not value:
        return ONE_OF_THESE, words
    near = difflib.get_close_matches(value[:SHOWN].lower(), lower, n=1)
    return (
        (NEAREST, words | {"nearest": lower[near[0]]}) if near else (GENERAL["FieldValueNotSupported"], words)
    )


def joined(explanations: Iterable[Explanation]) -> list[Explanation]:
    """Return the explanations, each text once, with all texts of upstream that it explains."""
    found: dict[str, Explanation] = {}
    for each in explanations:
        before = found.get(each.text)
        both = (
            f"{before.upstream}\n{each.upstream}" if before and each.upstream not in before.upstream else ""
        )
        found[each.text] = each._replace(upstream=both) if both else before or each
    return [*found.values()]
