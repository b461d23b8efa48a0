"""The Events of an object, as kubectl describe and kubectl get events print them."""

from collections.abc import Iterable

from schedviz.store.past import Readable
from schedviz.web.kubectl.describe.writer import Writer
from schedviz.web.kubectl.tables import cells, columns
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver import resources
from simulator.apiserver.printers.column import UNKNOWN, human_duration
from simulator.objects.events import EVENTS, parse_event_time
from simulator.objects.metadata import key_of, namespace_of


def events_naming(sandbox: Readable, name: str) -> list[Manifest]:
    """Return the Events about objects with this name, in the order of the server's list."""
    found = sandbox.speaking_of(EVENTS, name)
    return sorted((event for event in found if event["involvedObject"].get("name") == name), key=key_of)


def events_about(naming: Iterable[Manifest], involved: Manifest) -> list[Manifest]:
    """Return those among the Events whose involvedObject has these fields."""
    return [
        event
        for event in naming
        if all(event["involvedObject"].get(field, "") == value for field, value in involved.items())
    ]


def write_events(to: Writer, found: Iterable[Manifest], now: Micros) -> None:
    """Write the table of Events (DescribeEvents). It is sorted by ``lastTimestamp`` only, which the events of
    the scheduler do not have."""
    ordered = sorted(found, key=lambda event: parse_event_time(event.get("lastTimestamp") or ""))
    if not ordered:
        to.line(0, "Events:\t<none>")
        return
    to.line(0, "Events:")
    to.line(1, "Type\tReason\tAge\tFrom\tMessage")
    to.line(1, "----\t------\t----\t----\t-------")
    for event in ordered:
        source = (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
        kind, reason, message = (event.get(field) or "" for field in ("type", "reason", "message"))
        to.line(1, f"{kind}\t{reason}\t{_interval(event, now)}\t{source}\t{message.strip()}")


def _interval(event: Manifest, now: Micros) -> str:
    first = _since(event.get("eventTime") or event.get("firstTimestamp"), now)
    series, count = event.get("series"), event.get("count") or 0
    if series:
        return f"{_since(series.get('lastObservedTime'), now)} (x{series.get('count') or 0} over {first})"
    return f"{_since(event.get('lastTimestamp'), now)} (x{count} over {first})" if count > 1 else first


def _since(stamp: str | None, now: Micros) -> str:
    return human_duration((now - parse_event_time(stamp)) // SECOND) if stamp else UNKNOWN


def get_events(sandbox: Readable, namespace: str, naming: Iterable[Manifest]) -> str:
    """Return the output of ``kubectl get events`` for the objects with one name in a namespace."""
    found = [event for event in naming if namespace_of(event) == namespace]
    if not found:
        return f"No resources found in {namespace} namespace."
    return "\n".join(columns(cells(sandbox, resources.EVENTS, found, wide=False, everywhere=False)))
