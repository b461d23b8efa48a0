"""Filters that give simulated values their screen form, and the way to an idea's page."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from schedviz.web import ideas
from schedviz.web.view import format as fmt

register = template.Library()
register.filter("clock", fmt.clock)
register.filter("stem", fmt.stem)
register.filter("tail", fmt.tail)


@register.filter
def share(part: int, whole: int) -> int:
    """Percent of the whole, 0 where there is none."""
    return max(0, part * 100 // whole) if whole > 0 else 0


@register.filter
def sentence(text: str) -> str:
    """A message that is one; Django's own 404 carries a class name or a resolver's findings instead."""
    return text if text.endswith(".") else ""


@register.filter
def named(text: str) -> SafeString:
    """Prose in which objects' names stand in backticks: as code."""
    pieces = enumerate(text.split("`"))
    marked = (format_html("<code>{}</code>", piece) if place % 2 else piece for place, piece in pieces)
    return format_html_join("", "{}", ((piece,) for piece in marked))


@register.inclusion_tag("parts/idea.html")
def idea(name: str) -> dict[str, ideas.Idea]:
    """The way from what shows an idea to its page."""
    return {"idea": ideas.told(ideas.ideas()[name])}
