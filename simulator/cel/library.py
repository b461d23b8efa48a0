"""All functions that Kubernetes adds to CEL's standard library, by name."""

from collections.abc import Mapping
from itertools import groupby
from typing import Final

from simulator.cel import (
    authorizers,
    formats,
    formatting,
    lists,
    networks,
    quantities,
    regexes,
    semvers,
    standard,
    strings,
    urls,
)
from simulator.cel.functions import Function

_ALL: Final = (
    *standard.FUNCTIONS,
    *strings.FUNCTIONS,
    *lists.FUNCTIONS,
    *regexes.FUNCTIONS,
    *quantities.FUNCTIONS,
    *semvers.FUNCTIONS,
    *networks.FUNCTIONS,
    *urls.FUNCTIONS,
    *formats.FUNCTIONS,
    *formatting.FUNCTIONS,
    *authorizers.FUNCTIONS,
)
LIBRARY: Final[Mapping[str, tuple[Function, ...]]] = {
    name: tuple(found)
    for name, found in groupby(sorted(_ALL, key=lambda each: each.name), key=lambda each: each.name)
}
