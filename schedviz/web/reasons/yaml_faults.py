"""Explains why a text is not YAML, or not manifests, and why a file cannot be used, in the language of the
page.

A problem is recognised by the text of the parser (libyaml) or of :mod:`simulator.apiserver.manifest`;
file_rules.py has those of files.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.reasons.faults import Explanation, explain_cause, words_of
from schedviz.web.reasons.file_rules import FILES, WRONG_FILES
from schedviz.web.reasons.question_rules import QUESTIONS
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.status import Cause

_NEIGHBOURS: Final = gettext_noop(
    "The line does not fit those before it: fields of one object begin in the same column, and so do the "
    "items of a list, with “- ”."
)
_COLON: Final = gettext_noop("A field is written as name: value, with a space after the “:”.")

_PROBLEMS: Final = tuple(
    (re.compile(pattern, re.DOTALL), sentence)
    for pattern, sentence in (
        (
            r"mapping values are not allowed in this context",
            gettext_noop(
                "A “:” is not possible here. Either the line is indented too far, or a text with “: ” needs "
                "quotation marks."
            ),
        ),
        (r"did not find expected (?:key|'-' indicator|<document start>)|block .* not allowed.*", _NEIGHBOURS),
        (r"could not find expected ':'", _COLON),
        (
            r"found character that cannot start any token|found a tab character.*",
            gettext_noop(
                "A value cannot begin with this character. Indent with spaces, not with tabs, and write "
                "texts that begin with @, %% or ` in quotation marks."
            ),
        ),
        (
            r"did not find expected ',' or '(?P<what>.)'",
            gettext_noop("A “,” or a closing “%(what)s” is missing here or before."),
        ),
        (
            r"did not find expected node content",
            gettext_noop("A value is missing here, or a bracket or brace is not closed."),
        ),
        (r"found unexpected end of stream", gettext_noop("A quotation mark is opened and never closed.")),
        (
            r"found unexpected document indicator",
            gettext_noop("A quotation mark is opened and never closed."),
        ),
        (
            r"found unknown escape character",
            gettext_noop("After “\\” stands no character that can follow it."),
        ),
        (
            r"did not find expected alphabetic or numeric character",
            gettext_noop("Write a text that begins with * or & in quotation marks."),
        ),
        (
            r'duplicate key "(?P<key>.*)"',
            gettext_noop("The field “%(key)s” is there twice. Keep one of the two."),
        ),
        (
            r"document (?P<number>\d+): (?P<field>\S+) not set",
            gettext_noop("Object %(number)s has no %(field)s: apiVersion and kind say what it is."),
        ),
        (
            r"expected an object, got .*",
            gettext_noop(
                "This is not an object: it begins with apiVersion and kind, each on a line as name: value."
            ),
        ),
        (r"no document", gettext_noop("There is no document in the text.")),
        (
            r"more than one document",
            gettext_noop("A form takes one document. For several, use “Create from YAML”."),
        ),
        (
            r"control characters are not allowed",
            gettext_noop("The line has a character that cannot be seen. Delete it."),
        ),
        (r"nested deeper than (?P<n>\d+) levels", gettext_noop("It is nested deeper than %(n)s levels.")),
        (
            r"more than (?P<n>\d+) (?:values|documents|objects) in one request.*",
            gettext_noop("These are too many at once: at most %(n)s are possible."),
        ),
        (
            r"larger than (?P<size>[\d.]+ \w+).*",
            gettext_noop("The text is too long: at most %(size)s are possible."),
        ),
        *FILES,
        *QUESTIONS,
    )
)
_GENERAL: Final = gettext_noop("This cannot be read as YAML.")


_UNUSABLE: Final = gettext_noop("The file cannot be used: %(problem)s")
_ARCHIVED: Final = (".json", ".jsonl", ".yaml", ".yml", ".gz")
"""How the names of files in an archive end."""
_NUMBERED: Final = re.compile(r"(?P<what>[a-zA-Z]+) (?P<number>\d+): ")
"""An entry of a file, such as ``document 3: ``, or ``pods 2: `` of a list that the file has."""
_PLACES: Final[Mapping[str, str]] = {
    "document": gettext_noop("Document %(number)s: %(text)s"),
    "event": gettext_noop("Event %(number)s: %(text)s"),
}
_REFUSED: Final = re.compile(
    r'(?:[^\s:]+: )?\S+ "[^"]*" is (?:invalid|forbidden): (?:(?P<field>[\w.\[\]]+): )?(?P<message>.*)',
    re.DOTALL,
)
_VALUE: Final = re.compile(r"'(?P<value>[^']*)': (?P<rule>.*)", re.DOTALL)
_LINE_AND_COLUMN: Final = re.compile(r"line (?P<line>\d+)(?:, column (?P<column>'[^']*'|[^':]+))?: ")


def explain_text(error: ManifestError) -> Explanation:
    """Explain why a text cannot be read, with the line and the column if they are known."""
    sentence = _explain(error.problem)
    text = placed(sentence or gettext(_GENERAL), error.line, error.column)
    return Explanation(text, str(error), is_general=not sentence)


def explain_file(message: str, names: Mapping[str, str]) -> str:
    """Explain why a file cannot be used. message: that of a command, which begins with the path of the file.
    names: what the page calls the files, by path; "" = it has only one."""
    path = next((path for path in names if message.startswith(f"{path}: ")), "")
    problem = message.removeprefix(f"{path}: ")
    file, _, rest = problem.partition(": ")
    if not file.endswith(_ARCHIVED):
        file, rest = "", problem
    place = _LINE_AND_COLUMN.match(rest)
    line, column = place.groups() if place else (None, None)
    problem = rest[place.end() :] if place else rest
    numbered = _NUMBERED.match(problem)
    sentence = explain_problem(problem)
    if not sentence and numbered:
        problem = problem[numbered.end() :]
        sentence = _at_number(explain_problem(problem) or gettext(_UNUSABLE) % {"problem": problem}, numbered)
    text = placed(sentence or gettext(_UNUSABLE) % {"problem": problem}, line, column and column.strip("'"))
    return ": ".join(filter(None, (names.get(path), file, text)))


def _at_number(text: str, place: re.Match[str]) -> str:
    what, number = place.groups()
    sentence = _PLACES.get(what)
    return gettext(sentence) % {"number": number, "text": text} if sentence else f"{what} {number}: {text}"


def explain_problem(problem: str) -> str:
    """Return the sentence for a problem of a file or a question, also for what the API server refuses of its
    objects; "" = it is not known."""
    if sentence := _explain(problem):
        return sentence
    refused, value = _REFUSED.fullmatch(problem), _VALUE.fullmatch(problem)
    field = refused["field"] or "" if refused else ""
    if field.startswith("["):
        return ""  # several faults, which the API server lists
    cause = Cause(field, refused["message"] if refused else problem)
    if value:
        cause = Cause("", f"Invalid value: {json.dumps(value['value'])}: {value['rule']}")
    found = explain_cause(cause)
    if found.is_general:
        return ""
    return gettext("%(field)s: %(text)s") % {"field": field, "text": found.text} if field else found.text


def _explain(problem: str) -> str:
    """Return the sentence for a problem; "" = it is not known."""
    for pattern, sentence in _PROBLEMS:
        match = pattern.fullmatch(problem.removeprefix("not YAML: "))
        if match:
            words = words_of(match)
            return gettext(sentence) % {
                name: gettext(word) if word in WRONG_FILES else word for name, word in words.items()
            }
    return ""


def placed(text: str, line: int | str | None, column: int | str | None) -> str:
    """Return the text after the line and the column that it is about."""
    words = {"text": text, "line": line, "column": column}
    if line is None:
        return text
    if not column:
        return gettext("Line %(line)s: %(text)s") % words
    return gettext("Line %(line)s, column %(column)s: %(text)s") % words
