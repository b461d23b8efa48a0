"""A panel finds the events of each pod or node to which a line of the log links."""

import re
from typing import Any, get_args

import msgspec
import pytest

from schedviz.store.mentions import mentions
from schedviz.web.log.sentences import EventSentences, linked_names
from simulator.trace import AnyEvent, Event
from simulator.trace.verdicts import JudgedState

LINK = re.compile(r'href="/s/a/(pods|nodes)/([^"]+?)/"')


def sample(kind: type[Event], resource: str) -> Event:
    """An event of that kind whose names are all different."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        match field.name:
            case "resource":
                values[field.name] = resource
            case "pod" | "preemptor" | "key" | "group":
                values[field.name] = f"default/{field.name}"
            case "victims" | "keys":
                values[field.name] = [f"default/{field.name}-{number}" for number in range(5)]
            case "change":
                values[field.name] = "added"
            case "phase":
                values[field.name] = "Failed"
            case "source" | "target":
                values[field.name] = "activeQ" if field.name == "source" else "backoffQ"
            case "reasons" | "bound":
                values[field.name] = {}
            case "members" | "scores" | "units" | "candidates" if field.type is not int:
                values[field.name] = []
            case "verdict":
                values[field.name] = get_args(field.type)[0]
            case "state":
                values[field.name] = JudgedState(1, 2)
            case _ if field.type == list[str]:
                values[field.name] = [f"{field.name}-{number}" for number in range(2)]
            case _:
                values[field.name] = f"a-{field.name}" if field.type is str else 1
    return kind(**values)


@pytest.mark.parametrize("kind", get_args(AnyEvent))
@pytest.mark.parametrize("resource", ["pods", "nodes"])
def test_the_objects_that_a_line_links_to_are_found(kind: type[Event], resource: str) -> None:
    event = sample(kind, resource)
    line = EventSentences("/s/a/").line(1, event)
    linked = {(where, name) for where, name in LINK.findall(line.html if line else "")}
    pods, nodes = mentions(event)
    assert linked <= {("pods", name) for name in pods} | {("nodes", name) for name in nodes}
    if line is not None:
        pods, nodes = linked_names(event)
        assert linked == {("pods", name) for name in pods} | {("nodes", name) for name in nodes}
