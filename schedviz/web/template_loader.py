"""Loads templates without their indentation.

The indentation is for the reader of a template, and every frame would carry it. Between HTML's tags, and
between the attributes of a tag, one space means the same as a line break with indentation.
"""

import re
from typing import Final

from django.template import Origin
from django.template.loaders import filesystem

INDENTATION: Final = re.compile(r"\n +(?P<end_of_tag>>)?")


class Loader(filesystem.Loader):
    """Django's loader of the directories in ``DIRS``."""

    def get_contents(self, origin: Origin) -> str:
        """Return the source of a template. It has no line break at its end: its place may be inside of a
        line."""
        return without_indentation(super().get_contents(origin)).rstrip("\n")


def without_indentation(source: str) -> str:
    """Return ``source`` with each line that is indented put behind the line before it."""
    return INDENTATION.sub(lambda found: found["end_of_tag"] or " ", source)
