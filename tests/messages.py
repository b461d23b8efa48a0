"""The catalogues of translations: ``make messages`` gathers every string, keeps what is translated, and
compiles the catalogue of each language that is whole. What is not compiled is not offered on the pages.

Babel does the work of GNU gettext's programs, which are not needed. tests/test_messages.py fails when a
compiled catalogue is behind the code.
"""

import io
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

# The modules of texts read the settings when they are imported.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")

from schedviz.web import guides
from schedviz.web.ideas import texts as ideas
from simulator.versions.changes import CHANGES

ROOT: Final = Path(__file__).parent.parent
LANGUAGES: Final = sorted(path.name for path in (ROOT / "locale").iterdir())
"""The folders of ``locale/``. A new one needs a ``.po`` file with a header only."""
WIDTH: Final = 110

KEYWORDS: Final = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy", "plural_noop"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
"""Django's functions, and which of their arguments are messages."""

Found = tuple[int, str, object, list[str]]
"""Line, function, arguments, comments: as Babel's extractors give them."""


def po_file(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES" / "django.po"


def mo_file(language: str) -> Path:
    return po_file(language).with_suffix(".mo")


@cache
def extracted() -> Catalog:
    """Every message of the code, the templates, the scenarios, ideas and guides; nothing is translated."""
    catalog = Catalog(project="schedviz", charset="utf-8", fuzzy=False)
    templates = [path for kind in ("html", "txt") for path in (ROOT / "templates").rglob(f"*.{kind}")]
    modules = [*(ROOT / "schedviz").rglob("*.py"), *(ROOT / "simulator").glob("*words.py")]
    for path in sorted([*modules, *templates]):
        read = from_python if path.suffix == ".py" else from_template
        for _, function, arguments, comments in read(path):
            add(catalog, path, function, arguments, comments)
    for path in sorted((ROOT / "schedviz" / "scenarios").rglob("*.yaml")):
        spec = next(iter(yaml.safe_load_all(path.read_text())))["spec"]
        for text in (spec["title"], spec["summary"]):
            add(catalog, path, "gettext", text, [])
    for change in CHANGES:
        add(catalog, ROOT / "simulator" / "versions" / "changes.py", "gettext", change.text, [])
    for folder, words in (("ideas", ideas.WORDS), ("guides", guides.WORDS)):
        for path in sorted((ROOT / "schedviz" / folder).glob("*.yaml")):
            texts = yaml.safe_load(path.read_text())
            for word in words:
                add(catalog, path, "gettext", texts[word], [])
    return catalog


def from_python(path: Path) -> Iterator[Found]:
    return extract_python(io.BytesIO(path.read_bytes()), list(KEYWORDS), ["Translators:"], {})


def from_template(path: Path) -> Iterator[Found]:
    """Django writes the template's tags as calls; between them stands nothing that is Python."""
    calls = re.findall(CALL, templatize(path.read_text()))
    return extract_python(io.BytesIO("\n".join(calls).encode()), list(KEYWORDS), [], {})


STRING: Final = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
CALL: Final = rf"(?<!\w)(?:n?p?gettext|_)\({STRING}(?:, ?{STRING})*(?:, ?count)?\)"


def add(catalog: Catalog, path: Path, function: str, arguments: object, comments: list[str]) -> None:
    texts = list(arguments) if isinstance(arguments, tuple) else [arguments]
    spec = KEYWORDS[function] or (1,)
    context = next((str(texts[each[0] - 1]) for each in spec if isinstance(each, tuple)), None)
    message = [texts[each - 1] for each in spec if isinstance(each, int)]
    if not all(isinstance(text, str) and text for text in message):
        return  # a variable: where it comes from it is marked
    one = tuple(str(text) for text in message) if len(message) > 1 else str(message[0])
    catalog.add(one, None, [(str(path.relative_to(ROOT)), 0)], auto_comments=comments, context=context)


def translated(language: str) -> Catalog:
    """The catalogue as it is stored."""
    with po_file(language).open("rb") as file:
        return read_po(file, locale=language)


def timeless(catalog: Catalog) -> Catalog:
    """Without the times that Babel would write: only messages make a difference."""
    catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    return catalog


def updated(language: str) -> Catalog:
    """What is stored, with every message of today and none of yesterday; new ones are empty."""
    catalog = translated(language)
    catalog.update(extracted(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return catalog


def source(language: str, catalog: Catalog) -> bytes:
    """The .po file: by file and without line numbers, so that it changes only where messages do. The comment
    and the header before its messages stay as they are."""
    header, _, _ = po_file(language).read_bytes().partition(b"\n\n")
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=WIDTH, omit_header=True, include_lineno=False, ignore_obsolete=True)
    return header.rstrip() + b"\n\n" + buffer.getvalue()


def compiled(catalog: Catalog) -> bytes:
    """The .mo file, which Django reads."""
    buffer = io.BytesIO()
    write_mo(buffer, timeless(catalog))
    return buffer.getvalue()


def untranslated(catalog: Catalog) -> list[str]:
    """Messages without a translation, or with one that is marked as a guess."""
    return [
        str(message.id)
        for message in catalog
        if message.id and (message.fuzzy or not all(forms(message.string)))
    ]


def forms(string: Any) -> list[str]:
    return [each or "" for each in (string if isinstance(string, tuple | list) else [string])]


def update(language: str) -> bool:
    """Write the files of a language. Return whether it is whole."""
    catalog = updated(language)
    po_file(language).write_bytes(source(language, catalog))
    missing = untranslated(catalog)
    if not missing or mo_file(language).exists():
        mo_file(language).write_bytes(compiled(catalog))
    place = po_file(language).relative_to(ROOT)
    print(f"{len(catalog)} messages, {len(missing)} without a translation in {place}")
    for text in missing:
        print(f"  {text}")
    return not missing


def main() -> int:
    whole = [update(language) for language in LANGUAGES]
    return 0 if all(whole) else 1


if __name__ == "__main__":
    sys.exit(main())
