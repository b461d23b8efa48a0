"""What a mirror does not read, and what is assumed of its scheduler, in the language of the page.

The mirroring process stores these lines in English (``read_resources.py``, ``session.py``,
``assumptions.py``). What is none of the sentences stays as it is.
"""

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.text.mirror_sentences import find_values

UNREAD: Final = (
    gettext_noop(
        "other namespaces (not asked for): of their pods only the room that they take is known, so spreading "
        "and affinity with them is not"
    ),
    gettext_noop(
        "pods of other namespaces (forbidden): the room that they take on the nodes; so the decisions of the "
        "scheduler are not judged"
    ),
    gettext_noop("%(resources)s of other namespaces (forbidden): %(unknown)s"),
    gettext_noop("%(resources)s (forbidden): %(unknown)s"),
    gettext_noop("%(resources)s (not served as %(version)s): %(unknown)s"),
    gettext_noop("%(resources)s (no room): %(unknown)s"),
    gettext_noop("%(n)s invalid objects in all"),
)
ASSUMED: Final = (
    gettext_noop(
        "Assumed: the scheduler %(version)s, which is judged by the nearest version that is modelled, "
        "%(judged)s; %(configuration)s; %(gates)s."
    ),
    gettext_noop("Assumed: the scheduler %(version)s; %(configuration)s; %(gates)s."),
    gettext_noop("Kubelets of other versions, with the number of nodes: %(kubelets)s."),
)
PARTS: Final = (
    gettext_noop("its default configuration"),
    gettext_noop("the configuration of the ConfigMap %(name)s"),
    gettext_noop("the configuration %(name)s"),
    gettext_noop("its default feature gates"),
    gettext_noop("the feature gates of its metrics (all at their default)"),
    gettext_noop("the feature gates of its metrics (%(gates)s)"),
    gettext_noop("the feature gates %(gates)s, as the API server has PodGroups"),
    gettext_noop("the feature gates %(gates)s"),
    gettext_noop("of an unknown version (/version is forbidden)"),
)
"""What a sentence has for its configuration, gates and version. The more particular ones first, as above."""


def say_unread(line: str) -> str:
    return _say(line, UNREAD)


def say_assumed(line: str) -> str:
    return _say(line, ASSUMED)


def _say(line: str, sentences: Iterable[str]) -> str:
    for sentence in sentences:
        if (values := find_values(sentence, line)) is not None:
            return gettext(sentence) % {name: _part(value) for name, value in values.items()}
    return line


def _part(value: str) -> str:
    """Return a value in the language of the page where it is words."""
    for sentence in PARTS:
        if (values := find_values(sentence, value)) is not None:
            return gettext(sentence) % values
    return gettext(value)
