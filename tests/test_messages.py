"""The Chinese catalogue is complete, and what is compiled is what is written."""

import re

from tests import messages

PLACES = re.compile(r"%\(\w+\)s|\{\d*\}|</?\w+")
"""What a translation has to keep: places for values, tags."""


def test_every_string_has_a_translation_of_today() -> None:
    missing = messages.untranslated(messages.updated())
    assert missing == [], "make messages, then fill in locale/"


def test_the_compiled_catalogue_is_the_written_one() -> None:
    assert messages.compiled(messages.translated()) == messages.MO.read_bytes(), "make messages"


def test_translations_keep_the_places_for_values() -> None:
    for message in messages.translated():
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, tuple | list) else [message.id]
        wanted = {frozenset(places(text)) for text in ids}
        for text in messages.forms(message.string):
            assert frozenset(places(text)) in wanted, f"{message.id} -> {text}"


def places(text: str) -> list[str]:
    """Unnumbered places are numbered, so that a translation may change their order."""
    found = PLACES.findall(text)
    return [f"{{{index}}}" if place == "{}" else place for index, place in enumerate(found)]
