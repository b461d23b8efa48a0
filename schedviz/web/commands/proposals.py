"""Proposals for the arguments of commands, except the names of objects
(:mod:`schedviz.web.commands.names`)."""

from collections.abc import Iterator
from typing import Final

from django import forms
from django.conf import settings
from django.utils.translation import gettext

from schedviz.store.past import Readable
from schedviz.web.commands.line import Proposals
from schedviz.web.forms import FORMS
from schedviz.web.forms.notation import EFFECTS
from schedviz.web.nodes.filter_query import IS
from schedviz.web.text import format as fmt
from simulator.apiserver.resources import NODES

CYCLES_AT_MOST: Final = 12
SCALABLE: Final = ("deployment", "replicaset", "statefulset")


def fixed(*texts: str) -> Proposals:
    return lambda _, __: [(each, "") for each in texts]


def field(kind: str, name: str) -> Proposals | None:
    """Propose the choices of a form's field; None for a field without choices."""
    if not isinstance(FORMS[kind].base_fields[name], forms.ChoiceField):
        return None

    def choices(source: Readable, _: list[str]) -> Iterator[tuple[str, str]]:
        form = FORMS[kind]
        widget = form(source, form.start(source)).fields[name].widget
        assert isinstance(widget, forms.Select)
        for value, label in widget.choices:
            if value:
                yield str(value), str(label).removeprefix(f"{value}: ").removeprefix(str(value))

    return choices


def taints(source: Readable, before: list[str]) -> Iterator[tuple[str, str]]:
    """Propose to remove each taint of the node, and to add one with each effect."""
    node = source.get(NODES.id, before[0]) if before else None
    for each in ((node or {}).get("spec") or {}).get("taints") or ():
        value = f"={each['value']}" if each.get("value") else ""
        yield f"{each['key']}{value}:{each['effect']}-", gettext("remove")
    for effect in EFFECTS:
        yield f"key=value:{effect}", ""


def scalable(_: Readable, __: list[str]) -> list[tuple[str, str]]:
    return [(each, "") for each in SCALABLE]


def cycles(source: Readable, _: list[str]) -> Iterator[tuple[str, str]]:
    """Propose the latest scheduling cycles."""
    last = source.last_decision()
    for number in range(last.cycle, max(0, last.cycle - CYCLES_AT_MOST), -1) if last else ():
        if decision := source.decision(number):
            yield str(number), fmt.pod_name(decision.pod)


def states(_: Readable, __: list[str]) -> list[tuple[str, str]]:
    return [(f"is:{each}", "") for each in IS]


def languages(_: Readable, __: list[str]) -> list[tuple[str, str]]:
    return [(code, str(name)) for code, name in settings.LANGUAGES]
