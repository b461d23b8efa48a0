"""Template filters that format simulated values, and tags for links to the pages of ideas and to scripts."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from schedviz.page_files import LIBRARIES, MADE, SOURCES
from schedviz.web.ideas import texts as ideas
from schedviz.web.text import format as fmt
from schedviz.web.text import mirror_reading
from schedviz.web.text.node_names import node_name

WORD: Final = re.compile(r"^[^A-Z]+|[A-Z]+(?:[^A-Z]+|$)")

register = template.Library()
register.filter("clock", fmt.clock)
register.filter("stem", fmt.stem)
register.filter("tail", fmt.tail)
register.filter("node_name", node_name)
register.filter("pod_name", fmt.pod_name)
register.filter("split_pod_name", fmt.split_pod_name)
register.filter("say_unread", mirror_reading.say_unread)
register.filter("say_assumed", mirror_reading.say_assumed)


@register.filter
def share(part: int, whole: int) -> int:
    """Return ``part`` in percent of ``whole``; 0 if ``whole`` is 0."""
    return max(0, part * 100 // whole) if whole > 0 else 0


@register.filter
def without_domain(resource: str) -> str:
    """Return the name without its domain: ``nvidia.com/gpu`` -> ``gpu``."""
    return resource.rpartition("/")[2]


@register.filter
def sentence(text: str) -> str:
    """Return the text if it ends with a full stop, else "". The text of Django's own Http404 is not a
    sentence."""
    return text if text.endswith(".") else ""


@register.filter
def named(text: str) -> SafeString:
    """Return the text as HTML, with names in backticks as ``<code>``."""
    pieces = enumerate(text.split("`"))
    marked = (format_html("<code>{}</code>", piece) if place % 2 else piece for place, piece in pieces)
    return format_html_join("", "{}", ((piece,) for piece in marked))


@register.filter
def breakable(text: str) -> SafeString:
    """Return a label or taint as HTML, which may be broken after its signs: ``dedicated=``, ``gpu:``,
    ``NoSchedule``."""
    return _with_breaks(re.split(r"(?<=[/=:])", text))


def _with_breaks(parts: Iterable[str]) -> SafeString:
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in parts))


@register.filter
def words(name: str) -> SafeString:
    """Return a name in camel case as HTML, which may be broken before each of its words."""
    return _with_breaks(WORD.findall(name))


@register.inclusion_tag("ideas/idea.html")
def idea(name: str) -> dict[str, ideas.Idea]:
    """Return a link to the page of an idea."""
    return {"idea": ideas.translated_idea(ideas.ideas()[name])}


@register.inclusion_tag("ideas/explanations.html")
def explanations() -> dict[str, list[ideas.Idea]]:
    """Return the sentences of all ideas, which the help mode shows on the page (static/js/help.js)."""
    return {"ideas": [ideas.translated_idea(each) for each in ideas.ideas().values()]}


@register.simple_tag
@cache
def page_file(name: str) -> SafeString:
    """Return the elements that load a file of :mod:`schedviz.page_files`, or its sources."""
    paths = (f"{MADE}/{name}",) if settings.STATIC_FILES_ARE_MADE else SOURCES[name]
    return format_html_join("", "{}", ((format_html(_element(path), static(path)),) for path in paths))


def _element(path: str) -> str:
    if path.endswith(".css"):
        return '<link rel="stylesheet" href="{}">'
    if path in LIBRARIES:  # a global variable is what they define
        return '<script defer src="{}"></script>'
    return '<script type="module" src="{}"></script>'
