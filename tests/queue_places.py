"""Queue places of a leader and of the one that continues its queue, for comparisons."""

from collections.abc import Mapping

from msgspec.structs import replace

from simulator.trace import IN_FLIGHT, QueuePlace


def standing(places: Mapping[str, QueuePlace]) -> dict[str, QueuePlace]:
    """The places without their order of arrival, and with attempts that were under way as not begun."""
    return {
        pod: replace(
            place,
            lane="activeQ" if place.lane in IN_FLIGHT else place.lane,
            attempts=place.attempts - (place.lane in IN_FLIGHT),
            since=0 if place.lane in (*IN_FLIGHT, "activeQ") else place.since,
            wait_until=None,
            sequence=0,
        )
        for pod, place in places.items()
    }
