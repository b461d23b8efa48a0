"""The negotiation of the media type and the form of a response by the Accept header.

Upstream: the library goautoneg, and apiserver/pkg/endpoints/handlers/negotiation/negotiate.go.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from simulator.apiserver import protobuf

PROTOBUF: Final = protobuf.MEDIA_TYPE
JSON: Final = "application/json"
YAML: Final = "application/yaml"
OFFERED: Final = (JSON, YAML, PROTOBUF)
"""The media types of an API server's responses."""
MEDIA_TYPES: Final = ", ".join(OFFERED)
NOT_ACCEPTED: Final = f"only the following media types are accepted: {MEDIA_TYPES}"
STREAMED: Final = (JSON, PROTOBUF)
"""The media types of a watch."""
_SERVER_VERSION: Final = "v1"
"""The version of the kinds in meta.k8s.io, to which the parameter ``sv`` refers."""


class Conversion(NamedTuple):
    """The kind to which an object is converted before it is sent: the parameters ``g``, ``v`` and ``as``."""

    group: str
    version: str
    kind: str


class Accepted(NamedTuple):
    """The media type and the conversion for a response, as a header accepts them."""

    media_type: str
    conversion: Conversion | None


class Clause(msgspec.Struct, frozen=True):
    """One of the media types of an Accept header."""

    media_type: str
    """``*/*`` for ``*``."""
    parameters: dict[str, str]
    quality: float

    def goes_before(self, other: "Clause") -> bool:
        """Whether it comes first although the header has it later (acceptSlice.Less)."""
        if self.quality > other.quality:
            return True
        (mine, my_form), (others, other_form) = (each.media_type.split("/") for each in (self, other))
        return (mine != "*" and others == "*") or (my_form != "*" and other_form == "*")

    def takes(self, media_type: str) -> bool:
        family = media_type.partition("/")[0]
        return self.media_type in (media_type, f"{family}/*", "*/*")

    @property
    def conversion(self) -> Conversion | None:
        given = [self.parameters.get(name) for name in ("g", "v", "as")]
        if all(each is None for each in given):
            return None
        return Conversion(*(each or "" for each in given))


Allows = Callable[[str, Conversion | None], bool]
"""Whether an address can answer in a media type with a conversion, or with none."""


def negotiate(accept: str, allows: Allows, *, server_version: str = _SERVER_VERSION) -> Accepted | None:
    """Return what is sent: JSON if there is no header; None if the server has nothing that it accepts."""
    if not accept:
        return Accepted(JSON, None)
    for clause in clauses_of(accept):
        for media_type in OFFERED:
            if clause.takes(media_type) and _is_served(clause, media_type, server_version):
                conversion = clause.conversion
                if allows(media_type, conversion):
                    return Accepted(media_type, conversion)
    return None


def _is_served(clause: Clause, media_type: str, server_version: str) -> bool:
    stream, version = clause.parameters.get("stream", ""), clause.parameters.get("sv", "")
    is_streamed = not stream or (stream == "watch" and media_type in STREAMED)
    return is_streamed and (not version or version == server_version)


def allows_no_conversion(media_type: str, conversion: Conversion | None) -> bool:
    """DefaultEndpointRestrictions: of a Status, and of discovery."""
    return conversion is None


def clauses_of(accept: str) -> list[Clause]:
    """Return the clauses of an Accept header in the order in which they are tried."""
    found: list[Clause] = []
    for text in accept.split(","):
        clause = _clause(text.strip())
        if clause is not None:
            # Upstream's order is none of numbers: a later clause moves forward past each that it goes before.
            place = len(found)
            while place and clause.goes_before(found[place - 1]):
                place -= 1
            found.insert(place, clause)
    return found


def _clause(text: str) -> Clause | None:
    """None: it is no media type."""
    media_type, *parameters = (part.strip() for part in text.split(";"))
    if media_type == "*":
        media_type = "*/*"
    if media_type.count("/") != 1 or media_type.endswith("/"):
        return None
    given = {}
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if not value or "=" in value:
            continue
        if name.strip() == "q":
            quality = _number(value)
        else:
            given[name.strip()] = value.strip()
    return Clause("/".join(part.strip() for part in media_type.split("/")), given, quality)


def _number(text: str) -> float:
    """Parse a number as Go's ParseFloat; 0 for what is none."""
    try:
        return float(text)
    except ValueError:
        return 0.0
