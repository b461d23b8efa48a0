"""The languages of the pages: English, and each that has a compiled catalogue in ``locale/``."""

from pathlib import Path

from django.conf.locale import LANG_INFO
from django.utils.translation import to_language


def find_languages(locale: Path) -> list[tuple[str, str]]:
    """Return the code of each language with its own name for itself. A catalogue is compiled when it is whole
    (``make messages``), so that no page is half in English."""
    folders = (path.parent.parent.name for path in locale.glob("*/LC_MESSAGES/django.mo"))
    return [(code, LANG_INFO[code]["name_local"]) for code in ("en", *sorted(map(to_language, folders)))]
