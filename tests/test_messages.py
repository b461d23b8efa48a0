"""The catalogues of the offered languages are whole, and what is compiled is what is written."""

import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Message
from django.utils.translation import to_language

from tests import messages
from tests.languages import SAME, english_words

PLACES = re.compile(r"%\(\w+\)s|\{\d*\}|</?\w+")
"""What a translation has to keep: places for values, tags."""

offered = pytest.mark.parametrize(
    "language", [language for language in messages.LANGUAGES if messages.mo_file(language).exists()]
)


@offered
def test_every_string_has_a_translation_of_today(language: str) -> None:
    missing = messages.untranslated(messages.updated(language))
    assert missing == [], "make messages, then fill in locale/"


@offered
def test_the_compiled_catalogue_is_the_written_one(language: str) -> None:
    compiled = messages.compiled(messages.translated(language))
    assert compiled == messages.mo_file(language).read_bytes(), "make messages"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_translations_keep_the_places_for_values(language: str) -> None:
    for message, ids, texts in translations(language):
        wanted = {frozenset(places(text)) for text in ids}
        for text in filter(None, texts):
            assert frozenset(places(text)) in wanted, f"{message.id} -> {text}"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_a_translation_that_is_the_english_text_has_only_words_of_both_languages(language: str) -> None:
    known = SAME.get(to_language(language), frozenset())
    left = [
        text
        for _, ids, texts in translations(language)
        for text in {*ids} & {*texts}
        if not text.startswith("https://") and not {*english_words(PLACES.sub("", text))} <= known
    ]
    assert left == [], "translate it, or add its words to SAME in tests/languages.py"


def translations(language: str) -> Iterator[tuple[Message, list[str], list[str]]]:
    """Each message with its texts in English and in the language."""
    for message in messages.translated(language):
        if message.id:
            yield message, messages.forms(message.id), messages.forms(message.string)


def places(text: str) -> list[str]:
    """Unnumbered places are numbered, so that a translation may change their order."""
    found = PLACES.findall(text)
    return [f"{{{index}}}" if place == "{}" else place for index, place in enumerate(found)]
